//! The rule for counted figures. There is no test, because counts repeat: the spread over repetitions gives an
//! interval, which is compared with the margin.
//!
//! Changes are differences of logarithms, candidate over baseline, so that a change and its reverse have the same size.

use wirebench_record::comparison::{ComparedMetric, Verdict};
use wirebench_record::reason::MetricReason;

/// The rounding error of the logarithm of a ratio of two equal numbers.
const ROUNDING: f64 = 1e-9;
/// Figures that vary by more than the margin, around no change, are unchanged only if a worsening of this size is excluded, percent.
const OPEN_PERCENT: f64 = 5.0;

/// A counted figure of one side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Counted {
    /// Not below 0.
    pub(super) value: f64,
    /// Largest distance of a repetition from it, not below 0.
    pub(super) spread: f64,
}

impl Counted {
    /// Logarithms of the value less its spread, the value, and the value plus its spread; minus infinity for 0.
    fn logs(self) -> [f64; 3] {
        [self.value - self.spread, self.value, self.value + self.spread].map(|value| value.max(0.0).ln())
    }

    fn relative_spread(self) -> Option<f64> {
        let share = if self.spread > 0.0 {
            self.spread / self.value
        } else {
            0.0
        };
        share.is_finite().then_some(share)
    }
}

/// The smallest and the largest change that single start layouts show, as differences of logarithms; `None` if a figure
/// was counted at one layout only. Sides are compared layout by layout, because a layout changes both alike.
pub(super) fn layout_range(baseline: &[f64], candidate: &[f64]) -> Option<(f64, f64)> {
    if baseline.len() != candidate.len() || baseline.len() < 2 {
        return None;
    }
    let changes = || baseline.iter().zip(candidate).map(|(base, head)| (head / base).ln());
    let range = (
        changes().fold(f64::INFINITY, f64::min),
        changes().fold(f64::NEG_INFINITY, f64::max),
    );
    (range.0.is_finite() && range.1.is_finite()).then_some(range)
}

/// A change, candidate over baseline, as differences of logarithms.
struct Change {
    effect: f64,
    /// The ends of the range of changes that the spreads leave open.
    low: f64,
    high: f64,
    /// How far the range reaches below and above the effect.
    below: f64,
    above: f64,
    /// Whether both figures are 0.
    both_zero: bool,
    /// Whether both figures are equal and do not vary.
    exactly_equal: bool,
}

impl Change {
    /// `layouts` is the range of changes over start layouts.
    fn new(baseline: Counted, candidate: Counted, layouts: Option<(f64, f64)>) -> Self {
        let (base, head) = (baseline.logs(), candidate.logs());
        let equal = baseline.value.total_cmp(&candidate.value).is_eq();
        let both_zero = equal && baseline.value <= 0.0;
        let exact = both_zero || (baseline.spread <= 0.0 && candidate.spread <= 0.0);
        // Two infinities have no difference: the end is open.
        let or = |end: f64, open: f64| if end.is_nan() { open } else { end };
        let mut change = Self {
            effect: if equal { 0.0 } else { head[1] - base[1] },
            low: or(head[0] - base[2], f64::NEG_INFINITY),
            high: or(head[2] - base[0], f64::INFINITY),
            below: (head[1] - head[0]) + (base[2] - base[1]),
            above: (head[2] - head[1]) + (base[1] - base[0]),
            both_zero,
            exactly_equal: equal && exact,
        };
        if change.exactly_equal {
            (change.low, change.high) = (0.0, 0.0);
        }
        if let Some((least, most)) = layouts {
            // The spread of repetitions is added to the range of changes over the layouts.
            change.below += (change.effect - least).max(0.0);
            change.above += (most - change.effect).max(0.0);
            (change.low, change.high) = (change.effect - change.below, change.effect + change.above);
        }
        change
    }

    fn verdict(&self, margin_percent: f64) -> Verdict {
        let margin = log(margin_percent);
        if self.high >= margin - ROUNDING && self.low > margin / 2.0 + ROUNDING {
            Verdict::Regressed
        } else if -self.high >= margin - ROUNDING && -self.high > ROUNDING {
            Verdict::Improved
        } else if self.high >= log(self.open_percent(margin_percent)) - ROUNDING {
            Verdict::Inconclusive
        } else {
            Verdict::Unchanged
        }
    }

    /// The worsening that must be excluded to be unchanged, percent: the margin if all of the range is a worsening.
    fn open_percent(&self, margin_percent: f64) -> f64 {
        if margin_percent > 0.0 && self.low > ROUNDING {
            margin_percent
        } else {
            margin_percent.max(OPEN_PERCENT)
        }
    }

