//! Wild values, a thousand times off the level or zero: one or two are left out, three in a row are a step. A time a thousand times
//! below every earlier one is no measurement, however often it occurs.

use wirebench_stats::quantile::median;

/// How many times above or below the level a value is wild.
const WILD_FACTOR: f64 = 1000.0;
/// This many wild values in a row are kept.
pub(super) const KEPT_IN_A_ROW: usize = 3;
/// The level is the median of this many values, at most.
const LEVEL_VALUES: usize = 30;
/// The first values are compared with the median of this many values.
const FIRST_VALUES: usize = 7;
/// A level of fewer values is not used.
const LEAST_VALUES: usize = 5;

/// What a value near zero means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NearZero {
    /// A value like any other: a rate, a count or a size may fall to zero.
    Value,
    /// A failure: whatever is done takes time.
    Failure,
}

/// Whether a value is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    /// It is.
    Kept,
    /// It is wild, and not one of three in a row.
    Wild,
    /// It is so near zero that it is no measurement.
    Failure,
}

/// For each value, which must not be below zero, whether it is judged.
pub(super) fn judged(values: &[f64], near_zero: NearZero) -> Vec<Judged> {
    let mut judged = vec![Judged::Kept; values.len()];
    let mut lowest = f64::INFINITY;
    // The values of the current level, and the places of the wild values since.
    let (mut level, mut wild): (Vec<f64>, Vec<usize>) = (Vec::new(), Vec::new());
    for (place, value) in values.iter().enumerate() {
        let newest = &level[level.len().saturating_sub(LEVEL_VALUES)..];
        let compared_with = if newest.len() < LEAST_VALUES {
            &values[..values.len().min(FIRST_VALUES)]
        } else {
            newest
        };
        let median = median(compared_with).unwrap_or(*value);
        if wild_side(*value, median) == 0 {
            wild.clear();
            level.push(*value);
            lowest = lowest.min(*value);
            continue;
        }
        // A way back to a level that was measured before is no failure: hence every earlier value, not the newest level.
        if near_zero == NearZero::Failure && value * WILD_FACTOR < lowest.min(median) {
            judged[place] = Judged::Failure;
            continue;
        }
        if wild.last().is_some_and(|last| wild_side(*value, values[*last]) != 0) {
            wild.clear();
        }
        wild.push(place);
        judged[place] = Judged::Wild;
        if wild.len() == KEPT_IN_A_ROW {
            level = wild.iter().map(|place| values[*place]).collect();
            // The new level is used at once.
            level.resize(LEAST_VALUES, *value);
            for place in wild.drain(..) {
                judged[place] = Judged::Kept;
                lowest = lowest.min(values[place]);
            }
        }
    }
    judged
}

/// 1 if a value is wildly above a level, −1 if it is wildly below, else 0. Zero is wildly below everything but zero.
fn wild_side(value: f64, level: f64) -> i8 {
    if value > level * WILD_FACTOR {
        1
    } else if value * WILD_FACTOR < level {
        -1
    } else {
        0
    }
}

/// The logarithms of values, which must not be below zero. Zero counts as a thousandth of the smallest value above zero.
pub(super) fn logarithms(values: &[f64]) -> Vec<f64> {
    let smallest = smallest_above_zero(values);
    let floor = if smallest.is_finite() {
        smallest / WILD_FACTOR
    } else {
        1.0
    };
    values.iter().map(|value| value.max(floor).ln()).collect()
}

/// The smallest value above zero; infinite if there is none.
pub(super) fn smallest_above_zero(values: &[f64]) -> f64 {
    let above_zero = values.iter().copied().filter(|value| *value > 0.0);
    above_zero.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(values: &[f64]) -> Vec<usize> {
        let judged = judged(values, NearZero::Value);
        (0..values.len())
            .filter(|place| judged[*place] != Judged::Kept)
            .collect()
    }

    fn failures(values: &[f64]) -> Vec<usize> {
        let judged = judged(values, NearZero::Failure);
        (0..values.len())
            .filter(|place| judged[*place] == Judged::Failure)
            .collect()
    }

    #[test]
    fn a_time_that_falls_to_nearly_nothing_is_a_failure_and_a_way_back_is_none() {
        let with = |value: f64| [vec![10.0; 8], vec![value; 6]].concat();
        for nothing in [0.0, 0.009] {
            assert_eq!(failures(&with(nothing)), [8, 9, 10, 11, 12, 13], "{nothing}");
            assert_eq!(left_out(&with(nothing)), [0; 0], "{nothing}");
        }
        assert_eq!(failures(&with(0.02)), [0; 0]);
        let there_and_back = [vec![10.0; 8], vec![20_000.0; 8], vec![10.0; 8]].concat();
        assert_eq!(failures(&there_and_back), [0; 0]);
        assert_eq!(left_out(&there_and_back), [0; 0]);
        // A clock too coarse for what it measures: its zeros are all that is known.
        assert_eq!(failures(&[vec![0.0; 8], vec![1.0; 8], vec![0.0; 8]].concat()), [0; 0]);
    }

    #[test]
    fn one_or_two_wild_values_are_left_out_and_three_are_a_step() {
        let mut row = vec![10.0; 8];
        row.extend([12_000.0, 10.0, 0.0, 0.0, 11.0]);
        assert_eq!(left_out(&row), [8, 10, 11]);
        row.extend([0.0, 0.0, 0.0, 0.0, 9.0]);
        // The way back is wild too, until it lasts.
        assert_eq!(left_out(&row), [8, 10, 11, 17]);
        row.extend([9.0, 9.0]);
        assert_eq!(left_out(&row), [8, 10, 11]);
    }

    #[test]
    fn wild_values_on_both_sides_do_not_add_up() {
        let row = [10.0, 10.0, 10.0, 10.0, 10.0, 1e6, 0.0, 1e6, 10.0];
        assert_eq!(left_out(&row), [5, 6, 7]);
    }

    #[test]
    fn a_row_may_begin_wildly_and_may_be_all_zero() {
        assert_eq!(left_out(&[1e9, 10.0, 10.0, 11.0, 10.0, 9.0]), [0]);
        assert_eq!(left_out(&[0.0; 5]), [0; 0]);
        assert_eq!(left_out(&[]), [0; 0]);
    }

    #[test]
    fn zero_has_a_logarithm_far_below_the_others() {
        let found = logarithms(&[0.0, 1.0, 1000.0]);
        assert!((found[1] - found[0] - 1000.0f64.ln()).abs() < 1e-9);
        assert_eq!(logarithms(&[0.0, 0.0]), [0.0, 0.0]);
    }
}
