//! The finding for a claim: whether the measurement agrees with the publication.

use crate::claims::judged::measured::MeasuredPair;
use crate::claims::publication::{Claim, Quantity};
use wirebench_judge::summary::head_to_head::Multiple;

/// Ratios of claims that differ from 1 by less than this are called equal, because no interval was published.
const EQUAL_WITHIN: f64 = 0.02;
/// A difference has vanished when its whole interval differs from 1 by less.
const VANISHED_WITHIN: f64 = 0.1;
/// A difference whose whole interval excludes this share of the published one, by logarithms, is far smaller, if there is any.
const EXCLUDED: f64 = 0.5;

/// The finding for a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Measured their way and on equal terms, the same side is better; or, for a claim of equality, both are equal within 10 %.
    Holds,
    /// Measured their way, the other side is better here.
    Contradicted,
    /// On equal terms the other side is better; measured their way it is not.
    Reverses,
    /// On equal terms neither side is better, within 10 %.
    Vanishes,
    /// Only on equal terms it holds.
    HoldsOnEqualTermsOnly,
    /// The interval on equal terms does not exclude equality, but excludes even half of the published difference.
    FarSmallerIfAny,
    /// The interval on equal terms neither excludes equality nor lies within 10 % of it.
    CannotTell,
    /// A series is missing or gave no figure.
    NotMeasured,
}

impl Finding {
    pub(super) fn of(claim: &Claim, theirs: Option<&MeasuredPair>, equal: Option<&MeasuredPair>) -> Self {
        let (Some(theirs), Some(equal)) = (theirs, equal) else {
            return Self::NotMeasured;
        };
        let claimed = if claims_equality(claim) {
            Better::Neither
        } else {
            by_value(claim.quantity, claim.values)
        };
        let [theirs_better, equal_better] = [theirs, equal].map(|measured| by_interval(claim, measured));
        let is_opposite = |better: Better| better != claimed && matches!(better, Better::First | Better::Second);
        match (theirs_better == claimed, equal_better == claimed) {
            (true, true) => Self::Holds,
            (false, true) => Self::HoldsOnEqualTermsOnly,
            _ if is_opposite(theirs_better) => Self::Contradicted,
            _ if is_opposite(equal_better) => Self::Reverses,
            _ if equal_better == Better::Neither => Self::Vanishes,
            _ if excludes_half(claim, equal) => Self::FarSmallerIfAny,
            _ => Self::CannotTell,
        }
    }
}

/// Whether the interval excludes half of the difference that is claimed.
fn excludes_half(claim: &Claim, measured: &MeasuredPair) -> bool {
    let [first, second] = claim.values;
    let half = EXCLUDED * (second / first).ln();
    let excludes = |times: Multiple| {
        if half < 0.0 {
            times.low.ln() > half
        } else {
            times.high.ln() < half
        }
    };
    !claims_equality(claim) && measured.times.is_some_and(excludes)
}

/// Whether a claim says that both sides are equal.
pub(super) fn claims_equality(claim: &Claim) -> bool {
    claim.called_equal || by_value(claim.quantity, claim.values) == Better::Neither
}

/// Which side is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    First,
    Second,
    /// They are equal within the limit.
    Neither,
    /// The interval is too wide to tell.
    Unclear,
}

/// Without an interval, figures are equal when they differ by at most 2 %.
fn by_value(quantity: Quantity, [first, second]: [f64; 2]) -> Better {
    if (second - first).abs() <= EQUAL_WITHIN * first.max(second) {
        return Better::Neither;
    }
    better(quantity, second > first)
}

const fn better(quantity: Quantity, second_is_more: bool) -> Better {
    if second_is_more == quantity.more_is_better() {
        Better::Second
    } else {
        Better::First
    }
}

/// Both sides are equal if the interval lies within 10 % of 1, and differ if it excludes 1. If both are true, the direction
/// decides for a claim whose difference is as small as that. With zeros, and so without a ratio, the medians decide.
fn by_interval(claim: &Claim, measured: &MeasuredPair) -> Better {
    let quantity = claim.quantity;
    let Some(times) = measured.times else {
        return by_value(quantity, measured.values);
    };
    let claims_small_difference = !claims_equality(claim) && {
        let [first, second] = claim.values;
        (second / first).max(first / second) <= 1.0 + VANISHED_WITHIN
    };
    let is_within = times.low >= 1.0 / (1.0 + VANISHED_WITHIN) && times.high <= 1.0 + VANISHED_WITHIN;
    match (is_within, times.is_clear()) {
        (true, true) if claims_small_difference => better(quantity, times.times > 1.0),
        (true, _) => Better::Neither,
        (false, true) => better(quantity, times.times > 1.0),
        (false, false) => Better::Unclear,
    }
}
