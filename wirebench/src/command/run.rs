//! `wirebench run`: the main job.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::ValueEnum;

use crate::command::calibrate;
use crate::command::claims;
use crate::command::counting;
use crate::command::lineup::{self, Lineup};
use crate::command::only::Only;
use crate::command::opened::{self, Opened};
use crate::command::recorder::{self, Opening, Recorder};
use crate::command::selection::SelectionArgs;
use crate::command::session::{Ending, Session, Setup, StageTime};
use crate::command::shards::{Mine, ShardArgs};
use crate::command::sides::{Asked, SideArgs};
use crate::command::{Outcome, UsageError, git, prepare, report, results, verdict};
use crate::compare::{self, Rules, Time};
use crate::declare::Project;
use crate::declare::percent::Percent;
use crate::declare::span::{Span, nanos};
use crate::measure::cores::Cores;
use crate::measure::interrupt::Interrupt;
use crate::measure::side::Side;
use crate::measure::stage::Stage;
use crate::plan::{self, PlannedSeries};
use crate::record::comparison::Comparison;
use crate::record::run::{self, Run, RunStatus, Variant};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench run --profile quick
  wirebench run --baseline main --profile quick   the working tree beside a revision
  wirebench run --baseline v1 --candidate v2
  wirebench run --baseline http='./old-server --fast' --scenario 'weather-*'
  wirebench run --scenario weather-multiplexed --rounds 10 --seed 7
  wirebench run --server http --driver 'h*' --pin off --keep-raw")]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) sides: SideArgs,
    #[command(flatten)]
    pub(super) selection: SelectionArgs,
    #[command(flatten)]
    pub(super) shard: ShardArgs,
    /// Leave everything else out: `counts`, `timings`, or a public comparison by its letter or name, such as A.
    #[arg(long, value_name = "WHAT")]
    pub(super) only: Option<Only>,
    /// Rounds of each series and variant; without it, the profile's, or with a baseline `compare.rounds`, to which a second
    /// stage adds. With fewer than 8 there is no second stage, and no verdict.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) rounds: Option<u32>,
    /// With a baseline: wall time for rounds of load, such as 10m; without it, `compare.budget` of wirebench.toml.
    #[arg(long, value_name = "TIME")]
    pub(super) budget: Option<Span>,
    /// Seed of the order of rounds; without it, a new one, which the record keeps.
    #[arg(long)]
    pub(super) seed: Option<u32>,
    /// Whether server and driver get cores of their own.
    #[arg(long, value_enum, default_value_t = Pin::Auto)]
    pub(super) pin: Pin,
    /// The folder that takes the run's folder; without it, results/ in the project.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Keep every driver's raw output (hundreds of MB); without it, only that of rounds that are not good.
    #[arg(long)]
    pub(super) keep_raw: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Pin {
    /// A quarter of the cores for the server, the rest for the driver, where there are two or more.
    Auto,
    /// Server and driver share all cores.
    Off,
}

/// The share of the budget after which the first stage ends as soon as it has enough rounds for a verdict. The rest of the
/// budget is for the second stage, without which nothing can be confirmed.
const SCREEN_SHARE: f64 = 0.4;

impl Pin {
    fn cores(self) -> Cores {
        match self {
            Self::Auto => Cores::split(),
            Self::Off => Cores::shared(),
        }
    }
}

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Purpose {
    /// To measure, and to judge when there is a baseline.
    Measure,
    /// To record rounds of equal code, or of a candidate that burns this share of its CPU per request in vain.
    SelfTest(f64),
}

pub(super) fn execute(project: &Project, args: &Args) -> anyhow::Result<Outcome> {
    let (recorder, comparison) = judged(project, args)?;
    report::print(&recorder.run, &recorder.folder);
    claims::leave(project, &recorder.run, &recorder.folder)?;
    if let Some(comparison) = comparison {
        report::print_comparison(&comparison, &recorder.folder);
    }
    Ok(outcome(&recorder.run))
}

/// Measures, judges where there is a baseline, and leaves record, comparison and reports in the run's folder.
///
/// # Errors
/// When nothing can be measured, or the folder cannot be written.
pub(super) fn judged(project: &Project, args: &Args) -> anyhow::Result<(Recorder, Option<Comparison>)> {
    let recorder = measure(project, args, Purpose::Measure)?;
    let comparison = judge(project, &recorder.run, &recorder.folder)?;
    Ok((recorder, comparison))
}

