//! `wirebench selftest`: how often the verdict is wrong, on this machine or on recorded rounds.

use std::path::{Path, PathBuf};

use crate::flags::{LockArgs, SelectionArgs, SideArgs};
use crate::folders::Root;
use crate::outcome::Outcome;
use crate::{reports, run, runs};
use wirebench_declare::percent::Percent;
use wirebench_engine::session::Purpose;
use wirebench_judge::compare::Rules;
use wirebench_judge::selftest::{Replay, Tally, Totals};
use wirebench_record::run::{Run, RunStatus};

/// Measures how often the verdict is wrong: equal code that is flagged, slower code that is not.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench selftest --profile quick --driver h2load --rounds 60   equal code, measured here
  wirebench selftest --profile quick --driver h2load --inject 5%   the candidate burns 5 % more CPU
  wirebench selftest --from results/selftest                       recorded rounds

Prints one line of JSON for each source: the number of comparisons, how many were flagged, the rate with its exact 95 % \
interval, c (the median spread of each metric, %), and the minutes it took.")]
pub(crate) struct Args {
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    lock: LockArgs,
    /// Comparisons to assemble and judge.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Rounds of each variant to measure.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(10..=1000))]
    rounds: u32,
    /// Measure nothing; replay recorded rounds: a run's folder or its run.json, or a folder of several runs.
    #[arg(long, value_name = "RUN")]
    from: Option<PathBuf>,
    /// How much slower the candidate is made: measured servers get --burn-ns, replayed rounds get more CPU time.
    #[arg(long, value_name = "PERCENT")]
    inject: Option<Percent>,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// The folder that takes the measured run's folder; without it, results/ in the project.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let worse = args.inject.map_or(0.0, Percent::share);
    if let Some(from) = &args.from {
        for file in runs::at_or_below(from)? {
            print(&replayed(args, &runs::read(&file)?, worse, &Rules::default())?)?;
        }
    } else {
        let project = root.project()?;
        let measured = run::measure(
            &project,
            &run_args(args, &project.root),
            Purpose::SelfTest(args.inject.unwrap_or_default()),
        )?;
        reports::write(&project.root, &measured.run, &measured.folder)?;
        log::info!("record   {}", measured.folder.join("run.json").display());
        if measured.run.status != RunStatus::Complete {
            let why = measured.run.reason.unwrap_or_default();
            log::error!("error: the self-test did not measure everything: {why}");
            return Ok(Outcome::Failed);
        }
        let totals = replayed(args, &measured.run, 0.0, &project.config)?;
        let file = measured.folder.join("selftest.json");
        reports::write_file(&file, serde_json::to_vec_pretty(&totals)?)?;
        print(&totals)?;
    }
    Ok(Outcome::Done)
}

fn print(totals: &Totals) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string(totals)?);
    Ok(())
}

/// Baseline and candidate are both the project's folder: the same program twice.
fn run_args(args: &Args, root: &Path) -> run::Args {
    let within = std::env::current_dir().is_ok_and(|folder| folder == root);
    let folder = if within { Path::new(".") } else { root };
    let here = || vec![folder.to_string_lossy().into_owned()];
    let sides = SideArgs {
        baseline: here(),
        candidate: here(),
        reference: Vec::new(),
        measure_identical: true,
    };
    run::Args {
        rounds: Some(args.rounds),
        seed: Some(args.seed),
        out: args.out.clone(),
        sides,
        selection: args.selection.clone(),
        lock: args.lock,
        ..run::Args::default()
    }
}

/// Assembles comparisons from recorded rounds; `worse` is added to the candidate's values.
fn replayed(args: &Args, run: &Run, worse: f64, rules: &Rules) -> anyhow::Result<Totals> {
    let mut replay = Replay::new(run, rules.compare.rounds, worse, u64::from(args.seed)).map_err(anyhow::Error::msg)?;
    let mut tally = Tally::default();
    for _ in 0..args.runs {
        replay.restart();
        tally.add(&mut replay, rules).map_err(anyhow::Error::msg)?;
    }
    let burnt = run.series.iter().any(|series| series.injected_burn_ns.is_some());
    let how = if burnt {
        ", the candidate burning CPU"
    } else {
        ", equal code"
    };
    let source = format!("run {}: {} recorded blocks{how}", run.id, replay.blocks());
    Ok(tally.totals(&source, args.inject.map(Percent::percent)))
}
