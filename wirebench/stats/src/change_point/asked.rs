//! How clear a step must be, by the number of values after it.

use crate::change_point::SMALLEST_STEP;
use crate::change_point::past::Past;
use crate::mann_whitney::Level;

/// The conditions that the newest values must fulfil to be a step.
#[derive(Debug)]
pub(super) struct Ask {
    /// The number of values.
    pub(super) count: usize,
    /// How far apart the medians are, in scales: two standard errors of medians under normal noise.
    apart: f64,
    /// The log-likelihood ratio.
    pub(super) gain: f64,
    /// The largest probability of their ranks without a step.
    pub(super) level: Level,
    /// The smallest distance of their mean from the level before, in standard errors.
    pub(super) errors: f64,
}

impl Ask {
    const fn new(count: usize, apart: f64, gain: f64, level: Level, errors: f64) -> Self {
        Self {
            count,
            apart,
            gain,
            level,
            errors,
        }
    }

    /// The smallest distance of the medians.
    pub(super) fn least(&self, past: Past) -> f64 {
        SMALLEST_STEP.max(self.apart * past.scale)
    }
}

/// Not every large number of values is tested: it would take longer and find little more, and a step's place is
/// corrected later.
pub(super) const ASKED: [Ask; 11] = [
    Ask::new(3, 2.50, 7.5, Level::Fiftieth, 3.65),
    Ask::new(4, 1.75, 7.0, Level::Fiftieth, 3.65),
    Ask::new(5, 1.51, 5.0, Level::Fiftieth, 3.65),
    Ask::new(6, 1.40, 5.0, Level::Fiftieth, 3.65),
    Ask::new(7, 1.31, 5.0, Level::Fiftieth, 3.65),
    Ask::new(8, 1.25, 5.0, Level::Thousandth, 3.9),
    Ask::new(10, 1.14, 5.0, Level::Thousandth, 3.9),
    Ask::new(13, 1.04, 5.0, Level::Thousandth, 4.3),
    Ask::new(17, 0.95, 5.0, Level::Thousandth, 4.3),
    Ask::new(22, 0.88, 5.0, Level::Thousandth, 4.3),
    Ask::new(30, 0.81, 5.0, Level::Thousandth, 4.3),
];
