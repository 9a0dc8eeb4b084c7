//! The conditions for a step, by the number of values after it.

use crate::change_point::level::PriorLevel;
use crate::mann_whitney::{LARGEST, Level};

/// The most values on either side of a step that are compared.
pub const WINDOW: usize = LARGEST;
/// Values after a step before it is reported.
pub const LEAST_AFTER: usize = 3;
/// Values before a step before it is reported.
pub const LEAST_BEFORE: usize = 5;
/// The smallest step reported, as a change of the logarithm: 2 %.
pub const SMALLEST_STEP: f64 = 0.019_802_627_296_179_713;

/// The conditions that the newest values must fulfil to be a step.
#[derive(Debug)]
pub(super) struct StepRule {
    /// The number of values.
    pub(super) count: usize,
    /// The distance of the medians, in scales: two standard errors of medians under normal noise.
    scales: f64,
    /// The log-likelihood ratio.
    pub(super) likelihood_ratio: f64,
    /// The largest probability of their ranks without a step.
    pub(super) level: Level,
    /// The smallest distance of their mean from the level before, in standard errors.
    pub(super) errors: f64,
}

impl StepRule {
    const fn new(count: usize, scales: f64, likelihood_ratio: f64, level: Level, errors: f64) -> Self {
        Self {
            count,
            scales,
            likelihood_ratio,
            level,
            errors,
        }
    }

    /// The smallest distance of the medians.
    pub(super) fn least_distance(&self, prior: PriorLevel) -> f64 {
        SMALLEST_STEP.max(self.scales * prior.scale)
    }
}

/// Not every number of values is tested: it would take longer and find little more, and a step's place is corrected later.
pub(super) const RULES: [StepRule; 11] = [
    StepRule::new(3, 2.50, 7.5, Level::Fiftieth, 3.65),
    StepRule::new(4, 1.75, 7.0, Level::Fiftieth, 3.65),
    StepRule::new(5, 1.51, 5.0, Level::Fiftieth, 3.65),
    StepRule::new(6, 1.40, 5.0, Level::Fiftieth, 3.65),
    StepRule::new(7, 1.31, 5.0, Level::Fiftieth, 3.65),
    StepRule::new(8, 1.25, 5.0, Level::Thousandth, 3.9),
    StepRule::new(10, 1.14, 5.0, Level::Thousandth, 3.9),
    StepRule::new(13, 1.04, 5.0, Level::Thousandth, 4.3),
    StepRule::new(17, 0.95, 5.0, Level::Thousandth, 4.3),
    StepRule::new(22, 0.88, 5.0, Level::Thousandth, 4.3),
    StepRule::new(30, 0.81, 5.0, Level::Thousandth, 4.3),
];
