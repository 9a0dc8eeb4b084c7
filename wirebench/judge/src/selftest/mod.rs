//! Measures how often verdicts are wrong: how often equal code is called regressed, and slower code is not. The rounds come
//! from recorded runs; the rules are the same as for every run.

mod replay;

use std::collections::BTreeMap;

pub use replay::Replay;
use serde::Serialize;

use crate::compare::{self, Rules};
use wirebench_record::comparison::{Presence, Verdict};
use wirebench_record::metric::Metric;
use wirebench_stats::proportion::interval;
use wirebench_stats::quantile::median;

/// Counts verdicts over many comparisons.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Sums where totals have a mean.
    sums: Totals,
    spread: BTreeMap<Metric, Vec<f64>>,
}

/// The counts and rates of a self-test, with confidence intervals; one JSON line.
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
    /// Assembles one comparison and counts it: screens, draws fresh rounds if needed, and judges, as `wirebench run
    /// --baseline` does with measured rounds.
    ///
    /// # Errors
    /// When the recorded run has no baseline or no candidate; in words.
    pub fn add(&mut self, replay: &mut Replay, rules: &Rules) -> Result<(), String> {
        let mut run = replay.empty();
        let every: Vec<usize> = (0..run.series.len()).collect();
        let first = rules.compare.rounds;
        let mut drawn = replay.draw(&mut run, &every, 1, 0..first);
        let left = rules.compare.budget.0.saturating_sub(drawn.measuring);
        if let Some(second) = compare::next_stage(&run, rules, left, replay.costs()).stage {
            let is_in = |i: &usize| second.series.contains(&run.series[*i].id);
            let series: Vec<usize> = every.into_iter().filter(is_in).collect();
            let fresh = replay.draw(&mut run, &series, 2, first..first + second.rounds);
            drawn.pairs += fresh.pairs;
            drawn.measuring += fresh.measuring;
            drawn.is_short |= fresh.is_short;
        }
        let comparison = compare::paired(&run, rules)?;
        let compared = (comparison.series.iter()).filter(|series| series.presence == Presence::Both);
        let metrics = || compared.clone().flat_map(|series| &series.metrics);
        let any = |verdict| u64::from(metrics().any(|metric| metric.verdict == verdict));
        self.sums.comparisons += 1;
        self.sums.flagged += any(Verdict::Regressed);
        self.sums.improved += any(Verdict::Improved);
        self.sums.gated += u64::from(comparison.verdict == Verdict::Regressed);
        self.sums.inconclusive += u64::from(comparison.verdict == Verdict::Inconclusive);
        self.sums.short += u64::from(drawn.is_short);
        self.sums.pairs += f64::from(drawn.pairs);
        self.sums.minutes += drawn.measuring.as_secs_f64() / 60.0;
        for metric in metrics() {
            (self.spread.entry(metric.metric).or_default()).extend(metric.spread_percent);
        }
        Ok(())
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
