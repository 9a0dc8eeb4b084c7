//! Counts verdicts over many comparisons, with confidence intervals of the rates.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::selftest::Trial;
use wirebench_record::comparison::{Presence, Verdict};
use wirebench_record::metric::Metric;
use wirebench_stats::proportion::interval;
use wirebench_stats::quantile::median;

/// The counts so far.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    comparisons: u64,
    flagged: u64,
    gated: u64,
    improved: u64,
    inconclusive: u64,
    short: u64,
    pairs: u64,
    minutes: f64,
    spread: BTreeMap<Metric, Vec<f64>>,
}

/// The counts and rates of a self-test; one JSON line.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
        self.comparisons += 1;
        self.flagged += any(Verdict::Regressed);
        self.improved += any(Verdict::Improved);
        self.gated += u64::from(comparison.verdict == Verdict::Regressed);
        self.inconclusive += u64::from(comparison.verdict == Verdict::Inconclusive);
        self.short += u64::from(trial.short);
        self.pairs += u64::from(trial.pairs);
        self.minutes += trial.measuring.as_secs_f64() / 60.0;
        for metric in metrics() {
            if let Some(spread) = metric.spread_percent {
                self.spread.entry(metric.metric).or_default().push(spread);
            }
        }
    }

    /// The rates.
    pub fn totals(&self, source: &str, injected_percent: Option<f64>) -> Totals {
        let (rate_low, rate_high) = interval(self.flagged, self.comparisons);
        let each = self.comparisons.max(1) as f64;
        let spread = |(metric, all): (&Metric, &Vec<f64>)| Some((metric.name(), rounded(median(all)?)));
        Totals {
            source: source.into(),
            injected_percent,
            comparisons: self.comparisons,
            flagged: self.flagged,
            rate: self.flagged as f64 / each,
            rate_low,
            rate_high,
            gated: self.gated,
            improved: self.improved,
            inconclusive: self.inconclusive,
            short: self.short,
            c: self.spread.iter().filter_map(spread).collect(),
            pairs: rounded(self.pairs as f64 / each),
            minutes: rounded(self.minutes / each),
        }
    }
}

/// Two decimals.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
