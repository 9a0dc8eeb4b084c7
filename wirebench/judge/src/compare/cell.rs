//! One metric of one series in one stage: its pairs, and the estimates and tests over them.

use crate::compare::series::Gates;
use wirebench_declare::compare::Margin;
use wirebench_record::metric::{Better, LARGE_LOSS_PERCENT, Metric};
use wirebench_record::run::{Round, Series, Variant};
use wirebench_stats::location::{Location, locate, standard_deviation};
use wirebench_stats::quantile::median;
use wirebench_stats::rank_sum::{KeptPairs, without_outliers, worse_by_more_than};

/// The pairs of one metric.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) metric: Metric,
    pub(super) margin: Margin,
    /// Logarithms of badness: greater is worse.
    bad: (Vec<f64>, Vec<f64>),
}

/// The estimates of a cell, without any test: differences of logarithms of badness, candidate over baseline.
#[derive(Debug, Clone)]
pub(super) struct Estimates {
    pub(super) kept: KeptPairs,
    /// In the metric's unit.
    pub(super) baseline: Option<f64>,
    pub(super) candidate: Option<f64>,
    pub(super) location: Option<Location>,
    /// Standard deviation of the paired differences.
    pub(super) sd: Option<f64>,
}

impl Estimates {
    /// The interval of the worsening; `None` if there are too few pairs.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        let location = self.location?;
        location.low.zip(location.high)
    }
}

impl Cell {
    /// The cell of a metric in a stage; `None` if no pair has it.
    pub(super) fn new(series: &Series, metric: Metric, stage: u32, gates: &Gates) -> Option<Self> {
        Self::over(&[stage], Variant::Candidate, series, metric, gates)
    }

    /// The baseline and another variant, in the rounds of these stages that had both; `None` if no pair has it.
    pub(super) fn over(stages: &[u32], other: Variant, series: &Series, metric: Metric, gates: &Gates) -> Option<Self> {
        let pairs = stages.iter().flat_map(|stage| pairs_with(series, *stage, other));
        let values: (Vec<f64>, Vec<f64>) = pairs
            .filter_map(|(baseline, candidate)| metric.comparable(baseline).zip(metric.comparable(candidate)))
            .unzip();
        let bad = |value: &f64| match metric.better() {
            Better::Lower => value.ln(),
            Better::Higher => -value.ln(),
        };
        (!values.0.is_empty()).then(|| Self {
            metric,
            margin: gates.margin(series, metric),
            bad: (values.0.iter().map(bad).collect(), values.1.iter().map(bad).collect()),
        })
    }

    /// Every compared metric of a series in a stage.
    pub(super) fn all(series: &Series, stage: u32, gates: &Gates) -> Vec<Self> {
        Metric::OF_SERVER
            .into_iter()
            .filter_map(|metric| Self::new(series, metric, stage, gates))
            .collect()
    }

    /// Pairs measured.
    pub(super) fn pairs(&self) -> usize {
        self.bad.0.len()
    }

    /// The margin as a difference of logarithms.
    pub(super) fn log_margin(&self) -> f64 {
        self.margin.margin.share().ln_1p()
    }

    /// The worsening from which an informative metric gates, as a difference of logarithms; `None` if it never does.
    pub(super) fn log_gate_above(&self) -> Option<f64> {
        let above = self.margin.gate_above.filter(|_| !self.margin.gate)?;
        Some(above.share().ln_1p().max(self.log_margin()))
    }

    /// The worsening of a metric that can gate which no verdict may pass over in silence, as a difference of logarithms; `None`
    /// if the metric never gates.
    pub(super) fn log_large_loss(&self) -> Option<f64> {
        let large = (LARGE_LOSS_PERCENT / 100.0).ln_1p().max(self.log_margin());
        self.log_gate_above().or(self.margin.gate.then_some(large))
    }

    pub(super) fn estimates(&self) -> Estimates {
        let kept = without_outliers(&self.bad.0, &self.bad.1);
        let differences: Vec<f64> = kept.pairs.iter().map(|i| self.bad.1[*i] - self.bad.0[*i]).collect();
        let middle = |arm: &[f64]| median(&kept.pairs.iter().map(|i| arm[*i]).collect::<Vec<_>>());
        let location = locate(&differences);
        // Values around the centre of both medians, exactly as far apart as the estimate, so that values and effect
        // agree.
        let centre = (middle(&self.bad.0).zip(middle(&self.bad.1)))
            .map(|(baseline, candidate)| f64::midpoint(baseline, candidate));
        let around = |share: f64| {
            let bad = centre? + share * location?.estimate;
            Some(match self.metric.better() {
                Better::Lower => bad.exp(),
                Better::Higher => (-bad).exp(),
            })
        };
        Estimates {
            baseline: around(-0.5),
            candidate: around(0.5),
            location,
            sd: standard_deviation(&differences),
            kept,
        }
    }

    /// The probability of such pairs if the candidate were worse by exactly the margin.
    pub(super) fn p_worse(&self) -> f64 {
        self.p_worse_by(self.log_margin())
    }

    /// The probability of such pairs if the candidate were better by exactly the margin.
    pub(super) fn p_better(&self) -> f64 {
        self.p_better_by(self.log_margin())
    }

    /// The probability of such pairs if the candidate were worse by exactly `size`, a difference of logarithms.
    pub(super) fn p_worse_by(&self, size: f64) -> f64 {
        worse_by_more_than(&self.bad.0, &self.bad.1, size).0
    }

    /// The probability of such pairs if the candidate were better by exactly `size`, a difference of logarithms.
    pub(super) fn p_better_by(&self, size: f64) -> f64 {
        worse_by_more_than(&self.bad.1, &self.bad.0, size).0
    }

    /// Whether the candidate is worse by more than `size`, a difference of logarithms, in every pair.
    pub(super) fn is_worse_in_every_pair(&self, size: f64) -> bool {
        let mut pairs = self.bad.0.iter().zip(&self.bad.1);
        pairs.all(|(baseline, candidate)| candidate - baseline > size)
    }
}

/// Baseline's and candidate's round of every pair of a stage, in order; pairs that were dropped are left out.
pub(super) fn pairs(series: &Series, stage: u32) -> impl Iterator<Item = (&Round, &Round)> {
    pairs_with(series, stage, Variant::Candidate)
}

/// A value of a round, divided by its good answers: of the pairs of a stage in which both sides have it.
pub(super) fn per_request(series: &Series, stage: u32, read: impl Fn(&Round) -> Option<u64>) -> (Vec<f64>, Vec<f64>) {
    let of = |round: &Round| Some(read(round)? as f64 / round.ok_count.filter(|count| *count > 0)? as f64);
    let both = pairs(series, stage).filter_map(|(baseline, candidate)| of(baseline).zip(of(candidate)));
    both.unzip()
}

/// The same with another variant in the candidate's place.
fn pairs_with(series: &Series, stage: u32, other: Variant) -> impl Iterator<Item = (&Round, &Round)> {
    let usable = move |round: &&Round| round.stage == stage && round.dropped.is_none();
    let of = move |variant| {
        let usable = series.rounds.iter().filter(usable);
        usable.filter(move |round| round.variant == variant)
    };
    of(Variant::Baseline).filter_map(move |baseline| {
        let candidate = of(other).find(|candidate| candidate.round == baseline.round)?;
        Some((baseline, candidate))
    })
}
