//! Quantiles by nearest rank, and the median of a few numbers with its interval.

use statrs::distribution::{Binomial, DiscreteCDF as _};

/// The smallest value that at least the share `permille`/1000 of the sorted values do not exceed (nearest rank).
///
/// # Panics
/// When `sorted` is empty or `permille` is 0 or above 1000: callers check both.
pub fn nearest_rank(sorted: &[u64], permille: u16) -> u64 {
    assert!((1..=1000).contains(&permille), "a share lies in 1..=1000 ‰");
    let rank = (sorted.len() * usize::from(permille)).div_ceil(1000);
    sorted[rank - 1]
}

/// The median: the mean of the two middle values if their number is even; `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty()).then(|| median_of_sorted(&sorted))
}

/// The median of values in ascending order; there must be some.
pub(crate) fn median_of_sorted(ascending: &[f64]) -> f64 {
    let n = ascending.len();
    f64::midpoint(ascending[(n - 1) / 2], ascending[n / 2])
}

/// The interval that contains the median of the distribution with a probability of at least 95 %, by order statistics: no
/// distribution is assumed. `None` with fewer than six values.
pub fn median_interval(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let heads = Binomial::new(0.5, u64::try_from(sorted.len()).ok()?).ok()?;
    // The median lies below the k-th value only if fewer than k values lie below the median.
    let outside = |k: usize| 2.0 * heads.cdf(k as u64 - 1);
    let k = (1..=sorted.len() / 2).take_while(|k| outside(*k) <= 0.05).last()?;
    Some((sorted[k - 1], sorted[sorted.len() - k]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_interval_of_a_median_has_the_ranks_of_the_binomial_distribution() {
        // Ranks from tables of the sign test at 5 %, two-sided: 6 → 1, 9 → 2, 12 → 3, 20 → 6, 100 → 40.
        for (n, rank) in [(6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (100, 40)] {
            let values: Vec<f64> = (1..=n).map(f64::from).rev().collect();
            let expected = (f64::from(rank), f64::from(n + 1 - rank));
            assert_eq!(median_interval(&values), Some(expected), "{n}");
        }
        assert_eq!(median_interval(&[1.0; 5]), None);
        assert_eq!(median_interval(&[]), None);
    }

    #[test]
    fn nearest_rank_on_the_textbook_example() {
        let values = [15, 20, 35, 40, 50];
        let found: Vec<u64> = [50, 300, 400, 500, 1000]
            .map(|share| nearest_rank(&values, share))
            .to_vec();
        assert_eq!(found, [15, 20, 20, 35, 50]);
    }

    #[test]
    fn median_of_none_one_two_and_three() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[4.0]), Some(4.0));
        assert_eq!(median(&[4.0, 2.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
    }

    proptest! {
        #[test]
        fn nearest_rank_is_the_smallest_value_that_covers_the_share(
            mut values in prop::collection::vec(0u64..1_000_000, 1..300), permille in 1u16..=1000
        ) {
            values.sort_unstable();
            let found = nearest_rank(&values, permille);
            let covered = |limit: u64| values.iter().filter(|v| **v <= limit).count() * 1000;
            let needed = values.len() * usize::from(permille);
            prop_assert!(covered(found) >= needed);
            if let Some(smaller) = values.iter().rev().find(|v| **v < found) {
                prop_assert!(covered(*smaller) < needed);
            }
        }

        #[test]
        fn quantiles_never_fall(mut values in prop::collection::vec(any::<u64>(), 1..300)) {
            values.sort_unstable();
            let row: Vec<u64> = [1, 500, 900, 950, 990, 999, 1000].map(|share| nearest_rank(&values, share)).to_vec();
            prop_assert!(row.is_sorted());
            prop_assert_eq!(row[6], values[values.len() - 1]);
        }
    }
}
