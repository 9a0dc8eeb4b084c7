//! Other machines of a run, and the network between them and the driver.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::{Host, Run};

/// Another machine that took part in a run. Neither its name nor its address is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoteHost {
    /// What it did.
    pub role: HostRole,
    /// The machine.
    pub host: Host,
    /// By how much its clock was ahead of the driver's machine's, ns; null when it does not tell the time in ns.
    pub clock_offset_ns: Option<i64>,
    /// The offset is known to within this many ns in both directions: half the time that asking took.
    pub clock_uncertainty_ns: Option<u64>,
}

/// What a machine does in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostRole {
    /// The servers run on it.
    Server,
    /// The load generators run on it.
    Driver,
}

/// How long TCP handshakes with a server took while nothing else was sent: one way there and back each.
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

impl Run {
    /// The handshakes of all rounds: the median of their medians, ns, and how many of how many lost a packet. `None` where
    /// there were none.
    #[must_use]
    pub fn link(&self) -> Option<Link> {
        let rounds = self.series.iter().flat_map(|series| &series.rounds);
        let pings: Vec<Ping> = rounds.filter_map(|round| round.ping).collect();
        let mut medians: Vec<u64> = pings.iter().filter_map(|ping| ping.p50_ns).collect();
        medians.sort_unstable();
        Some(Link {
            p50_ns: *medians.get(medians.len().saturating_sub(1) / 2)?,
            max_ns: pings.iter().filter_map(|ping| ping.max_ns).max()?,
            sent: pings.iter().map(|ping| u64::from(ping.sent)).sum(),
            lost: pings.iter().map(|ping| u64::from(ping.lost)).sum(),
        })
    }
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
    /// Whether latencies over two links may be put beside each other: their medians differ by a quarter at most, or by less
    /// than 0.2 ms.
    #[must_use]
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
