//! The quantities that servers are compared by.

use crate::report::comparison::words::{figure, value};
use wirebench_judge::summary::Row;
use wirebench_judge::summary::beside::Beside;
use wirebench_judge::summary::wire::wire_bytes;
use wirebench_record::metric::Metric;
use wirebench_record::run::Run;

/// Where a quantity comes from.
pub(super) enum Read {
    /// A metric: the median over the rounds; its ratio has an interval.
    Timed(Metric),
    /// One number of a series.
    Single(fn(&Run, &Row) -> Option<f64>),
}

impl Read {
    /// The value of a row.
    pub(super) fn value(&self, run: &Run, row: &Row) -> Option<f64> {
        match self {
            Self::Timed(metric) => median_of(row, *metric),
            Self::Single(read) => read(run, row),
        }
    }

    /// The ratio of a row to the first one with its interval, if the quantity is timed.
    pub(super) fn ratio(&self, row: &Row, first: &Row) -> Option<Beside> {
        match self {
            Self::Timed(metric) => Beside::of(*metric, row.series, first.series),
            Self::Single(_) => None,
        }
    }
}

/// A quantity that servers are compared by.
pub(super) struct Quantity {
    /// The word by which scripts choose it.
    pub(super) key: &'static str,
    pub(super) label: &'static str,
    pub(super) better: &'static str,
    pub(super) read: Read,
    pub(super) write: fn(f64) -> String,
}

pub(super) const QUANTITIES: [Quantity; 7] = [
    Quantity {
        key: "server_cpu",
        label: "server CPU per request",
        better: "lower is better",
        read: Read::Timed(Metric::ServerCpu),
        write: |number| value(Some(number), "ns"),
    },
    Quantity {
        key: "throughput",
        label: "throughput",
        better: "higher is better",
        read: Read::Timed(Metric::Throughput),
        write: |number| value(Some(number), "req/s"),
    },
    Quantity {
        key: "latency_p50",
        label: "latency p50",
        better: "lower is better",
        read: Read::Timed(Metric::LatencyP50),
        write: |number| value(Some(number), "ns"),
    },
    Quantity {
        key: "latency_p99",
        label: "latency p99",
        better: "lower is better",
        read: Read::Timed(Metric::LatencyP99),
        write: |number| value(Some(number), "ns"),
    },
    Quantity {
        key: "driver_cpu",
        label: "driver CPU per request",
        better: "lower is better",
        read: Read::Timed(Metric::DriverCpu),
        write: |number| value(Some(number), "ns"),
    },
    Quantity {
        key: "payload_bytes",
        label: "payload of an answer",
        better: "lower is better",
        read: Read::Single(|_, row| row.payload_bytes.map(as_number)),
        write: |number| figure(Metric::PayloadBytes, number),
    },
    Quantity {
        key: "wire_bytes",
        label: "bytes on the wire, both ways",
        better: "lower is better",
        read: Read::Single(|run, row| wire_bytes(run, row.series).map(|bytes| bytes.sent + bytes.received)),
        write: |number| figure(Metric::WireBytesSent, number),
    },
];

/// The median of a metric over the rounds of a row.
pub(super) fn median_of(row: &Row, metric: Metric) -> Option<f64> {
    row.spread(metric).map(|spread| spread.median)
}

#[expect(clippy::cast_precision_loss, reason = "payloads stay below 2^53 bytes")]
const fn as_number(bytes: u64) -> f64 {
    bytes as f64
}