/// Judges a run where there is a baseline, and leaves comparison and reports beside its record.
///
/// # Errors
/// When the folder cannot be written.
pub(super) fn judge(project: &Project, run: &Run, folder: &Path) -> anyhow::Result<Option<Comparison>> {
    report::write(&project.root, run, folder)?;
    if run.variants.iter().all(|one| one.variant != Variant::Baseline) {
        return Ok(None);
    }
    let judged = verdict::write(run, &Rules::from(&project.config), folder)?;
    report::write_comparison(&judged, folder)?;
    report::write_page(run, Some(&judged), folder)?;
    Ok(Some(judged))
}

/// How a command ends whose run ended so.
pub(super) fn outcome(run: &Run) -> Outcome {
    if run.status == RunStatus::Complete {
        Outcome::Done
    } else {
        Outcome::Failed
    }
}

/// Measures what the arguments ask for; the record is in its folder.
///
/// # Errors
/// When nothing can be measured; single series that fail are in the record.
pub(super) fn measure(project: &Project, args: &Args, purpose: Purpose) -> anyhow::Result<Recorder> {
    let asked = args.sides.asked(project, &std::env::current_dir()?)?;
    let has_baseline = asked.iter().any(|side| side.variant == Variant::Baseline);
    let (profile_name, profile) = if has_baseline {
        args.selection.profile_to_compare(project)?
    } else {
        args.selection.profile(project)?
    };
    let selection = args.selection.selection();
    let mut series = plan::series(project, profile, &selection)?;
    let mine = args.shard.mine(project, (profile_name, profile), &series)?;
    let by_default = if has_baseline {
        project.config.compare.rounds
    } else {
        profile.rounds
    };
    let rounds = args.rounds.unwrap_or(by_default);
    let seed = u64::from(args.seed.unwrap_or_else(new_seed));
    let cores = args.pin.cores();
    let (jq, jq_version) = prepare::jq(project)?;
    let interrupt = Interrupt::watch()?;
    let mut opened = opened::open(&asked, project)?;
    let accepted = opened::newly_accepted(&opened)?;
    let mut lineup = lineup::of(&opened, &series, profile, &selection)?;
    let only = args.only.as_ref();
    let chosen = only.map(|only| only.chosen(project, profile_name)).transpose()?;
    let chosen = |id: &str, counted| chosen.as_ref().is_none_or(|chosen| chosen.has(id, counted));
    let here = |id: &str| mine.as_ref().is_none_or(|mine| mine.has(id));
    let first = mine.as_ref().is_none_or(Mine::is_first);
    lineup.narrow(
        &mut series,
        |one| wanted(purpose, one.load.is_counted()) && chosen(&one.id, one.load.is_counted()) && here(&one.id),
        |one| wanted(purpose, one.is_counted()) && chosen(&one.id, one.is_counted()) && first,
    );
    if mine.is_none() && lineup.entries.iter().all(|entry| entry.variants.is_empty()) {
        let candidate = "nothing to measure: the candidate declares none of the chosen series";
        return Err(UsageError(candidate.into()).into());
    }

    let base = args.out.clone().unwrap_or_else(|| results(&project.root));
    let (id, folder) = recorder::new_folder(&std::path::absolute(base)?, seed)?;
    let building = Instant::now();
    let mut prepared = prepare::prepare(project, &series, cores, interrupt.clone())?;
    opened::build(&mut opened, &series, &interrupt);
    let compares = has_baseline && purpose == Purpose::Measure;
    if compares {
        lineup.compare(&series, &opened, args.sides.measure_identical);
    }
    let build_ns = nanos(building.elapsed());
    prepared.tools.push(jq_version);
    prepared
        .tools
        .extend(prepare::gnuplot(&project.root).map(|(_, version)| version));
    let (mut sides, _places) = placed(project, &opened, compares)?;
    let opening = Opening {
        profile: profile_name,
        rounds,
        seed,
        repeat: repeat(args, &asked, purpose, rounds, seed),
        cores: &prepared.bench.cores,
        tools: prepared.tools.clone(),
        revisions: sides.iter().map(|side| side.revision.clone()).collect(),
        dependencies: opened::different_dependencies(&opened),
    };
    let mut recorder = Recorder::begin(id, folder, opening, &series, &lineup);
    recorder.run.spent.build_ns = build_ns;
    recorder.run.accepted = accepted;
    let setup = Setup {
        prepared: &prepared,
        jq: &jq,
        series: &series,
        entries: &lineup.entries,
        sides: &[],
        keep_raw: args.keep_raw,
    };
    if let Purpose::SelfTest(worse) = purpose {
        recorder.run.trigger = "selftest".into();
        let burns = calibrate::burns(&setup, &sides, &recorder, worse)?;
        calibrate::slow_down(&mut sides, &mut recorder, &burns);
    }
    recorder.save()?;
    let rules = Rules::from(&project.config);
    let budget = args.budget.unwrap_or(rules.compare.budget).0;
    let setup = Setup { sides: &sides, ..setup };
    counting::count(&setup, &mut recorder, &project.config.count)?;
    let deadline = compares.then(|| Instant::now() + budget);
    let mut session = Session::new(setup, recorder);
    let screen = screen(&series, &lineup, rounds);
    if screen.series.is_empty() {
        return session.finish();
    }
    let time = StageTime {
        end: deadline,
        enough_after: compares.then(|| Instant::now() + budget.mul_f64(SCREEN_SHARE)),
    };
    let ending = session.stage(&screen, time)?;
    // Fewer first rounds than a verdict needs were asked for on purpose: they are measured, and nothing is decided.
    let enough = rounds as usize >= compare::FEWEST_PAIRS;
    if let Some(deadline) = deadline.filter(|_| ending == Ending::Whole && enough) {
        decide(&mut session, &rules, deadline)?;
    }
    session.finish()
}

