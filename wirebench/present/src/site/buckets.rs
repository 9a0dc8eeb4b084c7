//! A long row summarised: the smallest, middle and largest of each of some hundred stretches.

use crate::site::encode::row;
use wirebench_record::site::{Buckets, Envelope, MOST_POINTS};
use wirebench_stats::quantile::median;

/// Stretches of a timeline, about as many as may be drawn, none across a break. `from` is the first place that has a value,
/// `end` the first after the last one, `breaks` are places at which a new stretch begins.
pub(super) fn stretches(from: usize, end: usize, breaks: &[usize]) -> Vec<usize> {
    let length = (end - from).div_ceil(MOST_POINTS).max(1);
    let mut edges: Vec<usize> = breaks.iter().copied().filter(|at| (from..end).contains(at)).collect();
    edges.insert(0, from);
    edges.push(end);
    let parts = edges.windows(2).flat_map(|part| (part[0]..part[1]).step_by(length));
    let mut parts: Vec<usize> = parts.collect();
    parts.dedup();
    parts
}

/// The buckets of a row and, when there are ratios, of these.
pub(super) fn buckets(from: Vec<usize>, end: usize, values: &[f64], ratios: &[f64]) -> Buckets {
    Buckets {
        value: envelope(&from, end, values),
        ratio: (!ratios.is_empty()).then(|| envelope(&from, end, ratios)),
        from,
    }
}

fn envelope(from: &[usize], end: usize, values: &[f64]) -> Envelope {
    let ends = from.iter().skip(1).copied().chain([end]);
    let stretches: Vec<Vec<f64>> = from
        .iter()
        .zip(ends)
        .map(|(start, end)| {
            values[*start..end]
                .iter()
                .copied()
                .filter(|value| value.is_finite())
                .collect()
        })
        .collect();
    let of = |pick: fn(&[f64]) -> Option<f64>| {
        let picked = stretches.iter().map(|stretch| pick(stretch).unwrap_or(f64::NAN));
        row(&picked.collect::<Vec<f64>>())
    };
    Envelope {
        min: of(|stretch| stretch.iter().copied().min_by(f64::total_cmp)),
        middle: of(median),
        max: of(|stretch| stretch.iter().copied().max_by(f64::total_cmp)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::encode::decoded;
    use proptest::prelude::*;

    #[test]
    fn a_peak_never_disappears_and_no_bucket_crosses_a_break() {
        let mut values = vec![100.0; 10_000];
        (values[5_003], values[7]) = (900.0, f64::NAN);
        let from = stretches(0, 10_000, &[5_004]);
        assert!(from.contains(&5_004), "{from:?}");
        assert!(from.len() <= MOST_POINTS + 1);
        let found = buckets(from.clone(), 10_000, &values, &[]);
        let peak = from.iter().rposition(|start| *start <= 5_003).unwrap();
        assert_eq!(decoded(&found.value.max)[peak], 900.0);
        assert_eq!(decoded(&found.value.max)[peak + 1], 100.0);
        assert_eq!(decoded(&found.value.min)[0], 100.0);
    }

    proptest! {
        #[test]
        fn stretches_cover_every_place_once(from in 0_usize..50, length in 1_usize..5_000, breaks in prop::collection::btree_set(0_usize..5_050, 0..5)) {
            let end = from + length;
            let breaks: Vec<usize> = breaks.into_iter().collect();
            let found = stretches(from, end, &breaks);
            prop_assert_eq!(found[0], from);
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(*found.last().unwrap() < end);
            prop_assert!(found.len() <= MOST_POINTS + breaks.len() + 1);
        }
    }
}
