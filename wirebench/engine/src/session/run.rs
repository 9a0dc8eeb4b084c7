//! A whole run, from its order to its record.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use wirebench_declare::Project;
use wirebench_declare::percent::Percent;
use wirebench_declare::plan::rerun::FEWEST_PAIRS;
use wirebench_declare::plan::{PlannedSeries, Selection};
use wirebench_declare::project::Profile;
use wirebench_declare::span::nanos;
use wirebench_record::run::{self, HostRole, Run, Variant};

use crate::git;
use crate::measure::cores::Cores;
use crate::measure::interrupt::Interrupt;
use crate::measure::lock::{self, Lock};
use crate::measure::remote::{self, Address, Host};
use crate::measure::side::Side;
use crate::measure::stage::Stage;
use crate::session::lineup::{self, Lineup};
use crate::session::opened::{self, Opened};
use crate::session::recorder::{self, Opening, Recorder};
use crate::session::time::StageTime;
use crate::session::{Asked, Ending, Session, Setup, calibrate, counting, prepare};

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Purpose {
    /// To measure, and to compare when there is a baseline.
    Measure,
    /// To record rounds of equal code, or of a candidate that wastes this share of its CPU time per request.
    SelfTest(Percent),
}

impl Purpose {
    /// True if a series is needed for the purpose: a self-test needs timed series only.
    const fn wants(self, counted: bool) -> bool {
        !(counted && matches!(self, Self::SelfTest(_)))
    }
}

/// The part of a run that one machine measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// All of it.
    Whole,
    /// One of several shards.
    Shard {
        /// The ids of its series.
        series: &'a BTreeSet<String>,
        /// Whether it also records the series that only the baseline declares, which are in no plan: one shard does.
        records_removed: bool,
    },
}

impl Part<'_> {
    fn has(self, id: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::Shard { series, .. } => series.contains(id),
        }
    }

    const fn records_removed(self) -> bool {
        match self {
            Self::Whole => true,
            Self::Shard { records_removed, .. } => records_removed,
        }
    }
}

/// The order for a run: what is measured, and how.
pub struct Order<'a> {
    /// The project, whose folder is the candidate unless `asked` says otherwise.
    pub project: &'a Project,
    /// The sides: one candidate, and baseline and reference if there are any.
    pub asked: &'a [Asked],
    /// The profile and its name.
    pub profile: (&'a str, &'a Profile),
    /// Which series of the profile are measured; also applied to the baseline's declarations.
    pub selection: &'a Selection,
    /// The candidate's series.
    pub series: Vec<PlannedSeries<'a>>,
    /// Whether a series, by id and by whether it is counted, is measured.
    pub keeps: &'a dyn Fn(&str, bool) -> bool,
    /// The part of the run that this machine measures.
    pub part: Part<'a>,
    /// Rounds of each series and variant in the first stage.
    pub rounds: u32,
    /// Seed of the order of rounds.
    pub seed: u64,
    /// The cores of server and driver.
    pub cores: Cores,
    /// The host on which the servers run; `None` for this machine. Series that do not [`fit`](remote::fits) are left out.
    pub server_host: Option<&'a Address>,
    /// The host on which the load generators run; `None` for this machine. The same series are left out.
    pub driver_host: Option<&'a Address>,
    /// What the run is for.
    pub purpose: Purpose,
    /// The folder that takes the run's folder.
    pub out: &'a Path,
    /// The command that repeats the run.
    pub repeat: String,
    /// Whether raw output of good rounds is kept too.
    pub keep_raw: bool,
    /// Whether servers that are the same program on both sides are measured too.
    pub measure_identical: bool,
    /// Whether to wait until no other measurement runs on this machine; see [`lock`].
    pub lock: bool,
    /// Wall time for rounds of load where two variants are compared.
    pub budget: Duration,
    /// Chooses the second stage, from the run and the time left after the first one; `None` if no series needs one.
    pub second_stage: &'a dyn Fn(&Run, Duration) -> Option<run::Stage>,
}

