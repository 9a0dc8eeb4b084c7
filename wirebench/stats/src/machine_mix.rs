//! Converts values from several kinds of machines to one kind. The difference between kinds is estimated from
//! neighbouring values, so that a change of the mix is no step, and a step does not change the estimate.

use std::collections::BTreeMap;

use crate::quantile::median;

/// The largest distance in a row at which two values of different kinds are neighbours.
const NEIGHBOURS: usize = 3;
/// Two kinds are compared from this many pairs of neighbours on.
const LEAST_PAIRS: usize = 6;

/// Values converted to their most frequent kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    /// The values minus the difference of their kind.
    pub values: Vec<f64>,
    /// For each value, whether its kind could be compared with the most frequent one.
    pub comparable: Vec<bool>,
}

/// Converts logarithms from several kinds of machines to the most frequent kind. `kinds` has one for each value.
///
/// # Panics
/// When there are not as many kinds as values.
pub fn convert<K: Copy + Ord>(values: &[f64], kinds: &[K]) -> Converted {
    assert_eq!(values.len(), kinds.len(), "every value has a kind");
    let known = most_frequent(kinds).map(|first| offsets(&differences(values, kinds), first));
    let offsets = known.unwrap_or_default();
    let moved = values.iter().zip(kinds);
    Converted {
        values: moved
            .map(|(value, kind)| value - offsets.get(kind).unwrap_or(&0.0))
            .collect(),
        comparable: kinds.iter().map(|kind| offsets.contains_key(kind)).collect(),
    }
}

fn most_frequent<K: Copy + Ord>(kinds: &[K]) -> Option<K> {
    let mut counts: BTreeMap<K, usize> = BTreeMap::new();
    for kind in kinds {
        *counts.entry(*kind).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(kind, _)| kind)
}

/// The differences of neighbours of two kinds, higher kind minus lower kind.
fn differences<K: Copy + Ord>(values: &[f64], kinds: &[K]) -> BTreeMap<(K, K), Vec<f64>> {
    let mut by_pair: BTreeMap<(K, K), Vec<f64>> = BTreeMap::new();
    for late in 1..values.len() {
        let mut seen = vec![kinds[late]];
        for early in (late.saturating_sub(NEIGHBOURS)..late).rev() {
            if seen.contains(&kinds[early]) {
                continue;
            }
            seen.push(kinds[early]);
            let difference = values[late] - values[early];
            let (pair, difference) = if kinds[early] < kinds[late] {
                ((kinds[early], kinds[late]), difference)
            } else {
                ((kinds[late], kinds[early]), -difference)
            };
            by_pair.entry(pair).or_default().push(difference);
        }
    }
    by_pair.retain(|_, differences| differences.len() >= LEAST_PAIRS);
    by_pair
}

/// The distance of each kind from the first, along the best-known pairs.
fn offsets<K: Copy + Ord>(differences: &BTreeMap<(K, K), Vec<f64>>, first: K) -> BTreeMap<K, f64> {
    let mut known = BTreeMap::from([(first, 0.0)]);
    loop {
        let next = differences
            .iter()
            .filter(|((low, high), _)| known.contains_key(low) != known.contains_key(high))
            .max_by_key(|(_, differences)| differences.len());
        let Some(((low, high), differences)) = next else {
            return known;
        };
        let apart = shrunk(differences);
        if let Some(base) = known.get(low).copied() {
            known.insert(*high, base + apart);
        } else if let Some(base) = known.get(high).copied() {
            known.insert(*low, base - apart);
        }
    }
}

/// The median difference, shrunk towards zero by its standard error (James and Stein).
fn shrunk(differences: &[f64]) -> f64 {
    let Some(middle) = median(differences) else { return 0.0 };
    let distances: Vec<f64> = differences.iter().map(|one| (one - middle).abs()).collect();
    let spread = 1.4826 * median(&distances).unwrap_or(0.0);
    let error = 1.25 * spread / (differences.len() as f64).sqrt();
    if middle.abs() <= error {
        return 0.0;
    }
    middle * (1.0 - (error / middle).powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kinds_differ_by_is_taken_away_and_a_step_stays() {
        // Kind 7 lies 0.05 higher; at 30 all of them go up by 0.25.
        let kinds: Vec<u32> = (0..60).map(|place| if place * 5 % 7 < 3 { 7 } else { 2 }).collect();
        let value = |(place, kind): (usize, &u32)| {
            let noise = [0.0, 0.002, -0.003, 0.001][place % 4];
            noise + if *kind == 7 { 0.05 } else { 0.0 } + if place >= 30 { 0.25 } else { 0.0 }
        };
        let values: Vec<f64> = kinds.iter().enumerate().map(value).collect();
        let found = convert(&values, &kinds);
        assert!(found.comparable.iter().all(|known| *known));
        for (place, value) in found.values.iter().enumerate() {
            let level = if place >= 30 { 0.25 } else { 0.0 };
            assert!((value - level).abs() < 0.008, "{place}: {value}");
        }
    }

    #[test]
    fn kinds_that_never_met_cannot_be_compared() {
        let kinds: Vec<u32> = (0..40).map(|place| u32::from(place >= 20)).collect();
        let values = vec![0.5; 40];
        let found = convert(&values, &kinds);
        assert_eq!(found.values, values);
        assert_eq!(found.comparable.iter().filter(|known| **known).count(), 20);
        assert_eq!(convert(&values, &[3; 40]).comparable, vec![true; 40]);
    }
}
