//! `wirebench run`: builds, measures, judges and reports.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use wirebench_declare::Project;
use wirebench_declare::plan;
use wirebench_declare::span::Span;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::session::{self, Part, Purpose, Recorded, RunSpec};
use wirebench_judge::compare::{self, Rules};
use wirebench_record::comparison::Comparison;
use wirebench_record::run::{Run, RunStatus, Variant};

use crate::cluster::{self, ClusterArgs};
use crate::hosts::HostArgs;
use crate::lock::LockArgs;
use crate::only::Only;
use crate::selection::{Scope, SelectionArgs};
use crate::shards::{Mine, ShardArgs};
use crate::sides::SideArgs;
use crate::{Outcome, claims, repeat, report, results, verdict};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench run --profile quick
  wirebench run --baseline main --profile quick   the working tree beside a revision
  wirebench run --baseline v1 --candidate v2
  wirebench run --baseline http='./old-server --fast' --scenario 'weather-*'
  wirebench run --scenario weather-multiplexed --rounds 10 --seed 7
  wirebench run --server http --driver 'h*' --pin off --keep-raw
  wirebench run --cluster --overlay http,grpc --load-image wirebench-load:0.1.0 --load-pods 2 --scenario a-user-c100
  wirebench run --server-host ssh://me@server.example --server http --driver hey")]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) sides: SideArgs,
    #[command(flatten)]
    pub(super) selection: SelectionArgs,
    #[command(flatten)]
    pub(super) shard: ShardArgs,
    #[command(flatten)]
    pub(super) lock: LockArgs,
    /// Measure only this: `counts`, `timings`, or a public comparison by its letter or name, such as A.
    #[arg(long, value_name = "WHAT")]
    pub(super) only: Option<Only>,
    /// Rounds of each series and variant; without it, the profile's, or with a baseline `compare.rounds`. A second
    /// stage adds rounds. With fewer than 8 there is no second stage, and no verdict.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) rounds: Option<u32>,
    /// With a baseline: wall time for rounds of load, such as 10m; without it, `compare.budget` of wirebench.toml.
    #[arg(long, value_name = "TIME")]
    pub(super) budget: Option<Span>,
    /// Seed of the order of rounds; without it, a random one. The record keeps it.
    #[arg(long)]
    pub(super) seed: Option<u32>,
    /// Whether server and driver get separate cores.
    #[arg(long, value_enum, default_value_t = Pin::Auto)]
    pub(super) pin: Pin,
    /// The folder that takes the run's folder; without it, results/ in the project.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Keep every driver's raw output (hundreds of MB); without it, only that of rounds that are not good.
    #[arg(long)]
    pub(super) keep_raw: bool,
    /// Prints the run's record as one line of JSON instead of a table, and a second line with the comparison if there is one.
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) cluster: Box<ClusterArgs>,
    #[command(flatten)]
    pub(super) hosts: HostArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Pin {
    /// A quarter of the cores for the server, the rest for the driver, where there are two or more.
    Auto,
    /// Server and driver share all cores.
    Off,
}

impl Pin {
    pub(super) fn cores(self) -> Cores {
        match self {
            Self::Auto => Cores::split(),
            Self::Off => Cores::shared(),
        }
    }
}

pub(super) fn execute(project: &Project, args: &Args) -> anyhow::Result<Outcome> {
    let (recorder, comparison) = judged(project, args)?;
    claims::leave(project, &recorder.run, &recorder.folder)?;
    if args.json {
        println!("{}", serde_json::to_string(&recorder.run)?);
        if let Some(comparison) = comparison {
            println!("{}", serde_json::to_string(&comparison)?);
        }
        return Ok(outcome(&recorder.run));
    }
    report::print(&recorder.run, &recorder.folder);
    if let Some(comparison) = comparison {
        report::print_comparison(&comparison, &recorder.folder);
    }
    Ok(outcome(&recorder.run))
}

/// Measures, judges where there is a baseline, and leaves record, comparison and reports in the run's folder.
///
/// # Errors
/// When nothing can be measured, or the folder cannot be written.
pub(super) fn judged(project: &Project, args: &Args) -> anyhow::Result<(Recorded, Option<Comparison>)> {
    let recorder = if args.cluster.cluster {
        cluster::execute(project, args)?
    } else {
        measure(project, args, Purpose::Measure)?
    };
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

/// The exit code for a run's status.
pub(super) fn outcome(run: &Run) -> Outcome {
    if run.status == RunStatus::Complete {
        Outcome::Done
    } else {
        Outcome::Failed
    }
}

/// Measures the selected series and writes the record into the run's folder.
///
/// # Errors
/// When nothing can be measured. A series that fails is no error: it is in the record.
pub(super) fn measure(project: &Project, args: &Args, purpose: Purpose) -> anyhow::Result<Recorded> {
    let asked = args.sides.asked(project, &std::env::current_dir()?)?;
    let variants = asked.iter().map(|side| side.variant);
    let Scope { name, profile, rounds } = args.selection.scope(project, variants, args.rounds)?;
    let selection = args.selection.selection();
    let series = plan::series(project, profile, &selection)?;
    let mine = args.shard.mine(project, (name, profile), &series)?;
    let only = args.only.as_ref();
    let chosen = only.map(|only| only.chosen(project, name)).transpose()?;
    let seed = u64::from(args.seed.unwrap_or_else(repeat::new_seed));
    let rules = Rules::from(&project.config);
    session::measure(&RunSpec {
        project,
        profile: (name, profile),
        selection: &selection,
        series,
        includes: &|id, counted| chosen.as_ref().is_none_or(|chosen| chosen.has(id, counted)),
        part: mine.as_ref().map_or(Part::Whole, Mine::part),
        rounds,
        seed,
        cores: args.hosts.cores(args.pin),
        server_host: args.hosts.server_host.as_ref(),
        driver_host: args.hosts.driver_host.as_ref(),
        purpose,
        out: &args.out.clone().unwrap_or_else(|| results(&project.root)),
        repeat: repeat::command(args, &asked, purpose, rounds, seed),
        sides: &asked,
        keep_raw: args.keep_raw,
        measure_identical: args.sides.measure_identical,
        lock: !args.lock.no_lock,
        budget: args.budget.unwrap_or(rules.compare.budget).0,
        second_stage: &|run, left| compare::next_stage(run, &rules, left),
    })
}
