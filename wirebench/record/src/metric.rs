//! Metrics: one table, in which each metric is a row with its properties: names, unit, direction, margin, source.
//!
//! A new metric is a new row, and the code that measures or counts its value (docs/EXTENDING.md, "A metric").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::Better::{Higher, Lower};
use self::DefaultGate::{Above, Always, Never};
use self::Source::{Counted, Timed};
use crate::round::{Round, RoundStatus};

/// The confirmed worsening from which throughput and latency gate, and server CPU where counts gate in its place, percent.
pub const LARGE_LOSS_PERCENT: f64 = 10.0;

/// Makes the enum and the table: each row has the variant, its name in files, and the other fields of [`MetricRow`].
macro_rules! metrics {
    ($($(#[$doc:meta])* $metric:ident = $name:literal { $($field:ident: $value:expr,)* })*) => {
        /// A number derived from one round.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum Metric {
            $($(#[$doc])* #[serde(rename = $name)] $metric,)*
        }

        /// Every metric, in the order of the enum.
        const METRICS: &[Metric] = &[$(Metric::$metric),*];

        /// The rows, in the same order.
        const TABLE: &[MetricRow] = &[$(MetricRow { name: $name, $($field: $value,)* }),*];
    };
}

metrics! {
    /// Good answers per second.
    Throughput = "throughput" {
        short: "throughput", label: "throughput", head: "req/s", column: Some("good answers/s"),
        unit: "req/s", notation: Notation::NumberAndUnit, better: Higher, margin_percent: 2.0, gate: Above(LARGE_LOSS_PERCENT),
        source: Timed {
            responses_at_least: 1,
            read: |round, responses| Some(responses / (float(round.elapsed_ns.filter(|ns| *ns > 0)?) / 1e9)),
        },
    }
    /// Median latency, ns.
    LatencyP50 = "latency_p50" {
        short: "p50", label: "latency p50", head: "p50", column: Some("p50"),
        unit: "ns", notation: Notation::Time, better: Lower, margin_percent: 2.0, gate: Above(LARGE_LOSS_PERCENT),
        source: Timed { responses_at_least: 1, read: |round, _| Some(float(round.latency_ns?.p50)) },
    }
    /// 99th percentile of latency, ns.
    LatencyP99 = "latency_p99" {
        short: "p99", label: "latency p99", head: "p99", column: Some("p99"),
        unit: "ns", notation: Notation::Time, better: Lower, margin_percent: 5.0, gate: Above(LARGE_LOSS_PERCENT),
        source: Timed { responses_at_least: 10_000, read: |round, _| Some(float(round.latency_ns?.p99)) },
    }
    /// Server CPU time per good answer, ns.
    ServerCpu = "server_cpu" {
        short: "server CPU", label: "server CPU per request", head: "server CPU/req", column: Some("server CPU per request"),
        unit: "ns", notation: Notation::Time, better: Lower, margin_percent: 1.0, gate: Always,
        source: Timed {
            responses_at_least: 1,
            read: |round, responses| Some(float(round.server_cpu_ns?.total()) / responses),
        },
    }
    /// Driver CPU time per good answer, ns.
    DriverCpu = "driver_cpu" {
        short: "driver CPU", label: "driver CPU per request", head: "driver CPU/req", column: Some("driver CPU per request"),
        unit: "ns", notation: Notation::Time, better: Lower, margin_percent: 5.0, gate: Never,
        source: Timed {
            responses_at_least: 1,
            read: |round, responses| Some(float(round.driver_cpu_ns?.total()) / responses),
        },
    }
    /// Largest resident memory of the server without pages of files, bytes.
    PeakRss = "peak_rss" {
        short: "peak memory", label: "server peak memory", head: "memory", column: Some("peak memory"),
        unit: "bytes", notation: Notation::Size, better: Lower, margin_percent: 3.0, gate: Never,
        source: Timed { responses_at_least: 1, read: |round, _| Some(float(round.server_peak_rss_bytes?)) },
    }
    /// Instructions of the server per request, counted.
    Instructions = "instructions" {
        short: "instructions", label: "instructions per request", head: "instructions/req", column: Some("instructions"),
        unit: "instructions", notation: Notation::Number, better: Lower, margin_percent: 1.0, gate: Always,
        source: Counted { unrelated: 2_000.0, by_name: true },
    }
    /// Heap allocations of the server per request, counted.
    Allocations = "allocations" {
        short: "allocations", label: "allocations per request", head: "allocations/req", column: Some("allocations"),
        unit: "allocations", notation: Notation::Number, better: Lower, margin_percent: 1.0, gate: Always,
        source: Counted { unrelated: 6.0, by_name: true },
    }
    /// Heap bytes that the server allocates per request, counted.
    AllocatedBytes = "allocated_bytes" {
        short: "allocated", label: "bytes allocated per request", head: "alloc B/req", column: Some("allocated"),
        unit: "bytes", notation: Notation::Bytes, better: Lower, margin_percent: 1.0, gate: Always,
        source: Counted { unrelated: 500.0, by_name: true },
    }
    /// System calls of the server per request, counted.
    Syscalls = "syscalls" {
        short: "system calls", label: "system calls per request", head: "syscalls/req", column: Some("system calls"),
        unit: "system calls", notation: Notation::Number, better: Lower, margin_percent: 0.0, gate: Always,
        source: Counted { unrelated: 6.0, by_name: true },
    }
    /// Bytes that the server sends per request, all of them: headers, framing, encryption.
    WireBytesSent = "wire_bytes_sent" {
        short: "bytes sent", label: "wire bytes sent per request", head: "wire B sent/req", column: Some("wire bytes sent"),
        unit: "bytes", notation: Notation::Bytes, better: Lower, margin_percent: 0.0, gate: Always,
        source: Counted { unrelated: 64.0, by_name: false },
    }
    /// Bytes that the server receives per request, all of them: headers, framing, encryption.
    WireBytesReceived = "wire_bytes_received" {
        short: "bytes received", label: "wire bytes received per request", head: "wire B recv/req", column: Some("wire bytes received"),
        unit: "bytes", notation: Notation::Bytes, better: Lower, margin_percent: 0.0, gate: Always,
        source: Counted { unrelated: 64.0, by_name: false },
    }
    /// TCP segments with data that the server sends per request.
    SegmentsSent = "segments_sent" {
        short: "segments", label: "segments sent per request", head: "segments/req", column: None,
        unit: "segments", notation: Notation::Number, better: Lower, margin_percent: 1.0, gate: Never,
        source: Counted { unrelated: 1.0, by_name: false },
    }
    /// Body (HTTP) or message (gRPC) of one right answer, bytes.
    PayloadBytes = "payload_bytes" {
        short: "payload", label: "payload of an answer", head: "payload", column: None,
        unit: "bytes", notation: Notation::Bytes, better: Lower, margin_percent: 1.0, gate: Never,
        source: Counted { unrelated: 0.0, by_name: false },
    }
    /// The server's program file, bytes.
    BinaryBytes = "binary_bytes" {
        short: "program size", label: "program size", head: "program", column: None,
        unit: "bytes", notation: Notation::Size, better: Lower, margin_percent: 1.0, gate: Never,
        source: Counted { unrelated: 0.0, by_name: false },
    }
    /// Instructions of the server from exec to exit without a request, counted.
    StartUpInstructions = "start_up_instructions" {
        short: "start-up", label: "start-up instructions", head: "start-up instr.", column: None,
        unit: "instructions", notation: Notation::Number, better: Lower, margin_percent: 1.0, gate: Never,
        source: Counted { unrelated: 0.0, by_name: false },
    }
}

const fn float(count: u64) -> f64 {
    count as f64
}

impl Metric {
    /// The counted ones, the most telling first: compared, exported and kept in histories.
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

    /// The timed ones that describe the server, the most telling first: compared, exported and kept in histories.
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

    /// Every metric there is: those of [`Self::all`], then the others.
    pub fn known() -> impl Iterator<Item = Self> {
        let others = METRICS.iter().filter(|metric| Self::all().all(|one| one != **metric));
        Self::all().chain(others.copied())
    }

    /// The metrics that have a column in the table of a run, timed or counted ones, in the order of the columns.
    pub fn columns(are_wanted: fn(Self) -> bool) -> impl Iterator<Item = Self> {
        let all = METRICS.iter().filter(|metric| metric.row().column.is_some());
        all.copied().filter(move |metric| are_wanted(*metric))
    }

    /// Its row of the table.
    pub const fn row(self) -> &'static MetricRow {
        &TABLE[self as usize]
    }

    /// Its name in every file.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Its name in one or two words, as `limits` in a scenario may call it.
    pub const fn short(self) -> &'static str {
        self.row().short
    }

    /// Its name for people.
    pub const fn label(self) -> &'static str {
        self.row().label
    }

    /// The unit of its values.
    pub const fn unit(self) -> &'static str {
        self.row().unit
    }

    /// Which way is better.
    pub const fn better(self) -> Better {
        self.row().better
    }

    /// Whether it is counted, hence a figure of [`crate::counts::Counts`]. Every other one is timed.
    pub const fn is_counted(self) -> bool {
        matches!(self.row().source, Counted { .. })
    }

    /// Whether it is timed, hence read from rounds.
    pub const fn is_timed(self) -> bool {
        !self.is_counted()
    }

    /// Whether it gets worse where requests wait, without more CPU time.
    pub const fn is_of_waiting(self) -> bool {
        matches!(self, Self::LatencyP50 | Self::LatencyP99 | Self::Throughput)
    }

    /// Whether it is also counted by function or by system call.
    pub const fn is_counted_by_name(self) -> bool {
        matches!(self.row().source, Counted { by_name: true, .. })
    }

    /// Its value in one round; `None` for a counted metric, and when the round is not ok or did not measure it.
    pub fn of(self, round: &Round) -> Option<f64> {
        self.read(round).filter(|_| round.status == RoundStatus::Ok)
    }

    /// The same, also of a round that failed a check.
    pub fn read(self, round: &Round) -> Option<f64> {
        match self.row().source {
            Timed { read, .. } => read(round, float(round.ok_count.filter(|count| *count > 0)?)),
            Counted { .. } => None,
        }
    }

    /// Its value if it can be compared: like [`Self::of`], but only above zero, and only from a round with enough good
    /// responses.
    pub fn comparable(self, round: &Round) -> Option<f64> {
        let Timed { responses_at_least, .. } = self.row().source else {
            return None;
        };
        let enough = round.ok_count? >= responses_at_least;
        self.of(round)
            .filter(|value| enough && value.is_finite() && *value > 0.0)
    }
}

