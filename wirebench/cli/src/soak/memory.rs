//! Whether memory stays flat: compares the first and the last quarter of readings over time. Pure.

use serde::Serialize;

use wirebench_stats::quantile::median;

/// Growth above this is no longer flat, percent.
pub(super) const FLAT_PERCENT: f64 = 5.0;

/// The memory of one process over a soak.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Drift {
    /// The process.
    pub(super) process: String,
    /// Median resident memory over the first quarter of the readings, bytes.
    pub(super) first_quarter_bytes: f64,
    /// The same over the last quarter.
    pub(super) last_quarter_bytes: f64,
    /// Growth from the first to the last quarter, in percent; negative if memory shrank.
    pub(super) drift_percent: f64,
    /// Whether it grew by no more than 5 %.
    pub(super) flat: bool,
}

/// The drift of readings in order of time; `None` if there are fewer than two.
#[expect(clippy::cast_precision_loss, reason = "memory stays far below 2^53 bytes")]
pub(super) fn drift(process: &str, readings: &[u64]) -> Option<Drift> {
    if readings.len() < 2 {
        return None;
    }
    let quarter = readings.len().div_ceil(4);
    let values: Vec<f64> = readings.iter().map(|bytes| *bytes as f64).collect();
    let first = median(&values[..quarter])?;
    let last = median(&values[values.len() - quarter..])?;
    let percent = (last - first) * 100.0 / first;
    Some(Drift {
        process: process.to_owned(),
        first_quarter_bytes: first,
        last_quarter_bytes: last,
        drift_percent: percent,
        flat: percent <= FLAT_PERCENT,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quarters_are_compared_by_their_medians() {
        let found = drift("p", &[100, 900, 102, 150, 200, 300, 210, 1, 211]).unwrap();
        assert_eq!((found.first_quarter_bytes, found.last_quarter_bytes), (102.0, 210.0));
        assert!(!found.flat);
        assert!(drift("p", &[100, 90]).unwrap().flat, "less is no leak");
        assert!(drift("p", &[1000, 1050]).unwrap().flat);
        assert!(!drift("p", &[1000, 1051]).unwrap().flat);
        assert_eq!(drift("p", &[7]), None);
    }

    proptest! {
        #[test]
        fn a_leak_is_never_flat_and_a_level_always(level in 1_000_000u64..1_000_000_000, n in 8usize..200) {
            prop_assert!(drift("p", &vec![level; n]).unwrap().flat);
            // Each reading is a twentieth larger.
            let leak: Vec<u64> = (0..n as u64).map(|turn| level + level / 20 * turn).collect();
            prop_assert!(!drift("p", &leak).unwrap().flat);
        }
    }
}
