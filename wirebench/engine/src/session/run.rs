//! A whole run, from its specification to its record.
//!
//! For a self-test: the CPU time that the candidate must burn in each request to be slower by a given share, measured for each series.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::git;
use crate::measure::cores::Cores;
use crate::measure::host;
use crate::measure::interrupt::Interrupt;
use crate::measure::kill_on_exit::TemporaryFolder;
use crate::measure::lock;
use crate::measure::remote::{self, Address, Host};
use crate::measure::side::Side;
use crate::measure::staging;
use crate::session::checkout::{self, CheckedOutSide, VariantPlan};
use crate::session::prepare::Prepared;
use crate::session::recorder::{self, Recorded, Recorder, started_run};
use crate::session::stage::{
    Ending, SecondStage, StageTime, StagedRun as _, measure_stage, measure_stages, screen_stage,
};
use crate::session::warm_up::Limits;
use crate::session::{Session, Setup, counting, prepare};
use wirebench_declare::Project;
use wirebench_declare::percent::Percent;
use wirebench_declare::plan::{PlannedSeries, Selection};
use wirebench_declare::project::Profile;
use wirebench_declare::span::nanos;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Dependency, HostRole, Pinning, RemoteHost, Run, Stage, Variant};
use wirebench_stats::quantile::median;

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Purpose {
    /// To measure, and to compare when there is a baseline.
    Measure,
    /// To record rounds of equal code, or of a candidate that wastes this share of its CPU time per request.
    SelfTest(Percent),
}

/// The part of a run that one of several machines measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// The ids of its series.
    pub series: &'a BTreeSet<String>,
    /// Whether it also records the series that only the baseline declares, which are in no part: one shard does.
    pub records_removed: bool,
}

/// What a run measures, and how.
pub struct RunSpec<'a> {
    /// The project, whose folder is the candidate unless `sides` says otherwise.
    pub project: &'a Project,
    /// The sides: one candidate, and baseline and reference if there are any.
    pub sides: &'a [SideRequest],
    /// The profile and its name.
    pub profile: (&'a str, &'a Profile),
    /// Which series of the profile are measured; also applied to the baseline's declarations.
    pub selection: &'a Selection,
    /// The candidate's series.
    pub series: Vec<PlannedSeries<'a>>,
    /// Only counted series (true), or only timed ones (false); `None` for both.
    pub counted: Option<bool>,
    /// The part of the run that this machine measures; `None` for all of it.
    pub part: Option<Part<'a>>,
    /// Rounds of each series and variant in the first stage.
    pub rounds: u32,
    /// Seed of the order of rounds.
    pub seed: u64,
    /// The cores of server and driver.
    pub cores: Cores,
    /// The host on which the servers run; `None` for this machine. Series that do not [`fit`](crate::measure::remote::fits) are left out.
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
    /// Whether to wait until no other measurement runs on this machine; see [`crate::measure::lock`].
    pub lock: bool,
    /// Wall time for rounds of load where two variants are compared.
    pub budget: Duration,
    /// Plans the second stage.
    pub second_stage: SecondStage<'a>,
    /// The series, by index, whose functions are sampled after the last stage, and for what; see [`Session::sample`].
    pub sampled: &'a dyn Fn(&Run) -> Vec<(usize, Metric)>,
}

/// A requested side, which is not checked out or built yet.
#[derive(Debug)]
pub struct SideRequest {
    /// Which variant.
    pub variant: Variant,
    /// What the user wrote; empty for the project's folder.
    pub words: Vec<String>,
    /// Where its code is.
    pub source: CodeSource,
}

/// Where the code of a side is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeSource {
    /// The project's folder as it is.
    Project,
    /// Another folder that holds a project.
    Folder(PathBuf),
    /// A commit of the project's repository, 40 hex digits.
    Revision(String),
    /// Programs by server name; other servers are the project's own.
    Commands(BTreeMap<String, Vec<String>>),
}

impl SideRequest {
    /// The flags that select the same code again, later and from the project's folder.
    pub fn as_flags(&self) -> Vec<String> {
        let flag = format!("--{}", self.variant.name());
        let values = match &self.source {
            CodeSource::Project if self.words.is_empty() => Vec::new(),
            CodeSource::Project => vec![".".to_owned()],
            CodeSource::Folder(folder) => vec![folder.to_string_lossy().into_owned()],
            CodeSource::Revision(commit) => vec![commit[..12].to_owned()],
            CodeSource::Commands(commands) => commands
                .iter()
                .map(|(server, command)| format!("{server}={}", shell_words::join(command)))
                .collect(),
        };
        values.into_iter().flat_map(|value| [flag.clone(), value]).collect()
    }
}

/// The candidate declares none of the chosen series.
#[derive(Debug, thiserror::Error)]
#[error("nothing to measure: the candidate declares none of the chosen series")]
pub struct NothingToMeasure;

