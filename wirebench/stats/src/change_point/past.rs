//! Level and noise of the values before a place, by robust measures.

use crate::quantile::median;

/// The likelihood's scale is at least this, so that rows without any noise have one.
const LEAST_SCALE: f64 = 0.0025;
/// The level and scale of the values just before a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Past {
    pub(super) median: f64,
    /// Scale of the Laplace law: the mean distance from the median, from robust measures.
    pub(super) scale: f64,
}

impl Past {
    /// Of values in ascending order.
    #[expect(clippy::cast_precision_loss, reason = "counts of at most 30")]
    pub(super) fn of(ascending: &[f64]) -> Self {
        let n = ascending.len();
        if n == 0 {
            return Self {
                median: 0.0,
                scale: f64::INFINITY,
            };
        }
        let median = middle_of(ascending);
        // Both measure a standard deviation; the wider one is taken, because either can be blind to the noise it gets.
        let by_tenths = (ascending[n - 1 - n / 10] - ascending[n / 10]) / 2.563;
        let by_quarters = (ascending[n - 1 - n / 4] - ascending[n / 4]) / 1.349;
        let spread = by_tenths.max(by_quarters);
        // √(2/π) = 0.8 of a standard deviation is the mean distance; a few values show less of the noise than there is.
        let scale = (0.8 * spread).max(LEAST_SCALE) * (1.0 + 2.0 / n as f64);
        Self { median, scale }
    }

    /// The log-likelihood ratio of values for a level of their own over this one.
    pub(super) fn gain(&self, values: &[f64], own: f64) -> f64 {
        let nearer: f64 = values
            .iter()
            .map(|value| (value - self.median).abs() - (value - own).abs())
            .sum();
        nearer / self.scale
    }
}

/// The median of values, which are not empty.
pub(super) fn middle(values: &[f64]) -> f64 {
    median(values).expect("both sides of a step hold values")
}

/// The median of values in ascending order, which are not empty.
pub(super) fn middle_of(ascending: &[f64]) -> f64 {
    let n = ascending.len();
    f64::midpoint(ascending[(n - 1) / 2], ascending[n / 2])
}

/// The median distance from the median, of values in ascending order: walks outwards from the middle.
pub(super) fn deviation(ascending: &[f64], median: f64) -> f64 {
    let n = ascending.len();
    let (mut below, mut above) = (n / 2, n / 2);
    let mut farthest = [0.0; 2];
    for _ in 0..=n / 2 {
        let down = below.checked_sub(1).map(|place| median - ascending[place]);
        let up = ascending.get(above).map(|value| value - median);
        let next = match (down, up) {
            (Some(down), Some(up)) if down < up => {
                below -= 1;
                down
            }
            (Some(down), None) => {
                below -= 1;
                down
            }
            (_, Some(up)) => {
                above += 1;
                up
            }
            (None, None) => break,
        };
        farthest = [farthest[1], next];
    }
    if n % 2 == 1 {
        farthest[1]
    } else {
        f64::midpoint(farthest[0], farthest[1])
    }
}
