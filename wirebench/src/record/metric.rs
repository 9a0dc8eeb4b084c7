//! What is read off a round: each metric with its unit and the direction that is better.

use crate::record::run::{Round, RoundStatus};

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// A number derived from one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Good answers per second.
    Throughput,
    /// Median latency, ns.
    LatencyP50,
    /// 99th percentile of latency, ns.
    LatencyP99,
    /// Server CPU time per good answer, ns.
    ServerCpu,
    /// Driver CPU time per good answer, ns.
    DriverCpu,
    /// Largest resident memory of the server, bytes.
    PeakRss,
}

impl Metric {
    /// Which way is better.
    #[must_use]
    pub const fn better(self) -> Better {
        match self {
            Self::Throughput => Better::Higher,
            _ => Better::Lower,
        }
    }

    /// Its value in one round; none when the round is not ok or did not measure it.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts and times stay far below 2^53")]
    pub fn of(self, round: &Round) -> Option<f64> {
        if round.status != RoundStatus::Ok {
            return None;
        }
        let ok = round.ok_count.filter(|count| *count > 0)? as f64;
        match self {
            Self::Throughput => {
                let elapsed = round.elapsed_ns.filter(|ns| *ns > 0)?;
                Some(ok / (elapsed as f64 / 1e9))
            }
            Self::LatencyP50 => Some(round.latency_ns?.p50 as f64),
            Self::LatencyP99 => Some(round.latency_ns?.p99 as f64),
            Self::ServerCpu => Some(round.server_cpu_ns?.total() as f64 / ok),
            Self::DriverCpu => Some(round.driver_cpu_ns?.total() as f64 / ok),
            Self::PeakRss => Some(round.server_peak_rss_bytes? as f64),
        }
    }
}
