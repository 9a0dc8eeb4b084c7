//! The embedded null: the baseline's program measured a second time, a native one from another place. It must not differ from
//! the baseline; if it does, the measurement is at fault, and a change of that metric cannot be trusted.

use crate::compare::cell::Cell;
use crate::compare::count;
use crate::compare::exact::{self, Counted};
use crate::compare::series::Gates;
use crate::compare::verdict::percent;
use wirebench_record::comparison::{ComparedMetric, Verdict};
use wirebench_record::counts::Counts;
use wirebench_record::metric::Metric;
use wirebench_record::reason::MetricReason;
use wirebench_record::run::{Series, Variant};

/// The probability, in each direction, below which the null differs from the baseline. Without a systematic error, 4 of 1,000
/// metrics are below it.
const DIFFERENT: f64 = 0.002;
/// A change that is not at least three times as large as the null's difference is not a change of the code.
const EFFECT_OVER_NULL: f64 = 3.0;
/// The probability, in each direction, up to which the null's difference is larger than its share of the effect.
const LARGER: f64 = 0.05;
/// From this number of pairs on, the test can reach [`LARGER`]: all pairs in one direction have a probability of 1 ÷ 32.
const TESTABLE_PAIRS: usize = 5;

/// The null of a counted metric.
pub(super) struct CountedNull {
    /// Null over baseline, percent; `None` after a baseline of 0.
    pub(super) percent: Option<f64>,
    /// How far the two figures lie apart, in the metric's unit.
    pub(super) distance: f64,
    /// Whether that would be called regressed or improved.
    differs: bool,
}

/// The null of a timed metric, over the rounds of every stage in which it took part.
pub(super) struct TimedNull {
    cell: Cell,
    /// Null over baseline, a difference of logarithms of badness.
    estimate: f64,
    /// Pairs used.
    pairs: usize,
}

impl TimedNull {
    /// The null of a metric; `None` if no pair has it.
    pub(super) fn of(series: &Series, metric: Metric, gates: &Gates) -> Option<Self> {
        let cell = Cell::over(&[1, 2], Variant::Null, series, metric, gates)?;
        let estimates = cell.estimates();
        Some(Self {
            estimate: estimates.location?.estimate,
            pairs: estimates.kept.pairs.len(),
            cell,
        })
    }

    /// Whether the baseline's program differs from itself.
    fn differs(&self) -> bool {
        self.cell.p_worse() < DIFFERENT || self.cell.p_better() < DIFFERENT
    }

    /// Whether the null is too large for an effect, a difference of logarithms, to be a change of the code: a third of it, beyond
    /// the noise of the null's own pairs, or all of it.
    pub(super) fn contradicts(&self, effect: f64) -> bool {
        let share = effect.abs() / EFFECT_OVER_NULL;
        if self.pairs < TESTABLE_PAIRS {
            return self.estimate.abs() > share;
        }
        let larger = self.cell.p_worse_by(share) <= LARGER || self.cell.p_better_by(share) <= LARGER;
        larger || self.estimate.abs() >= effect.abs()
    }

    /// Whether the null contradicts an effect by its size alone, because it has too few pairs for a test.
    pub(super) fn contradicts_untested(&self, effect: f64) -> bool {
        self.pairs < TESTABLE_PAIRS && self.contradicts(effect)
    }

    /// Adds the null to the result of its metric. `effect` is the estimated change, a difference of logarithms.
    pub(super) fn add_to(&self, judged: &mut ComparedMetric, effect: Option<f64>) {
        judged.null_percent = Some(percent(judged.metric, self.estimate));
        judged.null_pairs = count(self.pairs);
        let is_change = matches!(judged.verdict, Verdict::Regressed | Verdict::Improved);
        let contradicts = is_change && effect.is_some_and(|effect| self.contradicts(effect));
        if contradicts || self.differs() {
            make_inconclusive(judged);
        }
    }
}

/// Compares the null's figure with the baseline's, which is that at the first start layout; `None` without a null.
pub(super) fn counted(series: &Series, baseline: &Counts, unjudged: &ComparedMetric) -> Option<CountedNull> {
    let metric = unjudged.metric;
    let (null, null_spread) = series.counts_of(Variant::Null)?.value(metric)?;
    let (_, spread) = baseline.value(metric)?;
    let baseline = baseline.at_first_layout(metric)?;
    let figure = |value, spread| Counted { value, spread };
    let judgement = exact::judge(
        figure(baseline, spread),
        figure(null, null_spread),
        None,
        unjudged.clone(),
    );
    Some(CountedNull {
        percent: judgement.effect_percent,
        distance: (null - baseline).abs(),
        differs: matches!(judgement.verdict, Verdict::Regressed | Verdict::Improved),
    })
}

