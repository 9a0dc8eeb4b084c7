//! Bytes on the wire that belong to a timed series: those counted of the same server for the same operation.

use crate::summary::counted;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Run, Series, Variant};

/// Bytes of a request and its answer on the wire, all of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WireBytes {
    /// Sent by the server.
    pub sent: f64,
    /// Received by the server.
    pub received: f64,
}

/// What was counted on the same server over the same protocol for the operation whose name the scenario's begins with, by the
/// same driver where there are several. None when nothing was.
#[must_use]
pub fn wire_bytes(run: &Run, series: &Series) -> Option<WireBytes> {
    let asks = |one: &Series| {
        let operation = one.scenario.strip_prefix("count-").unwrap_or(&one.scenario);
        let rest = series.scenario.strip_prefix(operation);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let same = |one: &&Series| one.server == series.server && one.protocol == series.protocol && asks(one);
    let mut found: Vec<&Series> = counted(run).filter(same).collect();
    found.sort_by_key(|one| one.driver != series.driver);
    let counts = found.first()?.counts_of(Variant::Candidate)?;
    Some(WireBytes {
        sent: counts.value(Metric::WireBytesSent)?.0,
        received: counts.value(Metric::WireBytesReceived)?.0,
    })
}
