//! What goes with answering besides the answers: when to stop, and what every request does on the side.

use crate::metrics::Metrics;
use crate::{Stop, Waste};

/// What a server is asked to do besides answering.
#[derive(Clone, Debug)]
pub struct Serving {
    /// When to stop.
    pub stop: Stop,
    /// What to spend in every request, when there is something.
    pub waste: Option<Waste>,
    /// What counts every request, when somebody wants to know.
    pub metrics: Option<Metrics>,
}