/// A finished run: its record, and the folder that it is in.
#[derive(Debug)]
pub struct Recorded {
    /// The record, as run.json has it.
    pub run: Run,
    /// The run's folder.
    pub folder: std::path::PathBuf,
}

/// The candidate declares none of the chosen series.
#[derive(Debug, thiserror::Error)]
#[error("nothing to measure: the candidate declares none of the chosen series")]
pub struct NothingToMeasure;

/// Measures a run and writes its record into the run's folder. A series that fails is no error: it is in the record.
///
/// # Errors
/// [`NothingToMeasure`]; when git cannot check out a revision, jq is missing, or the folder cannot be written.
pub fn measure(order: &Order) -> anyhow::Result<Recorded> {
    let project = order.project;
    let (jq, jq_version) = prepare::jq(project)?;
    let interrupt = Interrupt::watch()?;
    let lock = locked(order.lock, &interrupt)?;
    let host = |address: Option<&Address>, role| {
        let opened = address.map(|address| Host::open(address, role, &interrupt));
        opened.transpose()
    };
    let server_host = host(order.server_host, HostRole::Server)?;
    let driver_host = host(order.driver_host, HostRole::Driver)?;
    let mut opened = opened::open(order.asked, project)?;
    let accepted = opened::newly_accepted(&opened)?;
    let (series, mut lineup) = lined_up(order, &opened)?;
    let (id, folder) = recorder::new_folder(&std::path::absolute(order.out)?, order.seed)?;
    let building = Instant::now();
    let mut prepared = prepare::prepare(project, &series, order.cores.clone(), interrupt.clone())?;
    prepared.bench.host = server_host;
    prepared.bench.driver_host = driver_host;
    opened::build(&mut opened, &series, &interrupt);
    let has_baseline = order.asked.iter().any(|side| side.variant == Variant::Baseline);
    let compares = has_baseline && order.purpose == Purpose::Measure;
    if compares {
        lineup.compare(&series, &opened, order.measure_identical);
    }
    let build_ns = nanos(building.elapsed());
    prepared.tools.push(jq_version);
    prepared
        .tools
        .extend(prepare::gnuplot(&project.root).map(|(_, version)| version));
    let (sides, _places) = placed(project, &opened, compares)?;
    let opening = Opening {
        profile: order.profile.0,
        rounds: order.rounds,
        seed: order.seed,
        repeat: order.repeat.clone(),
        cores: &prepared.bench.cores,
        unlocked: lock.is_none(),
        tools: prepared.tools.clone(),
        revisions: sides.iter().map(|side| side.revision.clone()).collect(),
        dependencies: opened::different_dependencies(&opened),
        hosts: [&prepared.bench.host, &prepared.bench.driver_host]
            .into_iter()
            .flatten()
            .map(Host::recorded)
            .collect(),
    };
    let mut recorder = Recorder::begin(id, folder, opening, &series, &lineup);
    recorder.run.spent.build_ns = build_ns;
    recorder.run.accepted = accepted;
    let setup = Setup {
        prepared: &prepared,
        jq: &jq,
        series: &series,
        entries: &lineup.entries,
        sides: &sides,
        keep_raw: order.keep_raw,
    };
    let slowed;
    let setup = if let Purpose::SelfTest(worse) = order.purpose {
        recorder.run.trigger = "selftest".into();
        let burns = calibrate::burns(&setup, &recorder, worse)?;
        slowed = calibrate::slowed_down(&sides, &mut recorder, &burns);
        Setup {
            sides: &slowed,
            ..setup
        }
    } else {
        setup
    };
    recorder.save()?;
    counting::count(&setup, &mut recorder, &project.config.count)?;
    let recorder = load(
        order,
        setup,
        recorder,
        &screen(&series, &lineup, order.rounds),
        compares,
    )?;
    Ok(Recorded {
        run: recorder.run,
        folder: recorder.folder,
    })
}

