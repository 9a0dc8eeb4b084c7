//! Pings: TCP handshakes that were timed to know the network between the driver's and the server's host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long TCP handshakes with a server took while no load was sent: one round trip each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    /// Handshakes tried.
    pub sent: u32,
    /// Those that lost a packet: their times are not in the distribution.
    pub lost: u32,
    /// Smallest; null when all were lost, as are the others.
    pub min_ns: Option<u64>,
    /// The quantiles are by nearest rank.
    pub p50_ns: Option<u64>,
    /// 90 % took no longer.
    pub p90_ns: Option<u64>,
    /// Largest.
    pub max_ns: Option<u64>,
}

/// The network between a run's machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The median of the rounds' medians, ns there and back.
    pub p50_ns: u64,
    /// The longest that was not lost, ns.
    pub max_ns: u64,
    /// Handshakes tried.
    pub sent: u64,
    /// Those that lost a packet.
    pub lost: u64,
}

impl Link {
    /// Whether latencies over two links can be compared: their medians differ by at most a quarter, or by at most 0.2 ms.
    pub fn is_like(self, other: Self) -> bool {
        let (less, more) = (self.p50_ns.min(other.p50_ns), self.p50_ns.max(other.p50_ns));
        more - less <= (less / 4).max(200_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_alike_within_a_quarter_or_a_fifth_of_a_millisecond() {
        let link = |p50_ns| Link {
            p50_ns,
            max_ns: p50_ns,
            sent: 20,
            lost: 0,
        };
        assert!(link(100_000).is_like(link(290_000)));
        assert!(link(10_000_000).is_like(link(12_000_000)));
        assert!(!link(10_000_000).is_like(link(13_000_000)));
        assert!(!link(100_000).is_like(link(10_000_000)));
    }
}
