//! What is read off a round: each metric with its unit and the direction that is better.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::run::{Round, RoundStatus};

/// Answers a round needs before its 99th percentile is worth comparing.
pub const ENOUGH_FOR_P99: u64 = 10_000;

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// A number derived from one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Metric {
    /// Good answers per second.
    #[serde(rename = "throughput")]
    Throughput,
    /// Median latency, ns.
    #[serde(rename = "latency_p50")]
    LatencyP50,
    /// 99th percentile of latency, ns.
    #[serde(rename = "latency_p99")]
    LatencyP99,
    /// Server CPU time per good answer, ns.
    #[serde(rename = "server_cpu")]
    ServerCpu,
    /// Driver CPU time per good answer, ns.
    #[serde(rename = "driver_cpu")]
    DriverCpu,
    /// Largest resident memory of the server, bytes.
    #[serde(rename = "peak_rss")]
    PeakRss,
}

impl Metric {
    /// Those that say something of the server, the most telling first: compared, exported and kept in histories.
    pub const OF_SERVER: [Self; 5] = [
        Self::ServerCpu,
        Self::Throughput,
        Self::LatencyP50,
        Self::LatencyP99,
        Self::PeakRss,
    ];

    /// Its name in every file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::LatencyP50 => "latency_p50",
            Self::LatencyP99 => "latency_p99",
            Self::ServerCpu => "server_cpu",
            Self::DriverCpu => "driver_cpu",
            Self::PeakRss => "peak_rss",
        }
    }

    /// Its name for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::LatencyP50 => "latency p50",
            Self::LatencyP99 => "latency p99",
            Self::ServerCpu => "server CPU per request",
            Self::DriverCpu => "driver CPU per request",
            Self::PeakRss => "server peak RSS",
        }
    }

    /// The unit of its values.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "req/s",
            Self::LatencyP50 | Self::LatencyP99 | Self::ServerCpu | Self::DriverCpu => "ns",
            Self::PeakRss => "bytes",
        }
    }

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

    /// Its value where it can be compared: like [`Self::of`], but a 99th percentile only from enough answers, and
    /// nothing that is not above zero.
    #[must_use]
    pub fn comparable(self, round: &Round) -> Option<f64> {
        let enough = self != Self::LatencyP99 || round.ok_count? >= ENOUGH_FOR_P99;
        self.of(round)
            .filter(|value| enough && value.is_finite() && *value > 0.0)
    }
}
