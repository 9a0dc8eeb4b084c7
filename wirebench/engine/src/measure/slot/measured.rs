//! The measured values of a slot.

use std::time::Duration;

use crate::measure::drive::DriverStats;
use wirebench_record::run::Ping;

/// The measured values of a slot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// What was measured of server and driver during the load.
    pub driven: DriverStats,
    /// From exec to ready.
    pub ready_after: Option<Duration>,
    /// The server's largest resident memory, bytes.
    pub peak_rss_bytes: Option<u64>,
    /// Body or message bytes of one right response.
    pub payload_bytes: Option<u64>,
    /// Wall time with a driver running, warm-up included.
    pub loading: Duration,
    /// Why the probe after the load failed; `None` if it did not.
    pub wrong_afterwards: Option<String>,
    /// Round-trip times between the driver's and the server's host, before the load; `None` on one machine.
    pub ping: Option<Ping>,
}
