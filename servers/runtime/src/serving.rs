//! Settings of a running server: when to stop, and what every request does besides its response.

use crate::metrics::Metrics;
use crate::{Stop, Waste};

/// Settings of a running server.
#[derive(Clone, Debug)]
pub struct Serving {
    /// When to stop.
    pub stop: Stop,
    /// Resources to waste in every request, if any.
    pub waste: Option<Waste>,
    /// Counts every request, if metrics are enabled.
    pub metrics: Option<Metrics>,
}
