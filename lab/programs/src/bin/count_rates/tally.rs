//! Adds up the results of comparisons.

use std::collections::BTreeMap;

use serde::Serialize;
use wirebench_record::comparison::Verdict;
use wirebench_record::metric::Metric;
use wirebench_stats::quantile::median;

use crate::runner::Compared;
use crate::waste::Kind;

/// Comparisons of equal code.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Equal {
    comparisons: usize,
    failed: usize,
    /// Gating counts called regressed or improved.
    false_alarms: usize,
    /// Comparisons with at least one false alarm.
    alarming: usize,
    /// Gating counts that were inconclusive or invalid.
    inconclusive: usize,
    slowest_s: f64,
    metrics: BTreeMap<Metric, Figures>,
}

/// The figures of one metric, of both variants.
#[derive(Debug, Default, Serialize)]
struct Figures {
    values: Vec<f64>,
    spreads: Vec<f64>,
    refused: usize,
}

impl Figures {
    fn median(&self) -> f64 {
        median(&self.values).unwrap_or(f64::NAN)
    }

    /// The largest distance of a figure from the median, in the metric's unit.
    fn farthest(&self) -> f64 {
        let median = self.median();
        self.values
            .iter()
            .map(|value| (value - median).abs())
            .fold(0.0, f64::max)
    }

    fn largest_spread(&self) -> f64 {
        self.spreads.iter().copied().fold(0.0, f64::max)
    }
}

impl Equal {
    pub(crate) fn add(&mut self, compared: anyhow::Result<Compared>) {
        self.comparisons += 1;
        let Some(compared) = or_print(compared) else {
            self.failed += 1;
            return;
        };
        self.slowest_s = self.slowest_s.max(compared.took.as_secs_f64());
        let gating = || compared.judged.metrics.iter().filter(|metric| metric.primary);
        let of = |verdicts: &[Verdict]| gating().filter(|metric| verdicts.contains(&metric.verdict)).count();
        let alarms = of(&[Verdict::Regressed, Verdict::Improved]);
        self.false_alarms += alarms;
        self.alarming += usize::from(alarms > 0);
        self.inconclusive += of(&[Verdict::Inconclusive, Verdict::Invalid]);
        for figure in compared.counts.iter().flat_map(|counts| &counts.figures) {
            let figures = self.metrics.entry(figure.metric).or_default();
            match figure.value {
                Some(value) => {
                    figures.values.push(value);
                    figures.spreads.push(figure.spread.unwrap_or(0.0));
                }
                None => figures.refused += 1,
            }
        }
    }

    pub(crate) fn print(&self) {
        println!(
            "{} comparisons, {} failed, {} with a false alarm, {} counts inconclusive; the slowest took {:.1} s",
            self.comparisons, self.failed, self.alarming, self.inconclusive, self.slowest_s
        );
        println!(
            "{:<22} {:>7} {:>8} {:>14} {:>16} {:>16}",
            "", "figures", "refused", "median", "farthest from it", "largest spread"
        );
        for (metric, figures) in &self.metrics {
            let median = figures.median();
            let percent = |part: f64| 100.0 * part / median;
            println!(
                "{:<22} {:>7} {:>8} {:>14.3} {:>14.4} % {:>14.4} %",
                metric.name(),
                figures.values.len(),
                figures.refused,
                median,
                percent(figures.farthest()),
                percent(figures.largest_spread())
            );
        }
    }

    /// The number of figures that agree with those of a quiet machine: the distance from their median is at most both spreads.
    pub(crate) fn within(&self, quiet: &Self) -> Vec<Within> {
        let row = |(metric, figures): (&Metric, &Figures)| {
            let quiet = quiet.metrics.get(metric)?;
            let (median, spread) = (quiet.median(), quiet.largest_spread());
            let pairs = figures.values.iter().zip(&figures.spreads);
            let within = pairs
                .filter(|(value, own)| (*value - median).abs() <= spread + **own)
                .count();
            Some(Within {
                metric: *metric,
                within,
                of: figures.values.len(),
            })
        };
        self.metrics.iter().filter_map(row).collect()
    }
}

/// Figures under load that agree with those of a quiet machine.
#[derive(Debug, Serialize)]
pub(crate) struct Within {
    metric: Metric,
    within: usize,
    of: usize,
}

impl Within {
    pub(crate) fn print(&self) {
        println!(
            "{:<22} {} of {} within the stated spread of the quiet machine's median",
            self.metric.name(),
            self.within,
            self.of
        );
    }
}

/// Comparisons with one kind of waste.
#[derive(Debug, Serialize)]
pub(crate) struct Injected {
    kind: String,
    comparisons: usize,
    failed: usize,
    /// How often the count that grows was called regressed.
    detected: usize,
    /// How often the wasting function was the first in its list; null if no list can show it.
    first: Option<usize>,
    /// Change of the count that grows, percent.
    effects: Vec<f64>,
    /// Other gating counts that were called regressed or improved.
    others: BTreeMap<Metric, usize>,
}

impl Injected {
    pub(crate) fn of(kind: &Kind) -> Self {
        Self {
            kind: kind.name.clone(),
            comparisons: 0,
            failed: 0,
            detected: 0,
            first: None,
            effects: Vec::new(),
            others: BTreeMap::new(),
        }
    }

    pub(crate) fn add(&mut self, kind: &Kind, compared: anyhow::Result<Compared>) {
        self.comparisons += 1;
        let Some(compared) = or_print(compared) else {
            self.failed += 1;
            return;
        };
        if let Some(first) = kind.is_first(&compared) {
            *self.first.get_or_insert(0) += usize::from(first);
        }
        for metric in &compared.judged.metrics {
            if metric.metric == kind.metric {
                self.detected += usize::from(metric.verdict == Verdict::Regressed);
                self.effects.extend(metric.effect_percent);
            } else if metric.primary && matches!(metric.verdict, Verdict::Regressed | Verdict::Improved) {
                *self.others.entry(metric.metric).or_default() += 1;
            }
        }
    }

    pub(crate) fn print(&self) {
        let first = self
            .first
            .map_or("no list".to_owned(), |first| format!("first in the list {first}"));
        let others = self
            .others
            .iter()
            .map(|(metric, times)| format!("; {} too {times}", metric.name()));
        println!(
            "{:<36} of {} ({} failed): detected {}, {first}; {:+.2} % in the middle{}",
            self.kind,
            self.comparisons,
            self.failed,
            self.detected,
            median(&self.effects).unwrap_or(f64::NAN),
            others.collect::<String>()
        );
    }
}

/// The result of a comparison; if it failed, prints why.
fn or_print(compared: anyhow::Result<Compared>) -> Option<Compared> {
    compared.inspect_err(|error| eprintln!("failed: {error:#}")).ok()
}
