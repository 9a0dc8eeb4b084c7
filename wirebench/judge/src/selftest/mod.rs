//! Measures how often verdicts are wrong: how often equal code is called regressed, and slower code is not. The rounds come
//! from a model or from recorded runs; the rules are the same as for every run.

mod replay;
mod simulate;
mod tally;

use std::time::Duration;

use crate::compare::{self, Rules, Time};
use wirebench_record::comparison::Comparison;
use wirebench_record::run::{Round, Run, Stage};

pub use replay::Replay;
pub use simulate::{Model, round};
pub use tally::{Tally, Totals};

/// Where rounds come from: a model, or a recorded run.
pub trait Source {
    /// A run without rounds.
    fn empty(&self) -> Run;
    /// Fresh rounds of both variants for the series at these indices, numbered from `first`.
    fn rounds(&mut self, series: &[usize], stage: u32, first: u32, count: u32) -> Vec<(usize, Vec<Round>)>;
    /// The time to measure a pair of each series.
    fn pair_costs(&self) -> Vec<Duration>;
}

/// One comparison assembled from a source's rounds, and the time that measuring it would have taken.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The verdict.
    pub comparison: Comparison,
    /// Pairs of rounds over all series.
    pub pairs: u32,
    /// The time of these pairs.
    pub measuring: Duration,
    /// Whether the source had fewer rounds than were planned.
    pub short: bool,
}

/// Screens, draws fresh rounds if needed, and judges, as `wirebench run --baseline` does with measured rounds.
///
/// # Errors
/// When the source's run has no baseline or no candidate; in words.
pub fn compare_once(source: &mut impl Source, rules: &Rules) -> Result<Trial, String> {
    let mut run = source.empty();
    let costs = source.pair_costs();
    let every: Vec<usize> = (0..run.series.len()).collect();
    let first = rules.compare.rounds;
    let mut measuring = Duration::ZERO;
    let mut pairs = 0;
    let mut short = false;
    let mut draw = |run: &mut Run, series: &[usize], stage: Stage, from: u32| {
        for (i, rounds) in source.rounds(series, stage.number, from, stage.rounds) {
            short |= rounds.len() < 2 * stage.rounds as usize;
            run.series[i].rounds.extend(rounds);
        }
        measuring += series.iter().map(|i| costs[*i] * stage.rounds).sum::<Duration>();
        pairs += stage.rounds * u32::try_from(series.len()).unwrap_or(u32::MAX);
        run.stages.push(stage);
        measuring
    };
    let stage = |number, rounds, why: &str| Stage {
        number,
        rounds,
        series: Vec::new(),
        why: why.into(),
    };
    let spent = draw(&mut run, &every, stage(1, first, "screen"), 0);
    let time = Time {
        left: rules.compare.budget.0.saturating_sub(spent),
        pair: costs.clone(),
    };
    if let Some(second) = compare::second_stage(&run, rules, &time) {
        draw(&mut run, &second.series, stage(2, second.rounds, &second.why), first);
    }
    Ok(Trial {
        comparison: compare::paired(&run, rules)?,
        pairs,
        measuring,
        short,
    })
}
