//! Metrics: each with its name, unit and the direction that is better.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::{Round, RoundStatus};

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
    /// Instructions of the server per request, counted.
    #[serde(rename = "instructions")]
    Instructions,
    /// Heap allocations of the server per request, counted.
    #[serde(rename = "allocations")]
    Allocations,
    /// Heap bytes that the server allocates per request, counted.
    #[serde(rename = "allocated_bytes")]
    AllocatedBytes,
    /// System calls of the server per request, counted.
    #[serde(rename = "syscalls")]
    Syscalls,
    /// Bytes that the server sends per request, all of them: headers, framing, encryption.
    #[serde(rename = "wire_bytes_sent")]
    WireBytesSent,
    /// Bytes that the server receives per request, likewise.
    #[serde(rename = "wire_bytes_received")]
    WireBytesReceived,
    /// TCP segments with data that the server sends per request.
    #[serde(rename = "segments_sent")]
    SegmentsSent,
    /// Body (HTTP) or message (gRPC) of one right answer, bytes.
    #[serde(rename = "payload_bytes")]
    PayloadBytes,
    /// The server's program file, bytes.
    #[serde(rename = "binary_bytes")]
    BinaryBytes,
    /// Instructions of the server from exec to exit without a request, counted.
    #[serde(rename = "start_up_instructions")]
    StartUpInstructions,
}

impl Metric {
    /// What is counted of single functions and system calls, by name.
    pub const BY_NAME: [Self; 4] = [
        Self::Instructions,
        Self::Allocations,
        Self::AllocatedBytes,
        Self::Syscalls,
    ];

    /// Those that are counted, the most telling first: compared, exported and kept in histories.
    pub const COUNTED: [Self; 10] = [
        Self::Instructions,
        Self::Allocations,
        Self::AllocatedBytes,
        Self::Syscalls,
        Self::WireBytesSent,
        Self::WireBytesReceived,
        Self::SegmentsSent,
        Self::PayloadBytes,
        Self::BinaryBytes,
        Self::StartUpInstructions,
    ];

    /// Those that are timed and say something of the server, the most telling first: compared, exported and kept in
    /// histories.
    pub const OF_SERVER: [Self; 5] = [
        Self::ServerCpu,
        Self::Throughput,
        Self::LatencyP50,
        Self::LatencyP99,
        Self::PeakRss,
    ];

    /// Every one that is compared, exported and kept in histories: timed ones first.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::OF_SERVER.into_iter().chain(Self::COUNTED)
    }

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
            Self::Instructions => "instructions",
            Self::Allocations => "allocations",
            Self::AllocatedBytes => "allocated_bytes",
            Self::Syscalls => "syscalls",
            Self::WireBytesSent => "wire_bytes_sent",
            Self::WireBytesReceived => "wire_bytes_received",
            Self::SegmentsSent => "segments_sent",
            Self::PayloadBytes => "payload_bytes",
            Self::BinaryBytes => "binary_bytes",
            Self::StartUpInstructions => "start_up_instructions",
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
            Self::Instructions => "instructions per request",
            Self::Allocations => "allocations per request",
            Self::AllocatedBytes => "bytes allocated per request",
            Self::Syscalls => "system calls per request",
            Self::WireBytesSent => "wire bytes sent per request",
            Self::WireBytesReceived => "wire bytes received per request",
            Self::SegmentsSent => "segments sent per request",
            Self::PayloadBytes => "payload of an answer",
            Self::BinaryBytes => "program size",
            Self::StartUpInstructions => "start-up instructions",
        }
    }

    /// The unit of its values.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "req/s",
            Self::LatencyP50 | Self::LatencyP99 | Self::ServerCpu | Self::DriverCpu => "ns",
            Self::Instructions | Self::StartUpInstructions => "instructions",
            Self::Allocations => "allocations",
            Self::Syscalls => "system calls",
            Self::SegmentsSent => "segments",
            Self::PeakRss
            | Self::AllocatedBytes
            | Self::WireBytesSent
            | Self::WireBytesReceived
            | Self::PayloadBytes
            | Self::BinaryBytes => "bytes",
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

    /// Whether it is counted, hence a figure of [`crate::counts::Counts`] and nothing of a round.
    #[must_use]
    pub fn is_counted(self) -> bool {
        Self::COUNTED.contains(&self)
    }

    /// Its value in one round; none for a counted metric, and when the round is not ok or did not measure it.
    #[must_use]
    pub fn of(self, round: &Round) -> Option<f64> {
        self.read(round).filter(|_| round.status == RoundStatus::Ok)
    }

    /// The same, whatever checks the round failed: for figures that are not to be believed by themselves.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts and times stay far below 2^53")]
    pub fn read(self, round: &Round) -> Option<f64> {
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
            _ => None,
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