    /// No worsening above this, percent.
    fn at_most(&self) -> Option<f64> {
        percent(self.high.max(0.0))
    }

    fn reason(&self, verdict: Verdict, margin_percent: f64) -> MetricReason {
        let may_not_change = margin_percent <= 0.0;
        let margin = margin_percent;
        match verdict {
            Verdict::Regressed if percent(self.effect).is_none() => MetricReason::WorseFromZero,
            Verdict::Regressed if may_not_change => MetricReason::WorseWhereNothingMayChange,
            Verdict::Regressed if self.effect >= log(margin) - ROUNDING => MetricReason::WorseThan { percent: margin },
            Verdict::Regressed => MetricReason::WorseAroundMargin { percent: margin },
            Verdict::Improved if may_not_change => MetricReason::BetterWhereNothingMayChange,
            Verdict::Improved => MetricReason::BetterThan { percent: margin },
            Verdict::Unchanged if self.exactly_equal => MetricReason::ExactlyEqual,
            Verdict::Unchanged if self.low > ROUNDING => MetricReason::WorseWithinMargin {
                percent: self.at_most().unwrap_or_default(),
                margin,
            },
            Verdict::Unchanged => MetricReason::NoWorseningAbove {
                percent: self.at_most().unwrap_or_default(),
            },
            _ => MetricReason::SpreadTooWide {
                percent: self.open_percent(margin),
            },
        }
    }
}

/// Compares two figures with the margin of an unjudged metric; less is better. `layouts` is the range of changes over start
/// layouts.
pub(super) fn judge(
    baseline: Counted,
    candidate: Counted,
    layouts: Option<(f64, f64)>,
    unjudged: ComparedMetric,
) -> ComparedMetric {
    let change = Change::new(baseline, candidate, layouts);
    let verdict = change.verdict(unjudged.margin_percent);
    let margin = log(unjudged.margin_percent);
    let smallest = (margin - change.above).max(margin / 2.0 + change.below);
    let spreads = baseline.relative_spread().zip(candidate.relative_spread());
    ComparedMetric {
        verdict,
        reason: change.reason(verdict, unjudged.margin_percent),
        effect_percent: percent(change.effect),
        effect_low_percent: percent(change.low),
        effect_high_percent: percent(change.high),
        worse_at_most_percent: change.at_most(),
        // Every rise from 0 without spread is found.
        resolvable_percent: if change.both_zero { Some(0.0) } else { percent(smallest) },
        spread_percent: spreads.map(|(one, other)| one.max(other) * 100.0),
        ..unjudged
    }
}

/// A change in percent as a difference of logarithms.
fn log(percent: f64) -> f64 {
    (percent / 100.0).ln_1p()
}

