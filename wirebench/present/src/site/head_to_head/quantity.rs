//! The quantities that servers are compared by.

use crate::report::values::{figure, value};
use crate::site::shown::direction;
use wirebench_judge::summary::Row;
use wirebench_judge::summary::multiple::Multiple;
use wirebench_judge::summary::wire::wire_bytes;
use wirebench_record::metric::Metric;
use wirebench_record::run::Run;

/// A quantity that servers are compared by.
#[derive(Debug)]
pub(super) struct Quantity {
    /// The word by which scripts choose it.
    pub(super) key: &'static str,
    pub(super) label: &'static str,
    /// The metric that it is, or whose unit and direction it has.
    pub(super) metric: Metric,
    /// How its number is read; `None` for a timed metric: the median over the rounds.
    read: Option<fn(&Run, &Row) -> Option<f64>>,
}

pub(super) static QUANTITIES: [Quantity; 7] = [
    timed(Metric::ServerCpu),
    timed(Metric::Throughput),
    timed(Metric::LatencyP50),
    timed(Metric::LatencyP99),
    timed(Metric::DriverCpu),
    Quantity {
        read: Some(|_, row| row.payload_bytes.map(as_number)),
        ..timed(Metric::PayloadBytes)
    },
    Quantity {
        key: "wire_bytes",
        label: "bytes on the wire, both ways",
        metric: Metric::WireBytesSent,
        read: Some(|run, row| wire_bytes(run, row.series).map(|bytes| bytes.sent + bytes.received)),
    },
];

const fn timed(metric: Metric) -> Quantity {
    Quantity {
        key: metric.name(),
        label: metric.label(),
        metric,
        read: None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "payloads stay below 2^53 bytes")]
const fn as_number(bytes: u64) -> f64 {
    bytes as f64
}

impl Quantity {
    pub(super) const fn better(&self) -> &'static str {
        direction(self.metric.better())
    }

    /// The value of a row.
    pub(super) fn value(&self, run: &Run, row: &Row) -> Option<f64> {
        match self.read {
            None => row.median(self.metric),
            Some(read) => read(run, row),
        }
    }

    /// The ratio of a row to the first one with its interval, if the quantity is timed.
    pub(super) fn ratio(&self, row: &Row, first: &Row) -> Option<Multiple> {
        match self.read {
            None => Multiple::of(self.metric, row.series, first.series),
            Some(_) => None,
        }
    }

    /// A value with its unit.
    pub(super) fn write(&self, number: f64) -> String {
        match self.read {
            None => value(Some(number), self.metric.unit()),
            Some(_) => figure(self.metric, number),
        }
    }
}