/// Measures a run and writes its record into the run's folder. A series that fails is no error: it is in the record.
///
/// # Errors
/// [`NothingToMeasure`]; when git cannot check out a revision, jq is missing, or the folder cannot be written.
pub fn measure(spec: &RunSpec) -> anyhow::Result<Recorded> {
    let project = spec.project;
    let (jq, jq_version) = prepare::jq(project)?;
    let interrupt = Interrupt::watch()?;
    // Before anything that takes time: waiting for the lock, building, counting.
    let wanted: Vec<PlannedSeries> = spec.series.iter().filter(|one| is_chosen(spec, one)).cloned().collect();
    let mut prepared = prepare::prepare(project, &wanted, spec.cores.clone(), interrupt.clone())?;
    prepared.check_drivers(&wanted)?;
    let lock = locked(spec.lock, &interrupt)?;
    let connect = |address: Option<&Address>, role| {
        let host = address.map(|address| Host::open(address, role, &interrupt));
        host.transpose()
    };
    let server_host = connect(spec.server_host, HostRole::Server)?;
    let driver_host = connect(spec.driver_host, HostRole::Driver)?;
    let mut checked_out = checkout::all(spec.sides, project, &interrupt)?;
    let accepted = checkout::newly_accepted(&checked_out, project.within())?;
    let (series, mut plan) = planned(spec, &checked_out)?;
    let (id, folder) = recorder::new_folder(&std::path::absolute(spec.out)?, spec.seed)?;
    let building = Instant::now();
    prepared.harness.host = server_host;
    prepared.harness.driver_host = driver_host;
    checkout::build(&mut checked_out, &series, &interrupt);
    plan.without_lacking(&series, &checked_out);
    let has_baseline = spec.sides.iter().any(|side| side.variant == Variant::Baseline);
    let compares = has_baseline && spec.purpose == Purpose::Measure;
    if compares {
        plan.compare(&series, &checked_out, spec.measure_identical);
    }
    let build_ns = nanos(building.elapsed());
    prepared.tools.push(jq_version);
    let gnuplot = prepare::gnuplot(&project.root);
    prepared.tools.extend(gnuplot.map(|(_, version)| version));
    let (sides, _staging) = staged(project, &checked_out, compares)?;
    let dependencies = checkout::different_dependencies(&checked_out);
    let mut run = record(spec, id, &prepared, &sides, dependencies, lock.is_none());
    run.spent.build_ns = build_ns;
    run.accepted = accepted;
    let mut recorder = Recorder::begin(run, folder, &plan);
    let setup = Setup {
        prepared: &prepared,
        jq: &jq,
        series: &series,
        sides: &sides,
        keep_raw: spec.keep_raw,
    };
    let slowed_down = match spec.purpose {
        Purpose::SelfTest(worse) => Some(slowed_down(&setup, &mut recorder, worse)?),
        Purpose::Measure => None,
    };
    let setup = Setup {
        sides: slowed_down.as_deref().unwrap_or(&sides),
        ..setup
    };
    recorder::save(&recorder.run, &recorder.folder)?;
    counting::count(&setup, &mut recorder, &project.config.count)?;
    let loaded = series.iter().zip(&recorder.variants);
    let loaded = loaded.filter(|(one, variants)| !one.load.is_counted() && !variants.is_empty());
    let screen = screen_stage(loaded.map(|(one, _)| one.id.clone()).collect(), spec.rounds);
    load(spec, setup, recorder, &screen, compares)
}

/// The record of the run, without series.
fn record(
    spec: &RunSpec,
    id: String,
    prepared: &Prepared,
    sides: &[Side],
    dependencies: Vec<Dependency>,
    unlocked: bool,
) -> Run {
    let harness = &prepared.harness;
    let hosts = [&harness.host, &harness.driver_host].into_iter().flatten();
    let hosts: Vec<RemoteHost> = hosts.map(Host::recorded).collect();
    let host = host::with_others(host::describe(harness.cores.available), &hosts);
    Run {
        repeat: spec.repeat.clone(),
        hosts,
        pinning: Pinning {
            server_cores: harness.cores.server.clone(),
            driver_cores: harness.cores.driver.clone(),
            unlocked,
        },
        tools: prepared.tools.clone(),
        variants: sides.iter().map(|side| side.revision.clone()).collect(),
        dependencies,
        ..started_run(id, spec.profile.0, spec.seed, spec.rounds, host)
    }
}

