//! Values far off everything before them: one or two are left out, three in a row are a step.

use wirebench_stats::quantile::median;

/// How many times above or below the level a value is wild.
const WILD: f64 = 1000.0;
/// So many wild values in a row are believed.
pub(super) const BELIEVED: usize = 3;
/// Values that the level is the median of, at most.
const LEVEL: usize = 30;
/// Values that the first ones are set against.
const FIRST: usize = 7;
/// Values for which a median is near enough to say that a value is not wild: it would have to move thirtyfold in them.
const FRESH: usize = 200;
/// Values of a level before anything is set against it alone.
const LEAST: usize = 5;

/// Which values of a row, none below zero, are believed. A wild one is not until it is one of three in a row.
pub(super) fn believed(values: &[f64]) -> Vec<bool> {
    let mut found = vec![true; values.len()];
    // Those that the level is made of, and the wild ones since.
    let (mut level, mut wild): (Vec<f64>, Vec<usize>) = (Vec::new(), Vec::new());
    // A middle of the level as it was some values ago: most values lie near it, and need no median.
    let mut near = Near::default();
    for (place, value) in values.iter().enumerate() {
        if near.holds(*value, level.len()) {
            wild.clear();
            level.push(*value);
            continue;
        }
        let newest = &level[level.len().saturating_sub(LEVEL)..];
        let against = if newest.len() < LEAST {
            &values[..values.len().min(FIRST)]
        } else {
            newest
        };
        let middle = median(against).unwrap_or(*value);
        near = Near::of(middle, newest.len(), level.len());
        let side = side(*value, middle);
        let same = wild.last().is_none_or(|last| {
            let before = values[*last];
            self::side(*value, before) == 0
        });
        if side == 0 {
            wild.clear();
            level.push(*value);
            continue;
        }
        if !same {
            wild.clear();
        }
        wild.push(place);
        found[place] = false;
        if wild.len() == BELIEVED {
            level = wild.iter().map(|place| values[*place]).collect();
            // A new level may be believed from its first values on.
            level.resize(LEAST, *value);
            near = Near::default();
            for place in wild.drain(..) {
                found[place] = true;
            }
        }
    }
    found
}

/// Values that are surely not wild: within a thirtieth and thirty times a median that is not old.
#[derive(Debug, Clone, Copy, Default)]
struct Near {
    middle: f64,
    /// How long the level was, and up to which length this counts.
    until: usize,
}

impl Near {
    /// Of the median of so many values, at the end of a level of so many.
    fn of(middle: f64, values: usize, length: usize) -> Self {
        Self {
            middle,
            until: if values < LEAST { 0 } else { length + FRESH },
        }
    }

    fn holds(self, value: f64, length: usize) -> bool {
        length < self.until && self.middle > 0.0 && value < 30.0 * self.middle && 30.0 * value > self.middle
    }
}

/// 1 for a value wildly above another, −1 for one wildly below, 0 for neither. Zero lies wildly below everything but zero.
fn side(value: f64, level: f64) -> i8 {
    if value > level * WILD {
        1
    } else if value * WILD < level {
        -1
    } else {
        0
    }
}

/// Logarithms of values of which none is below zero. Zero counts as a thousandth of the smallest value above it.
pub(super) fn logarithms(values: &[f64]) -> Vec<f64> {
    let smallest = values
        .iter()
        .copied()
        .filter(|value| *value > 0.0)
        .fold(f64::INFINITY, f64::min);
    let floor = if smallest.is_finite() { smallest / WILD } else { 1.0 };
    values.iter().map(|value| value.max(floor).ln()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(values: &[f64]) -> Vec<usize> {
        let believed = believed(values);
        (0..values.len()).filter(|place| !believed[*place]).collect()
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