// The columns of the table of metrics: the properties of each metric.

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// How values of a metric are written for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// A time with the unit that fits: `12.2 µs`.
    Time,
    /// A size with the unit that fits: `8.10 MiB`.
    Size,
    /// A number of bytes: `163 B`.
    Bytes,
    /// A number whose unit is in the head of its column: `16,148`.
    Number,
    /// A number with its unit: `83,304 req/s`.
    NumberAndUnit,
}

/// Whether a regression of a metric fails the gate, unless the project's `[[margins]]` say otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DefaultGate {
    /// It does.
    Always,
    /// From a confirmed worsening of so many percent on.
    Above(f64),
    /// It is shown only.
    Never,
}

/// Where the values of a metric come from.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// From rounds.
    Timed {
        /// The fewest good responses of a round whose value is compared.
        responses_at_least: u64,
        /// The value of a round, from the round and the number of its good responses, which is not 0.
        read: fn(&Round, f64) -> Option<f64>,
    },
    /// From counting: a figure of [`crate::counts::Counts`].
    Counted {
        /// How much the counts of two server runs may differ without a cause in the server's code: work by the clock,
        /// such as a new Date header each second, and the driver's last frames. In the metric's unit; small compared
        /// with any change in every request.
        unrelated: f64,
        /// Whether it is also counted by function or by system call.
        by_name: bool,
    },
}

