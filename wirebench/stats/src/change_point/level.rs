//! The level of values and their distance from it, by robust measures.

use crate::quantile::{median, median_of_sorted};

/// The smallest scale of the likelihood, for rows without noise.
const LEAST_SCALE: f64 = 0.0025;
/// A distance from a level that needs no test: ln 100.
const FAR: f64 = 2.0 * std::f64::consts::LN_10;

/// The level and scale of the values just before a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct PriorLevel {
    pub(super) median: f64,
    /// Scale of the Laplace law: the mean distance from the median, from robust measures.
    pub(super) scale: f64,
}

impl PriorLevel {
    /// The level of values in ascending order.
    pub(super) fn of(ascending: &[f64]) -> Self {
        let n = ascending.len();
        if n == 0 {
            return Self {
                median: 0.0,
                scale: f64::INFINITY,
            };
        }
        let median = median_of_sorted(ascending);
        // Both estimate a standard deviation. Either can miss some kinds of noise, so the larger one is used.
        let by_tenths = (ascending[n - 1 - n / 10] - ascending[n / 10]) / 2.563;
        let by_quarters = (ascending[n - 1 - n / 4] - ascending[n / 4]) / 1.349;
        let spread = by_tenths.max(by_quarters);
        // The mean distance is √(2/π) = 0.8 standard deviations. Few values underestimate the noise.
        let scale = (0.8 * spread).max(LEAST_SCALE) * (1.0 + 2.0 / n as f64);
        Self { median, scale }
    }

    /// The log-likelihood ratio of values for a level of their own over this one.
    pub(super) fn likelihood_ratio(&self, values: &[f64], own: f64) -> f64 {
        let nearer: f64 = values
            .iter()
            .map(|value| (value - self.median).abs() - (value - own).abs())
            .sum();
        nearer / self.scale
    }
}

/// The median of values; there must be some.
pub(super) fn median_of(values: &[f64]) -> f64 {
    median(values).expect("both sides of a step hold values")
}

/// Whether every value is a hundred times above, or below, a level: such a step needs no test.
pub(super) fn are_far(values: &[f64], level: f64, up: bool) -> bool {
    let mut distances = values
        .iter()
        .map(|value| if up { value - level } else { level - value });
    distances.all(|distance| distance >= FAR)
}
