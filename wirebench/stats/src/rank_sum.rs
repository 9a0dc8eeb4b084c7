//! The aligned rank-sum test for pairs measured back to back: whether the second arm is worse than the first by more
//! than a margin.
//!
//! It is valid because it is random which arm of a pair is measured first: if the second arm were exactly the first one
//! times the margin, exchanging the two values of any pair would change nothing, whatever drift, autocorrelation,
//! outliers or distribution the machine has. Values are compared after subtracting their neighbourhood's level, so that
//! slow drift does not widen the test (aligned ranks: Hodges and Lehmann, 1962).

use crate::quantile::median;
use crate::subset_sums::chances;

/// A pair is left out if one of its values is further than this from its neighbours, in robust standard deviations.
const FAR: f64 = 3.5;
/// Nor is a value an outlier that lies within half a percent of its neighbours: memory and counters move in steps.
const NEAR: f64 = 0.005;
/// Pairs to each side that form a neighbourhood.
const REACH: usize = 2;
/// Makes the median of the larger deviation of each pair estimate the standard deviation of normal values: 1 ÷ the standard
/// normal quantile of (1 + √½) ÷ 2.
const LARGER_TO_SD: f64 = 0.950_8;

/// Which pairs are used, and why the others are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptPairs {
    /// Indices of the pairs used, ascending.
    pub pairs: Vec<usize>,
    /// Pairs left out because of their first value.
    pub far_first: usize,
    /// Pairs left out because of their second value; a pair may count in both.
    pub far_second: usize,
}

/// Leaves out every pair with a value far from its neighbours, after subtracting the median paired difference. The rule
/// is symmetric in the two values of a pair: the test stays exact, and a large effect, which all pairs share, gives no
/// outliers. What is far is measured by the larger deviation of each pair, so that a side that hardly varies does not make
/// outliers of the other side's usual values, and at least half of the pairs are always kept.
///
/// # Panics
/// When the arms are not equally long: they are the two halves of pairs.
pub fn without_outliers(first: &[f64], second: &[f64]) -> KeptPairs {
    let (a, b) = without_effect(first, second);
    let level = levels(&a, &b);
    let off = |arm: &[f64]| -> Vec<f64> { arm.iter().zip(&level).map(|(value, m)| (value - m).abs()).collect() };
    let (off_first, off_second) = (off(&a), off(&b));
    let larger: Vec<f64> = off_first.iter().zip(&off_second).map(|(a, b)| a.max(*b)).collect();
    let scale = LARGER_TO_SD * median(&larger).unwrap_or(0.0);
    let far = |off: f64| off > (FAR * scale).max(NEAR);
    KeptPairs {
        pairs: (0..first.len())
            .filter(|i| !far(off_first[*i]) && !far(off_second[*i]))
            .collect(),
        far_first: off_first.iter().filter(|off| far(**off)).count(),
        far_second: off_second.iter().filter(|off| far(**off)).count(),
    }
}

/// Both arms, with the greater value of each pair lowered by the median distance within pairs.
fn without_effect(first: &[f64], second: &[f64]) -> (Vec<f64>, Vec<f64>) {
    assert_eq!(first.len(), second.len(), "arms are the two halves of pairs");
    let apart: Vec<f64> = first.iter().zip(second).map(|(a, b)| (a - b).abs()).collect();
    let usual = median(&apart).unwrap_or(0.0);
    let lowered = |value: f64, other: f64| if value > other { value - usual } else { value };
    (first.iter().zip(second))
        .map(|(a, b)| (lowered(*a, *b), lowered(*b, *a)))
        .unzip()
}

/// The probability of pairs at least this unfavourable to `second` if it were exactly `margin` above `first`, and the pairs
/// used.
///
/// Arms hold logarithms of badness (greater is worse), `margin` is a difference of such logarithms. Exact for ties and for
/// any number of pairs; 1 for no pairs.
///
/// # Panics
/// When the arms are not equally long.
pub fn worse_by_more_than(first: &[f64], second: &[f64], margin: f64) -> (f64, KeptPairs) {
    let shifted: Vec<f64> = second.iter().map(|value| value - margin).collect();
    let kept = without_outliers(first, &shifted);
    let pick = |arm: &[f64]| -> Vec<f64> { kept.pairs.iter().map(|i| arm[*i]).collect() };
    let (a, h) = (pick(first), pick(&shifted));
    let (level_a, level_h) = without_effect(&a, &h);
    let level = levels(&level_a, &level_h);
    let aligned: Vec<f64> = (a.iter().zip(&level).map(|(value, m)| value - m))
        .chain(h.iter().zip(&level).map(|(value, m)| value - m))
        .collect();
    let ranks = doubled_mid_ranks(&aligned);
    let (ranks_a, ranks_h) = ranks.split_at(a.len());
    let gains: Vec<i64> = ranks_h.iter().zip(ranks_a).map(|(h, a)| h - a).collect();
    (sign_flip_tail(&gains), kept)
}