/// Everything there is to know of one metric.
#[derive(Debug)]
pub struct MetricRow {
    /// Its name in every file.
    pub name: &'static str,
    /// Its name in one or two words, for labels in charts. `limits` of a scenario accept it too.
    pub short: &'static str,
    /// Its name in sentences and headings.
    pub label: &'static str,
    /// The head of its column where there is little room.
    pub head: &'static str,
    /// The head of its column in the tables of a run; `None` if it has no column there.
    pub column: Option<&'static str>,
    /// The unit of its values.
    pub unit: &'static str,
    /// How its values are written.
    pub notation: Notation,
    /// Which way is better.
    pub better: Better,
    /// The worsening that is ignored unless the project says otherwise, percent.
    pub margin_percent: f64,
    /// Whether a regression fails the gate unless the project says otherwise.
    pub gate: DefaultGate,
    /// Where its values come from.
    pub source: Source,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn files_have_each_metric_under_its_name() {
        for metric in METRICS {
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.name());
        }
        assert!(Metric::known().count() == TABLE.len());
    }

    #[test]
    fn no_two_metrics_have_one_name_or_one_rank() {
        let distinct = |text: fn(&MetricRow) -> &str| TABLE.iter().map(text).collect::<BTreeSet<_>>().len();
        for (field, length) in [
            ("name", distinct(|row| row.name)),
            ("short", distinct(|row| row.short)),
            ("label", distinct(|row| row.label)),
            ("head", distinct(|row| row.head)),
        ] {
            assert_eq!(length, TABLE.len(), "two rows have the same {field}");
        }
        let known: BTreeSet<Metric> = Metric::known().collect();
        for metric in METRICS {
            assert!(known.contains(metric), "{}: another metric has its rank", metric.name());
        }
    }
}
