//! The measurement of one request, from its head to the end of its response.

use std::time::Instant;

use super::Metrics;

/// A request in progress.
#[derive(Debug)]
pub(super) struct RequestTimer {
    metrics: Metrics,
    /// "http", "grpc" or "grpc-web".
    pub(super) protocol: &'static str,
    started: Instant,
}

impl RequestTimer {
    pub(super) fn start(metrics: Metrics, protocol: &'static str) -> Self {
        Self {
            metrics,
            protocol,
            started: Instant::now(),
        }
    }

    /// Counts the request, with the status of its response.
    pub(super) fn finish(&self, status: u32) {
        self.metrics
            .count_request(self.protocol, status, self.started.elapsed());
    }
}