/// A difference of logarithms in percent; `None` if it is not finite.
fn percent(log: f64) -> Option<f64> {
    let percent = log.exp_m1() * 100.0;
    percent.is_finite().then_some(percent)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};
    use proptest::strategy::Just;

    use super::*;
    use crate::compare::series::unjudged_metric;
    use wirebench_declare::compare::Margins;
    use wirebench_record::metric::Metric;

    fn judge(baseline: Counted, candidate: Counted, layouts: Option<(f64, f64)>, margin: f64) -> ComparedMetric {
        let default = Margins::default().of("a@b@c", Metric::Instructions);
        let unjudged = ComparedMetric {
            margin_percent: margin,
            ..unjudged_metric(Metric::Instructions, default)
        };
        super::judge(baseline, candidate, layouts, unjudged)
    }

    fn counted(value: f64, spread: f64) -> Counted {
        Counted { value, spread }
    }

    fn verdict(baseline: (f64, f64), candidate: (f64, f64), margin: f64) -> Verdict {
        judge(
            counted(baseline.0, baseline.1),
            counted(candidate.0, candidate.1),
            None,
            margin,
        )
        .verdict
    }

    #[test]
    fn without_spread_the_margin_itself_is_the_border() {
        let of = |candidate| verdict((10_000.0, 0.0), (candidate, 0.0), 1.0);
        assert_eq!(of(10_100.0), Verdict::Regressed);
        assert_eq!(of(10_099.0), Verdict::Unchanged);
        assert_eq!(of(9_900.0), Verdict::Improved);
        assert_eq!(of(9_950.0), Verdict::Unchanged);
    }

    #[test]
    fn an_improvement_must_leave_the_margin_behind_with_its_whole_range() {
        assert_eq!(
            verdict((10_000.0, 20.0), (9_900.0, 20.0), 1.0),
            Verdict::Unchanged,
            "-1.0 % (-1.4 to -0.6)"
        );
        assert_eq!(
            verdict((10_000.0, 20.0), (9_800.0, 20.0), 1.0),
            Verdict::Improved,
            "-2.0 % (-2.4 to -1.6)"
        );
        assert_eq!(
            verdict((10_000.0, 20.0), (10_100.0, 20.0), 1.0),
            Verdict::Regressed,
            "the other way round"
        );
    }

    #[test]
    fn a_worsening_is_not_said_to_exceed_a_margin_that_only_its_range_reaches() {
        let of = |value| judge(counted(10_000.0, 20.0), counted(value, 20.0), None, 1.0);
        let nearly = of(10_095.0);
        assert_eq!(
            (nearly.verdict, nearly.reason),
            (Verdict::Regressed, MetricReason::WorseAroundMargin { percent: 1.0 })
        );
        assert_eq!(of(10_200.0).reason, MetricReason::WorseThan { percent: 1.0 });
    }

    #[test]
    fn layouts_that_disagree_widen_the_range_and_layouts_that_move_both_sides_alike_do_not() {
        // One program, whose heap has two states: both sides are in the same one at each layout.
        let states = [10_000.0, 10_120.0, 10_120.0];
        assert_eq!(layout_range(&states, &states), Some((0.0, 0.0)));
        assert_eq!(layout_range(&states, &states[..2]), None);
        let base = counted(10_080.0, 3.0);
        let same = judge(base, base, Some((0.0, 0.0)), 1.0);
        assert_eq!(same.verdict, Verdict::Unchanged);
        // A change that moves the heap: another state at two layouts of three is no regression, and the bound says how far it goes.
        let head = [10_120.0, 10_120.0, 10_000.0];
        let range = layout_range(&states, &head).unwrap();
        let moved = judge(base, counted(10_080.0, 3.0), Some(range), 1.0);
        assert_eq!(moved.verdict, Verdict::Unchanged);
        assert!(moved.worse_at_most_percent.unwrap() > 1.1, "{moved:?}");
        assert!(
            moved.effect_low_percent.unwrap() < -1.1 && moved.effect_high_percent.unwrap() > 1.1,
            "{moved:?}"
        );
        // A real change is larger than the effect of layouts.
        let slower = judge(
            base,
            counted(10_380.0, 3.0),
            layout_range(&states, &[10_300.0, 10_420.0, 10_420.0]),
            1.0,
        );
        assert_eq!(slower.verdict, Verdict::Regressed);
    }

    #[test]
    fn what_is_to_stay_exactly_equal_may_not_move_at_all() {
        let of = |candidate| verdict((163.0, 0.0), (candidate, 0.0), 0.0);
        assert_eq!(
            [163.01, 163.0, 162.0].map(of),
            [Verdict::Regressed, Verdict::Unchanged, Verdict::Improved]
        );
        let equal = judge(counted(163.0, 0.0), counted(163.0, 0.0), None, 0.0);
        assert_eq!(
            (equal.reason, equal.worse_at_most_percent),
            (MetricReason::ExactlyEqual, Some(0.0))
        );
    }

    #[test]
    fn a_spread_around_equal_values_says_what_it_excludes_until_it_is_too_wide() {
        let close = judge(counted(4.0, 0.01), counted(4.0, 0.0), None, 0.0);
        assert_eq!(close.verdict, Verdict::Unchanged);
        let MetricReason::NoWorseningAbove { percent } = close.reason else {
            panic!("{close:?}")
        };
        assert!((percent - 0.25).abs() < 0.01, "{percent}");
        assert_eq!(verdict((4.0, 0.25), (4.0, 0.0), 0.0), Verdict::Inconclusive);
        assert_eq!(verdict((100.0, 0.4), (100.0, 0.4), 1.0), Verdict::Unchanged);
        assert_eq!(
            verdict((100.0, 0.6), (100.0, 0.6), 1.0),
            Verdict::Unchanged,
            "-1.2 to +1.2 %"
        );
        assert_eq!(
            verdict((100.0, 2.6), (100.0, 2.6), 1.0),
            Verdict::Inconclusive,
            "-5.1 to +5.3 %"
        );
        assert_eq!(
            verdict((100.0, 0.35), (100.8, 0.35), 1.0),
            Verdict::Inconclusive,
            "+0.1 to +1.5 %"
        );
    }

    #[test]
    fn a_rise_from_nothing_is_a_worsening_without_a_percentage() {
        let found = judge(counted(0.0, 0.0), counted(2.0, 0.0), None, 1.0);
        assert_eq!(
            (found.verdict, found.effect_percent, found.effect_high_percent),
            (Verdict::Regressed, None, None)
        );
        assert_eq!(found.reason, MetricReason::WorseFromZero);
        let gone = judge(counted(2.0, 0.0), counted(0.0, 0.0), None, 1.0);
        assert_eq!((gone.verdict, gone.effect_percent), (Verdict::Improved, Some(-100.0)));
        let nothing = judge(counted(0.0, 0.0), counted(0.0, 0.0), None, 1.0);
        assert_eq!(
            (nothing.verdict, nothing.effect_percent),
            (Verdict::Unchanged, Some(0.0))
        );
        assert_eq!(verdict((0.0, 0.0), (0.01, 0.02), 1.0), Verdict::Inconclusive);
    }

    #[test]
    fn the_smallest_worsening_seen_is_the_margin_where_nothing_varies() {
        let seen = |spread, margin| {
            judge(counted(100.0, spread), counted(100.0, spread), None, margin)
                .resolvable_percent
                .unwrap()
        };
        assert!((seen(0.0, 1.0) - 1.0).abs() < 1e-9 && seen(0.0, 0.0).abs() < 1e-9);
        assert!(seen(0.2, 0.0) > 0.39 && seen(0.5, 1.0) > 1.0);
    }

    fn margin() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.0), Just(1.0), 0.1_f64..20.0]
    }

    fn figure() -> impl Strategy<Value = (f64, f64)> {
        (
            prop_oneof![Just(0.0), 0.01_f64..1e9],
            prop_oneof![Just(0.0), 0.0_f64..1.0],
        )
            .prop_map(|(value, share)| (value, value * share))
    }

    proptest! {
        #[test]
        fn equal_values_never_change_whatever_the_spreads(value in 0.0_f64..1e9, one in 0.0_f64..1e9, other in 0.0_f64..1e9, margin in margin()) {
            let found = verdict((value, one), (value, other), margin);
            prop_assert!(!matches!(found, Verdict::Regressed | Verdict::Improved), "{:?}", found);
        }

        #[test]
        fn a_worsening_of_the_margin_is_always_found(value in 0.01_f64..1e9, margin in 0.01_f64..50.0, shares in (0.0_f64..=1.0, 0.0_f64..=1.0)) {
            let tenth = value * margin / 1000.0;
            let candidate = value * (1.0 + margin / 100.0);
            prop_assert_eq!(verdict((value, shares.0 * tenth), (candidate, shares.1 * tenth), margin), Verdict::Regressed);
        }

        #[test]
        fn an_improvement_turned_round_is_a_regression_and_nothing_within_the_margin_is_an_improvement(one in figure(), other in figure(), margin in margin()) {
            let (there, back) = (judge(counted(one.0, one.1), counted(other.0, other.1), None, margin), verdict(other, one, margin));
            if there.verdict == Verdict::Improved {
                prop_assert_eq!(back, Verdict::Regressed);
                let high = there.effect_high_percent.unwrap();
                prop_assert!(high < 0.0 && high <= (1.0 / (1.0 + margin / 100.0) - 1.0) * 100.0 + 1e-6);
            }
        }

        #[test]
        fn what_is_called_unchanged_excludes_the_margin_or_contains_no_change_and_excludes_5_percent(one in figure(), other in figure(), margin in margin()) {
            let found = judge(counted(one.0, one.1), counted(other.0, other.1), None, margin);
            if found.verdict == Verdict::Unchanged {
                let least = found.effect_low_percent.unwrap_or(f64::NEG_INFINITY);
                let excluded = if margin > 0.0 && least > 1e-6 { margin } else { margin.max(OPEN_PERCENT) };
                prop_assert!(found.worse_at_most_percent.unwrap() < excluded);
            }
            for number in [found.effect_percent, found.effect_low_percent, found.effect_high_percent, found.worse_at_most_percent, found.resolvable_percent, found.spread_percent] {
                prop_assert!(number.is_none_or(f64::is_finite));
            }
        }

        #[test]
        fn a_worsening_of_the_smallest_size_seen_is_found(value in 0.1_f64..1e6, shares in (0.0_f64..0.05, 0.0_f64..0.05), margin in margin()) {
            let base = counted(value, value * shares.0);
            let seen = judge(base, counted(value, value * shares.1), None, margin).resolvable_percent.unwrap();
            let worse = |percent: f64| { let value = value * (1.0 + percent / 100.0); counted(value, value * shares.1) };
            prop_assert_eq!(judge(base, worse(seen + 0.001), None, margin).verdict, Verdict::Regressed);
            prop_assert!(seen < 0.01 || judge(base, worse(seen * 0.99 - 0.001), None, margin).verdict != Verdict::Regressed);
        }
    }
}