/// The sides with their programs in the places they are started from, which are removed with the second value.
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

/// Whether a series, counted or timed, serves the purpose: a self-test is one of timings.
const fn wanted(purpose: Purpose, counted: bool) -> bool {
    !(counted && matches!(purpose, Purpose::SelfTest(_)))
}

/// The second stage: fresh rounds of what the first could not settle, as many as the time allows.
fn decide(session: &mut Session, rules: &Rules, deadline: Instant) -> anyhow::Result<()> {
    let run = &session.recorder.run;
    let time = Time {
        left: deadline.saturating_duration_since(Instant::now()),
        pair: compare::pair_costs(run),
    };
    let Some(second) = compare::second_stage(run, rules, &time) else {
        return Ok(());
    };
    let stage = run::Stage {
        number: 2,
        rounds: second.rounds,
        series: second.series.iter().map(|i| run.series[*i].id.clone()).collect(),
        why: second.why,
    };
    let time = StageTime {
        end: Some(deadline),
        ..StageTime::default()
    };
    session.stage(&stage, time)?;
    Ok(())
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

fn repeat(args: &Args, asked: &[Asked], purpose: Purpose, rounds: u32, seed: u64) -> String {
    let mut words = vec!["wirebench".to_owned()];
    match purpose {
        Purpose::Measure => {
            words.push("run".into());
            words.extend(asked.iter().flat_map(Asked::as_flags));
        }
        Purpose::SelfTest(worse) => {
            words.push("selftest".into());
            if worse > 0.0 {
                words.extend(["--inject".into(), Percent::from_share(worse).to_string()]);
            }
        }
    }
    if args.sides.measure_identical && purpose == Purpose::Measure {
        words.push("--measure-identical".into());
    }
    words.extend(args.selection.as_flags());
    words.extend(args.shard.as_flags());
    if let Some(only) = &args.only {
        words.extend(["--only".into(), only.to_string()]);
    }
    words.extend(["--rounds".into(), rounds.to_string(), "--seed".into(), seed.to_string()]);
    if let Some(budget) = args.budget {
        words.extend(["--budget".into(), budget.as_flag()]);
    }
    if args.pin == Pin::Off {
        words.extend(["--pin".into(), "off".into()]);
    }
    shell_words::join(words)
}

fn new_seed() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.subsec_nanos() ^ u32::try_from(now.as_secs() & 0xffff_ffff).unwrap_or(0)
}
