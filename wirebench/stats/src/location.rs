//! Location of differences: the Hodges–Lehmann estimate, its signed-rank interval, their standard deviation, and the
//! resolvable effect.

use crate::quantile::median_of_sorted;
use crate::subset_sums::chances;
use statrs::distribution::{ContinuousCDF as _, Normal};

/// The probability with which a worsening of the resolvable size is found.
pub const POWER: f64 = 0.8;
/// For normal values, the standard deviation of the Hodges–Lehmann estimate is that of the mean divided by about this.
const EFFICIENCY: f64 = 0.95;

/// The estimate, and bounds around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Location {
    /// Hodges–Lehmann estimate: the median of the means of all pairs of differences.
    pub estimate: f64,
    /// Lower end of the two-sided 95 % interval; `None` for fewer than 6 differences.
    pub low: Option<f64>,
    /// Upper end of the two-sided 95 % interval.
    pub high: Option<f64>,
    /// Upper end of the one-sided 95 % interval; `None` for fewer than 5 differences.
    pub at_most: Option<f64>,
}

/// Locates the differences; `None` without differences.
pub fn locate(differences: &[f64]) -> Option<Location> {
    let mut walsh = Vec::with_capacity(differences.len() * (differences.len() + 1) / 2);
    for (i, a) in differences.iter().enumerate() {
        walsh.extend(differences[i..].iter().map(|b| f64::midpoint(*a, *b)));
    }
    if walsh.is_empty() {
        return None;
    }
    walsh.sort_by(f64::total_cmp);
    let cut = |tail| signed_rank_cut(differences.len(), tail);
    let two = cut(0.025);
    Some(Location {
        estimate: median_of_sorted(&walsh),
        low: two.map(|below| walsh[below]),
        high: two.map(|below| walsh[walsh.len() - 1 - below]),
        at_most: cut(0.05).map(|below| walsh[walsh.len() - 1 - below]),
    })
}

/// How many of the smallest Walsh averages lie outside an interval that misses on one side with at most the chance
/// `tail`: the largest c with P(signed-rank statistic < c) ≤ `tail`; `None` if the interval of all averages misses more often.
fn signed_rank_cut(count: usize, tail: f64) -> Option<usize> {
    let mut below = 0.0;
    for (c, probability) in chances(1..=count).iter().enumerate() {
        below += probability;
        if below > tail {
            return c.checked_sub(1);
        }
    }
    None
}

/// Sample standard deviation; `None` for fewer than two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    Some((values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt())
}

/// The smallest effect found with the chance `power`, when differences have the standard deviation `sd`, `pairs` of them are
/// used, and one of `tests` tests at `alpha` must pass. In the unit of `margin` and `sd`.
pub fn resolvable(margin: f64, sd: f64, pairs: usize, alpha: f64, tests: usize, power: f64) -> f64 {
    let error = sd / (EFFICIENCY * (pairs.max(1) as f64).sqrt());
    margin + (z(1.0 - alpha / tests.max(1) as f64) + z(power)) * error
}

/// The number of pairs that makes `effect` resolvable; `None` if it is not above the margin.
#[expect(clippy::cast_sign_loss, reason = "saturates, and is positive")]
pub fn pairs_to_resolve(effect: f64, margin: f64, sd: f64, alpha: f64, tests: usize, power: f64) -> Option<u32> {
    let room = effect - margin;
    let z = z(1.0 - alpha / tests.max(1) as f64) + z(power);
    (room > 0.0).then(|| (z * sd / (EFFICIENCY * room)).powi(2).ceil() as u32)
}

/// The standard normal quantile.
fn z(share: f64) -> f64 {
    Normal::standard().inverse_cdf(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Cuts as in the published table of critical values of the signed-rank statistic (one-sided): reject at T ≤ critical.
    #[test]
    fn cuts_are_those_of_the_published_table() {
        for (count, tail, critical) in [
            (6, 0.025, 0),
            (8, 0.025, 3),
            (10, 0.025, 8),
            (20, 0.025, 52),
            (30, 0.025, 137),
            (5, 0.05, 0),
            (10, 0.05, 10),
            (25, 0.05, 100),
        ] {
            assert_eq!(signed_rank_cut(count, tail), Some(critical), "{count} at {tail}");
        }
        assert_eq!(signed_rank_cut(5, 0.025), None);
        assert_eq!(signed_rank_cut(4, 0.05), None);
        assert_eq!(signed_rank_cut(0, 0.05), None);
    }

    #[test]
    #[expect(clippy::approx_constant, reason = "a measured 3.14")]
    fn the_estimate_of_the_textbook_depression_data() {
        // Hollander and Wolfe, Nonparametric Statistical Methods, table 3.1: estimate −0.46, 95 % interval −0.786 … −0.01.
        let x = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> = y.iter().zip(x).map(|(y, x)| y - x).collect();
        let found = locate(&differences).unwrap();
        assert!((found.estimate + 0.46).abs() < 1e-9, "{found:?}");
        assert!((found.low.unwrap() + 0.786).abs() < 1e-9, "{found:?}");
        assert!((found.high.unwrap() + 0.01).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn few_values_have_an_estimate_but_no_interval() {
        let found = locate(&[1.0, 3.0]).unwrap();
        assert!((found.estimate - 2.0).abs() < 1e-12);
        assert_eq!((found.low, found.high, found.at_most), (None, None, None));
        assert_eq!(locate(&[]), None);
    }

    #[test]
    fn planned_pairs_resolve_what_they_were_planned_for() {
        let pairs = pairs_to_resolve(0.05, 0.01, 0.08, 0.04, 3, 0.9).unwrap();
        let found = resolvable(0.01, 0.08, pairs as usize, 0.04, 3, 0.9);
        assert!(found <= 0.05 && found > 0.049, "{pairs} pairs resolve {found}");
        assert_eq!(pairs_to_resolve(0.01, 0.01, 0.08, 0.05, 3, 0.9), None);
    }

    proptest! {
        #[test]
        fn bounds_hold_the_estimate_and_move_with_the_values(
            values in prop::collection::vec(-1.0f64..1.0, 6..40), shift in -3.0f64..3.0
        ) {
            let found = locate(&values).unwrap();
            prop_assert!(found.low.unwrap() <= found.estimate && found.estimate <= found.high.unwrap());
            prop_assert!(found.at_most.unwrap() <= found.high.unwrap());
            let moved: Vec<f64> = values.iter().map(|v| v + shift).collect();
            prop_assert!((locate(&moved).unwrap().estimate - found.estimate - shift).abs() < 1e-9);
        }

        #[test]
        fn turning_the_sign_turns_the_interval(values in prop::collection::vec(-1.0f64..1.0, 6..40)) {
            let (found, turned) = (locate(&values).unwrap(), locate(&values.iter().map(|v| -v).collect::<Vec<_>>()).unwrap());
            prop_assert!((found.low.unwrap() + turned.high.unwrap()).abs() < 1e-12);
            prop_assert!((found.estimate + turned.estimate).abs() < 1e-12);
        }
    }
}
