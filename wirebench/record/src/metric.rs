//! Metrics: each with its name, unit and the direction that is better.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::round::{Round, RoundStatus};

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

/// What is known of a metric beside how it is read.
struct Facts {
    metric: Metric,
    /// Its name in every file.
    name: &'static str,
    /// One or two words.
    short: &'static str,
    /// Its name for people.
    label: &'static str,
    /// The unit of its values.
    unit: &'static str,
    better: Better,
}

const fn row(
    metric: Metric,
    name: &'static str,
    short: &'static str,
    label: &'static str,
    unit: &'static str,
    better: Better,
) -> Facts {
    Facts {
        metric,
        name,
        short,
        label,
        unit,
        better,
    }
}

/// Every metric, in the order of [`Metric`]: name, short name, label, unit, and which way is better.
#[rustfmt::skip]
const TABLE: [Facts; 16] = [
    row(Metric::Throughput, "throughput", "throughput", "throughput", "req/s", Better::Higher),
    row(Metric::LatencyP50, "latency_p50", "p50", "latency p50", "ns", Better::Lower),
    row(Metric::LatencyP99, "latency_p99", "p99", "latency p99", "ns", Better::Lower),
    row(Metric::ServerCpu, "server_cpu", "server CPU", "server CPU per request", "ns", Better::Lower),
    row(Metric::DriverCpu, "driver_cpu", "driver CPU", "driver CPU per request", "ns", Better::Lower),
    row(Metric::PeakRss, "peak_rss", "peak RSS", "server peak RSS", "bytes", Better::Lower),
    row(Metric::Instructions, "instructions", "instructions", "instructions per request", "instructions", Better::Lower),
    row(Metric::Allocations, "allocations", "allocations", "allocations per request", "allocations", Better::Lower),
    row(Metric::AllocatedBytes, "allocated_bytes", "allocated", "bytes allocated per request", "bytes", Better::Lower),
    row(Metric::Syscalls, "syscalls", "system calls", "system calls per request", "system calls", Better::Lower),
    row(Metric::WireBytesSent, "wire_bytes_sent", "bytes sent", "wire bytes sent per request", "bytes", Better::Lower),
    row(Metric::WireBytesReceived, "wire_bytes_received", "bytes received", "wire bytes received per request", "bytes", Better::Lower),
    row(Metric::SegmentsSent, "segments_sent", "segments", "segments sent per request", "segments", Better::Lower),
    row(Metric::PayloadBytes, "payload_bytes", "payload", "payload of an answer", "bytes", Better::Lower),
    row(Metric::BinaryBytes, "binary_bytes", "program size", "program size", "bytes", Better::Lower),
    row(Metric::StartUpInstructions, "start_up_instructions", "start-up", "start-up instructions", "instructions", Better::Lower),
];

const _: () = {
    let mut place = 0;
    while place < TABLE.len() {
        assert!(
            TABLE[place].metric as usize == place,
            "the table is in the order of the enum"
        );
        place += 1;
    }
};

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

    const fn facts(self) -> &'static Facts {
        &TABLE[self as usize]
    }

    /// Its name in every file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// Its name in one or two words, for charts.
    #[must_use]
    pub const fn short(self) -> &'static str {
        self.facts().short
    }

    /// Its name for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        self.facts().label
    }

    /// The unit of its values.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        self.facts().unit
    }

    /// Which way is better.
    #[must_use]
    pub const fn better(self) -> Better {
        self.facts().better
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_metric_under_the_name_that_files_have() {
        for facts in &TABLE {
            assert_eq!(serde_json::to_value(facts.metric).unwrap(), facts.name);
        }
        assert!(Metric::all().chain([Metric::DriverCpu]).count() == TABLE.len());
    }
}
