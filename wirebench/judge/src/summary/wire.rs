//! The wire bytes of a timed series, which were counted for the same server and operation.

use crate::summary::counted;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Run, Series, Variant};

/// All bytes of a request and its response on the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WireBytes {
    /// Sent by the server.
    pub sent: f64,
    /// Received by the server.
    pub received: f64,
}

/// The counted bytes of the same server, protocol and operation (the scenario's name begins with the operation's), preferably
/// by the same driver. `None` if they were not counted.
#[must_use]
pub fn wire_bytes(run: &Run, series: &Series) -> Option<WireBytes> {
    let has_operation = |one: &Series| {
        let operation = one.scenario.strip_prefix("count-").unwrap_or(&one.scenario);
        let rest = series.scenario.strip_prefix(operation);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let same = |one: &&Series| one.server == series.server && one.protocol == series.protocol && has_operation(one);
    let mut matching: Vec<&Series> = counted(run).filter(same).collect();
    matching.sort_by_key(|one| one.driver != series.driver);
    let counts = matching.first()?.counts_of(Variant::Candidate)?;
    Some(WireBytes {
        sent: counts.value(Metric::WireBytesSent)?.0,
        received: counts.value(Metric::WireBytesReceived)?.0,
    })
}
