//! Measures how often verdicts are wrong: how often equal code is called regressed, and slower code is not. The rounds come
//! from a model or from recorded runs; the rules are the same as for every run.

mod replay;
mod simulate;

use std::collections::BTreeMap;
use std::time::Duration;

pub use replay::Replay;
use serde::Serialize;
pub use simulate::{Model, round};

use crate::compare::{self, Rules, Time};
use wirebench_record::comparison::{Comparison, Presence, Verdict};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Round, Run, Stage};
use wirebench_stats::proportion::interval;
use wirebench_stats::quantile::median;

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

// Counts verdicts over many comparisons, with confidence intervals of the rates.

/// The counts so far.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Sums where totals have a mean.
    sums: Totals,
    spread: BTreeMap<Metric, Vec<f64>>,
}

/// The counts and rates of a self-test; one JSON line.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Where the rounds came from.
    pub source: String,
    /// How much worse the candidate was, percent; null when both were equal code.
    pub injected_percent: Option<f64>,
    /// Comparisons judged.
    pub comparisons: u64,
    /// Comparisons in which any metric, gating or informative, was called regressed.
    pub flagged: u64,
    /// `flagged` ÷ `comparisons`.
    pub rate: f64,
    /// Lower end of its exact 95 % interval.
    pub rate_low: f64,
    /// Upper end of its exact 95 % interval.
    pub rate_high: f64,
    /// Comparisons whose overall verdict was regressed: a gating metric was.
    pub gated: u64,
    /// Comparisons in which any metric was called improved.
    pub improved: u64,
    /// Comparisons whose overall verdict was inconclusive.
    pub inconclusive: u64,
    /// Comparisons that planned more rounds than were recorded, and were judged on fewer.
    pub short: u64,
    /// Median spread by metric, percent.
    pub c: BTreeMap<&'static str, f64>,
    /// Pairs of rounds in a comparison, over all series, on average.
    pub pairs: f64,
    /// Minutes of measuring in a comparison, on average.
    pub minutes: f64,
}

impl Tally {
    /// Counts one comparison.
    pub fn add(&mut self, trial: &Trial) {
        let comparison = &trial.comparison;
        let metrics = || {
            let compared = comparison
                .series
                .iter()
                .filter(|series| series.presence == Presence::Both);
            compared.flat_map(|series| &series.metrics)
        };
        let any = |verdict| u64::from(metrics().any(|metric| metric.verdict == verdict));
        self.sums.comparisons += 1;
        self.sums.flagged += any(Verdict::Regressed);
        self.sums.improved += any(Verdict::Improved);
        self.sums.gated += u64::from(comparison.verdict == Verdict::Regressed);
        self.sums.inconclusive += u64::from(comparison.verdict == Verdict::Inconclusive);
        self.sums.short += u64::from(trial.short);
        self.sums.pairs += f64::from(trial.pairs);
        self.sums.minutes += trial.measuring.as_secs_f64() / 60.0;
        for metric in metrics() {
            if let Some(spread) = metric.spread_percent {
                self.spread.entry(metric.metric).or_default().push(spread);
            }
        }
    }

    /// The rates.
    pub fn totals(&self, source: &str, injected_percent: Option<f64>) -> Totals {
        let sums = &self.sums;
        let (rate_low, rate_high) = interval(sums.flagged, sums.comparisons);
        let each = sums.comparisons.max(1) as f64;
        let spread = |(metric, all): (&Metric, &Vec<f64>)| Some((metric.name(), rounded(median(all)?)));
        Totals {
            source: source.into(),
            injected_percent,
            rate: sums.flagged as f64 / each,
            rate_low,
            rate_high,
            c: self.spread.iter().filter_map(spread).collect(),
            pairs: rounded(sums.pairs / each),
            minutes: rounded(sums.minutes / each),
            ..sums.clone()
        }
    }
}

/// Two decimals.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