/// For each pair, the median of both arms over the pairs at most [`REACH`] away.
fn levels(first: &[f64], second: &[f64]) -> Vec<f64> {
    (0..first.len())
        .map(|i| {
            let near = i.saturating_sub(REACH)..(i + REACH + 1).min(first.len());
            let values: Vec<f64> = first[near.clone()].iter().chain(&second[near]).copied().collect();
            median(&values).expect("a pair is its own neighbour")
        })
        .collect()
}

/// Twice the rank of every value, equal values sharing the mean of their ranks; twice, so that they are whole.
fn doubled_mid_ranks(values: &[f64]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let value = values[order[from]];
        let upto = from + order[from..].iter().take_while(|i| same(values[**i], value)).count();
        // Ranks from + 1 ..= upto: their mean, doubled.
        let rank = i64::try_from(from + 1 + upto).expect("fewer values than 2^62");
        for i in &order[from..upto] {
            ranks[*i] = rank;
        }
        from = upto;
    }
    ranks
}

/// True if two aligned values are tied: subtracting a level rounds the last digits, which must not break a tie.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12
}

/// P(Σ ±|g| ≥ Σ g) over fair signs, by adding up the distribution of subset sums.
fn sign_flip_tail(gains: &[i64]) -> f64 {
    let sizes: Vec<usize> = gains
        .iter()
        .map(|gain| usize::try_from(gain.unsigned_abs()).expect("ranks fit"))
        .collect();
    // Σ ±|g| = 2·(sum of those with +) − Σ|g|: the sum of that subset must reach the sum of the positive gains.
    let reached: usize = gains.iter().filter_map(|gain| usize::try_from(*gain).ok()).sum();
    chances(sizes).iter().skip(reached).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The same tail by trying every combination of signs.
    fn brute(gains: &[i64]) -> f64 {
        let seen: i64 = gains.iter().sum();
        let mut hits = 0;
        for signs in 0u32..1 << gains.len() {
            let sum: i64 = gains
                .iter()
                .enumerate()
                .map(|(i, gain)| if signs >> i & 1 == 1 { gain.abs() } else { -gain.abs() })
                .sum();
            hits += u32::from(sum >= seen);
        }
        f64::from(hits) / f64::from(1u32 << gains.len())
    }

    proptest! {
        #[test]
        fn the_exact_tail_is_that_of_every_sign_tried(gains in prop::collection::vec(-20i64..20, 0..11)) {
            prop_assert!((sign_flip_tail(&gains) - brute(&gains)).abs() < 1e-12);
        }

        #[test]
        fn exchanging_the_arms_mirrors_the_test(
            pairs in prop::collection::vec((0.0f64..1.0, 0.0f64..1.0), 1..12)
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let (worse, kept) = worse_by_more_than(&a, &b, 0.0);
            let (better, mirrored) = worse_by_more_than(&b, &a, 0.0);
            prop_assert_eq!(kept.pairs, mirrored.pairs);
            // Together they count every arrangement once and the one seen twice.
            prop_assert!(worse + better >= 1.0 - 1e-9 && worse + better <= 2.0 + 1e-9);
        }

        #[test]
        fn a_drift_common_to_both_arms_changes_nothing_when_it_is_a_shift(
            pairs in prop::collection::vec((0.0f64..1.0, 0.0f64..1.0), 1..12), shift in -5.0f64..5.0
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let moved = |arm: &[f64]| -> Vec<f64> { arm.iter().map(|v| v + shift).collect() };
            let (p, q) = (worse_by_more_than(&a, &b, 0.1).0, worse_by_more_than(&moved(&a), &moved(&b), 0.1).0);
            prop_assert!((p - q).abs() < 1e-9);
        }

        #[test]
        fn a_greater_margin_never_makes_it_more_certain_on_quiet_values(k in 8usize..30, effect in 0.0f64..0.2) {
            let a = vec![0.0; k];
            let b = vec![effect; k];
            let p: Vec<f64> = [0.0, 0.05, 0.1, 0.3].map(|m| worse_by_more_than(&a, &b, m).0).to_vec();
            prop_assert!(p.is_sorted());
        }
    }

    #[test]
    fn a_side_that_hardly_varies_makes_no_outliers_of_the_other_side() {
        // Memory of 8 MB in pages on one side, 28 times as much and less steady on the other.
        let quiet = [0.0, 0.0, 0.0005, 0.0, 0.0, 0.0005, 0.0, 0.0, 0.0, 0.0005];
        let loud = [3.30, 3.34, 3.36, 3.31, 3.35, 3.33, 3.29, 3.37, 3.32, 3.34];
        assert_eq!(without_outliers(&quiet, &loud).pairs.len(), 10);
        assert_eq!(without_outliers(&loud, &quiet).pairs.len(), 10);
        // Steps far below a percent are no outliers, however many values are exactly equal.
        let steps = [1.0, 1.0, 1.002, 1.0, 1.0, 1.0, 1.002, 1.0, 1.002, 1.0];
        assert_eq!(without_outliers(&steps, &[1.0; 10]).pairs.len(), 10);
        // A round that is far off on one side still is one.
        let mut spoilt = loud;
        spoilt[4] = 4.0;
        let kept = without_outliers(&quiet, &spoilt);
        assert_eq!((kept.pairs.len(), kept.far_second), (9, 1));
    }

    #[test]
    fn equal_values_and_no_values_give_one() {
        assert!((worse_by_more_than(&[3.0; 12], &[3.0; 12], 0.0).0 - 1.0).abs() < 1e-12);
        assert!((worse_by_more_than(&[], &[], 0.0).0 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn complete_separation_gives_one_arrangement_in_two_to_the_pairs() {
        let (p, kept) = worse_by_more_than(&[0.0; 10], &[1.0; 10], 0.0);
        assert_eq!(kept.pairs.len(), 10);
        assert!((p - 1.0 / 1024.0).abs() < 1e-12, "{p}");
    }

    #[test]
    fn a_large_effect_with_an_outlier_costs_one_pair_not_its_neighbours() {
        let wave = |k: usize, level: f64| -> Vec<f64> { (0..k).map(|i| level + [0.0, 0.01, -0.01][i % 3]).collect() };
        let (mut a, b) = (wave(12, 0.0), wave(12, 0.7));
        a[5] += 0.4;
        assert_eq!(without_outliers(&a, &b).pairs, [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]);
    }

    #[test]
    fn one_far_value_costs_its_pair_whichever_arm_it_is_in() {
        let wave = |k: usize| -> Vec<f64> { (0..k).map(|i| [0.0, 0.01, -0.01][i % 3]).collect() };
        for (first, second) in [(9.0, 0.0), (0.0, 9.0)] {
            let (mut a, mut b) = (wave(12), wave(12));
            a[5] += first;
            b[5] += second;
            let kept = without_outliers(&a, &b);
            assert!(!kept.pairs.contains(&5));
            assert_eq!(
                (kept.far_first, kept.far_second),
                (usize::from(first > 0.0), usize::from(second > 0.0))
            );
        }
    }

    /// Under equal arms p is uniform: the largest gap between its distribution and the diagonal stays below the
    /// Kolmogorov–Smirnov bound at 0.1 %, although the machine drifts and holds its state from pair to pair.
    #[test]
    fn p_is_uniform_when_nothing_changed() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut found: Vec<f64> = (0..2000)
            .map(|_| {
                let mut state = 0.0;
                let (mut a, mut b) = (Vec::new(), Vec::new());
                for i in 0..20 {
                    state = 0.8 * state + random.random_range(-0.05..0.05);
                    let drift = 0.01 * f64::from(i);
                    a.push(state + drift + random.random_range(-0.03..0.03));
                    b.push(state + drift + random.random_range(-0.03..0.03));
                }
                worse_by_more_than(&a, &b, 0.0).0
            })
            .collect();
        found.sort_by(f64::total_cmp);
        let count = f64::from(u32::try_from(found.len()).unwrap());
        let gap = (found.iter().zip(1u32..))
            .map(|(p, i)| (f64::from(i) / count - p).abs())
            .fold(0.0, f64::max);
        assert!(gap < 1.95 / count.sqrt(), "largest gap {gap}");
    }

    /// Were the true effect exactly the margin, 5 % of comparisons may pass at 5 %, not more.
    #[test]
    fn an_effect_of_just_the_margin_passes_no_more_often_than_allowed() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let margin = 1.01_f64.ln();
        let passed = (0..2000)
            .filter(|_| {
                let mut noise = || random.random_range(-0.05..0.05_f64);
                let a: Vec<f64> = (0..20).map(|_| noise()).collect();
                let b: Vec<f64> = (0..20).map(|_| noise() + margin).collect();
                worse_by_more_than(&a, &b, margin).0 <= 0.05
            })
            .count();
        assert!(
            passed <= 133,
            "{passed} of 2,000: more than 5 % by over 3.3 standard errors"
        );
    }
}
