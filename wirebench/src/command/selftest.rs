//! `wirebench selftest`: how often the rule is wrong, on this machine, on recorded rounds, or on a model.

use std::path::{Path, PathBuf};

use crate::command::{Outcome, UsageError, report};
use crate::compare::Rules;
use crate::declare::compare::{Compare, Margins};
use crate::declare::percent::Percent;
use crate::selftest::{Model, Replay, Tally, compare_once};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Comparisons to judge.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Replays recorded rounds: a run's folder or its run.json.
    #[arg(long, value_name = "RUN", conflicts_with = "simulate")]
    from: Option<PathBuf>,
    /// Draws rounds from the model of docs/METHODOLOGY.md at this spread, such as 3%.
    #[arg(long, value_name = "C")]
    simulate: Option<Percent>,
    /// How much slower the candidate is.
    #[arg(long, value_name = "PERCENT")]
    inject: Option<Percent>,
    /// Scenarios of the model.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    scenarios: u16,
    /// Seed of everything drawn.
    #[arg(long, default_value_t = 1)]
    seed: u32,
}

pub(super) fn execute(_root: Option<&Path>, args: &Args) -> anyhow::Result<Outcome> {
    let (compare, margins) = (Compare::default(), Margins::default());
    let rules = Rules {
        compare: &compare,
        margins: &margins,
    };
    let worse = args.inject.map_or(0.0, Percent::share);
    let mut tally = Tally::default();
    let source = if let Some(c) = args.simulate {
        for i in 0..args.runs {
            let seed = u64::from(args.seed) << 32 | u64::from(i);
            let mut model = Model::new(usize::from(args.scenarios), c.share(), worse, seed);
            tally.add(&compare_once(&mut model, &rules).map_err(anyhow::Error::msg)?);
        }
        format!("model, c = {c}, {} scenarios", args.scenarios)
    } else if let Some(from) = &args.from {
        let run = report::read(&report::folder_of(Path::new("."), Some(from))?.join("run.json"))?;
        let mut replay = Replay::new(&run, compare.rounds, worse, u64::from(args.seed))?;
        for _ in 0..args.runs {
            replay.turn();
            tally.add(&compare_once(&mut replay, &rules).map_err(anyhow::Error::msg)?);
        }
        format!("{} recorded blocks of run {}", replay.blocks(), run.id)
    } else {
        return Err(UsageError("give --from RUN or --simulate C".into()).into());
    };
    println!(
        "{}",
        serde_json::to_string(&tally.totals(&source, args.inject.map(Percent::percent)))?
    );
    Ok(Outcome::Done)
}