/// Adds the null of a counted metric to its result.
pub(super) fn add_counted(null: &CountedNull, judged: &mut ComparedMetric) {
    judged.null_percent = null.percent;
    let is_change = matches!(judged.verdict, Verdict::Regressed | Verdict::Improved);
    let sizes = null.percent.zip(judged.effect_percent);
    let contradicts = sizes.is_some_and(|(null, effect)| null.abs() > effect.abs() / EFFECT_OVER_NULL);
    if (is_change && contradicts) || null.differs {
        make_inconclusive(judged);
    }
}

/// Replaces the verdict of a metric whose null differs.
fn make_inconclusive(judged: &mut ComparedMetric) {
    if judged.verdict == Verdict::Invalid {
        return;
    }
    judged.verdict = Verdict::Inconclusive;
    judged.accepted = None;
    judged.reason = MetricReason::NullDiffers {
        percent: judged.null_percent,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::series::unjudged_metric;
    use wirebench_declare::compare::Margins;
    use wirebench_record::counts::Figure;
    use wirebench_record::run::{Latency, Round, RoundStatus};
    use wirebench_testing::{figure, golden, reference};

    fn series() -> Series {
        let mut series = reference().series.remove(0);
        series.rounds.clear();
        series
    }

    fn counts(variant: Variant, instructions: f64, by_layout: &[f64]) -> Counts {
        let figure = Figure {
            by_layout: by_layout.to_vec(),
            ..figure(Metric::Instructions, Some(instructions), 2.0)
        };
        wirebench_testing::counts(variant, vec![figure])
    }

    #[test]
    fn a_counted_null_is_held_against_the_first_layout_and_a_large_one_differs() {
        let margin = Margins::default().of("a@b@c", Metric::Instructions);
        let unjudged = unjudged_metric(Metric::Instructions, margin);
        let baseline = counts(Variant::Baseline, 10_080.0, &[10_000.0, 10_120.0, 10_120.0]);
        let of = |instructions| {
            let mut series = series();
            series.counts = vec![counts(Variant::Null, instructions, &[])];
            counted(&series, &baseline, &unjudged).unwrap()
        };
        let same = of(10_004.0);
        assert!(
            !same.differs && (same.percent.unwrap() - 0.04).abs() < 1e-6,
            "{:?}",
            same.percent
        );
        assert!(of(10_150.0).differs && of(9_800.0).differs);
        assert!(counted(&series(), &baseline, &unjudged).is_none());
    }

    #[test]
    fn a_timed_null_that_differs_in_every_pair_makes_the_metric_inconclusive() {
        let margins = Margins::default();
        let gates = Gates::over(std::iter::empty(), &margins);
        let round = |variant, number: u32, p50| Round {
            status: RoundStatus::Ok,
            ok_count: Some(20_000),
            latency_ns: Some(Latency {
                min: 1,
                mean: p50,
                p50,
                p90: p50,
                p95: p50,
                p99: p50,
                p999: p50,
                max: p50,
            }),
            ..Round::unmeasured(variant, number, 0, 1)
        };
        let judged = |slower: u64| {
            let mut series = series();
            for number in 0..12 {
                let noise = u64::from(number * 37 % 11);
                series.rounds.push(round(Variant::Baseline, number, 10_000 + noise));
                series.rounds.push(round(Variant::Candidate, number, 10_000 + noise));
                series
                    .rounds
                    .push(round(Variant::Null, number, 10_000 + slower + noise * 2));
            }
            let cell = Cell::new(&series, Metric::LatencyP50, 1, &gates).unwrap();
            let mut found = golden("unchanged").series[0].metrics[0].clone();
            found.metric = cell.metric;
            let null = TimedNull::of(&series, cell.metric, &gates).unwrap();
            null.add_to(&mut found, Some(0.0));
            found
        };
        let same = judged(0);
        assert_eq!((same.verdict, same.null_pairs), (Verdict::Unchanged, 12));
        assert!(same.null_percent.unwrap().abs() < 0.5);
        let other = judged(1_000);
        assert_eq!(other.verdict, Verdict::Inconclusive);
        let MetricReason::NullDiffers { percent: Some(percent) } = other.reason else {
            panic!("{:?}", other.reason)
        };
        assert!((percent - 10.0).abs() < 0.05, "{percent}");
    }
}