/// The machine's lock; `None` if the run goes on without it.
///
/// # Errors
/// When the user interrupts the wait.
fn locked(wanted: bool, interrupt: &Interrupt) -> anyhow::Result<Option<File>> {
    if !wanted {
        return Ok(None);
    }
    let file = lock::file();
    match lock::acquire(&file, interrupt) {
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

/// Whether a series is needed for the run's purpose and was chosen.
fn includes(spec: &RunSpec, counted: bool) -> bool {
    let is_self_test = matches!(spec.purpose, Purpose::SelfTest(_));
    !(counted && is_self_test) && spec.counted.is_none_or(|only| only == counted)
}

/// Whether a series of the candidate is in this machine's part of the run, needed and chosen.
fn is_chosen(spec: &RunSpec, series: &PlannedSeries) -> bool {
    let is_in_part = spec.part.is_none_or(|part| part.series.contains(&series.id));
    is_in_part && includes(spec, series.load.is_counted())
}

/// The series to measure, and the variants of each.
fn planned<'a>(spec: &RunSpec<'a>, sides: &[CheckedOutSide]) -> anyhow::Result<(Vec<PlannedSeries<'a>>, VariantPlan)> {
    let has_hosts = spec.server_host.is_some() || spec.driver_host.is_some();
    let mut series = spec.series.clone();
    let mut plan = checkout::plan_variants(sides, &series, spec.profile.1, spec.selection)?;
    let unfit = series.iter().filter(|one| has_hosts && !remote::fits(one));
    let unfit: BTreeSet<String> = unfit.map(|one| one.id.clone()).collect();
    let fits = |id: &str, counted| !(unfit.contains(id) || counted && has_hosts);
    let is_wanted = |id: &str, counted| fits(id, counted) && includes(spec, counted);
    plan.narrow(
        &mut series,
        |one| is_chosen(spec, one) && fits(&one.id, one.load.is_counted()),
        |one| spec.part.is_none_or(|part| part.records_removed) && is_wanted(&one.id, one.is_counted()),
    );
    // A shard may be empty.
    if spec.part.is_none() && plan.entries.iter().all(|entry| entry.variants.is_empty()) {
        return Err(NothingToMeasure.into());
    }
    Ok((series, plan))
}

/// Loads the servers in one stage, or in two where variants are compared.
fn load<'a>(
    spec: &RunSpec,
    setup: Setup<'a>,
    recorder: Recorder,
    screen: &Stage,
    compares: bool,
) -> anyhow::Result<Recorded> {
    let mut session = Session::new(setup, recorder);
    if compares {
        session.limits = Limits::within(spec.budget, screen.series.len());
    }
    if !screen.series.is_empty()
        && measure_stages(&mut session, screen, compares.then_some(spec.budget), spec.second_stage)?
            != Ending::Interrupted
        && compares
    {
        let wanted = (spec.sampled)(session.run());
        session.sample(&wanted);
    }
    session.finish()
}

/// The sides with their programs staged; the staged files are removed when the second value is dropped.
fn staged(
    project: &Project,
    checked_out: &[CheckedOutSide],
    compares: bool,
) -> anyhow::Result<(Vec<Side>, TemporaryFolder)> {
    let mut sides = checkout::measured_sides(checked_out, compares);
    let folder = git::work_path(&project.root, "")?;
    let staging = staging::folder(&folder).context("no place for the servers' programs")?;
    staging::stage(staging.path(), &mut sides).map_err(|(file, error)| {
        anyhow::anyhow!(
            "{}: cannot be copied to where it is started from: {error}",
            file.display()
        )
    })?;
    Ok((sides, staging))
}

/// The rounds that measure the CPU time per request.
const CALIBRATION_ROUNDS: u32 = 5;

/// CPU time to burn in each request, ns, by series id; empty if the code is equal. The rounds measured for it are not recorded.
fn burns(setup: &Setup, recorder: &Recorder, worse: Percent) -> anyhow::Result<BTreeMap<String, u64>> {
    if worse.share() <= 0.0 {
        return Ok(BTreeMap::new());
    }
    log::info!("measuring what a request costs, to slow the candidate down by {worse}");
    let folder = TemporaryFolder::make("wirebench-")?;
    let mut alone = recorder.in_folder(folder.path());
    for variants in &mut alone.variants {
        variants.retain(|variant| *variant == Variant::Candidate);
    }
    let mut session = Session::new(*setup, alone);
    let stage = Stage {
        number: 1,
        rounds: CALIBRATION_ROUNDS,
        series: setup.series.iter().map(|series| series.id.clone()).collect(),
        why: "what a request costs".into(),
    };
    measure_stage(&mut session, &stage, StageTime::first(None), None)?;
    let measured = session.finish()?;
    let burn = |values: Vec<f64>| median(&values).map(|ns| nanos(Duration::from_secs_f64(ns * worse.share() / 1e9)));
    Ok((measured.run.series.iter())
        .filter_map(|series| {
            let values = series
                .rounds
                .iter()
                .filter_map(|round| Metric::ServerCpu.comparable(round));
            Some((series.id.clone(), burn(values.collect())?))
        })
        .collect())
}

/// For a self-test: the sides with a candidate that burns CPU time in each request; the record contains the amount.
fn slowed_down(setup: &Setup, recorder: &mut Recorder, worse: Percent) -> anyhow::Result<Vec<Side>> {
    recorder.run.trigger = "selftest".into();
    let mut sides = setup.sides.to_vec();
    for (id, ns) in burns(setup, recorder, worse)? {
        log::info!("{id}: the candidate burns {ns} ns in each request");
        for side in (sides.iter_mut()).filter(|side| side.revision.variant == Variant::Candidate) {
            let flag = vec!["--burn-ns".to_owned(), ns.to_string()];
            side.extra_args.insert(id.clone(), flag);
        }
        for series in recorder.run.series.iter_mut().filter(|series| series.id == id) {
            series.injected_burn_ns = Some(ns);
        }
    }
    Ok(sides)
}