/// The machine's lock; `None` if the run goes on without it.
///
/// # Errors
/// When the user interrupts the wait.
pub fn locked(wanted: bool, interrupt: &Interrupt) -> anyhow::Result<Option<Lock>> {
    if !wanted {
        return Ok(None);
    }
    let file = lock::file();
    match lock::hold(&file, interrupt) {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => anyhow::bail!("interrupted while another measurement held {}", file.display()),
        Err(error) => {
            log::warn!(
                "measured without the machine's lock: {} cannot be locked: {error}; {} names another file",
                file.display(),
                lock::VARIABLE
            );
            Ok(None)
        }
    }
}

/// The series to measure, and the variants of each.
fn lined_up<'a>(order: &Order<'a>, opened: &[Opened]) -> anyhow::Result<(Vec<PlannedSeries<'a>>, Lineup)> {
    let elsewhere = order.server_host.is_some() || order.driver_host.is_some();
    let mut series = order.series.clone();
    let mut lineup = lineup::of(opened, &series, order.profile.1, order.selection)?;
    let unfit: BTreeSet<String> = series
        .iter()
        .filter(|one| elsewhere && !remote::fits(one))
        .map(|one| one.id.clone())
        .collect();
    let wanted = |id: &str, counted| {
        let is_left_out = unfit.contains(id) || counted && elsewhere;
        !is_left_out && order.purpose.wants(counted) && (order.keeps)(id, counted)
    };
    lineup.narrow(
        &mut series,
        |one| order.part.has(&one.id) && wanted(&one.id, one.load.is_counted()),
        |one| order.part.records_removed() && wanted(&one.id, one.is_counted()),
    );
    // A shard may be empty.
    if order.part == Part::Whole && lineup.entries.iter().all(|entry| entry.variants.is_empty()) {
        return Err(NothingToMeasure.into());
    }
    Ok((series, lineup))
}

/// Loads the servers in one stage, or in two where variants are compared.
fn load<'a>(
    order: &Order,
    setup: Setup<'a>,
    recorder: Recorder,
    screen: &run::Stage,
    compares: bool,
) -> anyhow::Result<Recorder> {
    let time = if compares {
        StageTime::first(order.budget)
    } else {
        StageTime::unlimited()
    };
    let mut session = Session::new(setup, recorder);
    if screen.series.is_empty() {
        return session.finish();
    }
    let ending = session.stage(screen, time)?;
    // Fewer first rounds than a verdict needs were requested: they are measured, and nothing is decided.
    let enough = order.rounds >= FEWEST_PAIRS;
    if let Some(deadline) = time.end.filter(|_| ending == Ending::Whole && enough) {
        let left = deadline.saturating_duration_since(Instant::now());
        if let Some(second) = (order.second_stage)(&session.recorder.run, left) {
            session.stage(&second, StageTime::last(deadline))?;
        }
    }
    session.finish()
}

/// The sides with their programs staged; the staged files are removed when the second value is dropped.
fn placed(project: &Project, opened: &[Opened], compares: bool) -> anyhow::Result<(Vec<Side>, Stage)> {
    let mut sides = opened::sides(opened, compares);
    let places = Stage::make(&git::own(&project.root, "")?).context("no place for the servers' programs")?;
    places.place(&mut sides).map_err(|(file, error)| {
        anyhow::anyhow!(
            "{}: cannot be copied to where it is started from: {error}",
            file.display()
        )
    })?;
    Ok((sides, places))
}

/// The first stage: everything that can be measured.
fn screen(series: &[PlannedSeries], lineup: &Lineup, rounds: u32) -> run::Stage {
    let measured = series.iter().zip(&lineup.entries);
    let ids: Vec<String> = measured
        .filter(|(one, entry)| !one.load.is_counted() && !entry.variants.is_empty())
        .map(|(one, _)| one.id.clone())
        .collect();
    run::Stage {
        number: 1,
        rounds,
        why: format!(
            "screen of every series ({}), {rounds} rounds of each variant",
            ids.len()
        ),
        series: ids,
    }
}
