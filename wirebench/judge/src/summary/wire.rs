//! The wire bytes of a timed series: those counted for the same server and operation.

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

/// The counts of the same server and protocol for the operation with whose name the scenario's name begins; of several,
/// those by the same driver. `None` if there are no such counts.
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
