//! A series' figures as text, the same in every table.

use crate::report::format::{bytes, count, figure, plain, time};
use wirebench_judge::summary::{self, ProcessRow, Row, Spread};
use wirebench_record::metric::{Metric, Notation};
use wirebench_record::run::Series;

/// A value of a metric in a column: without its unit if the column's head is the unit.
pub fn cell(metric: Metric, value: f64) -> String {
    match metric.row().notation {
        Notation::NumberAndUnit => count(value),
        _ => figure(metric, value),
    }
}

/// The median of each timed metric that has a column; after the throughput half its range, in percent of the median. A
/// dash if nothing was measured.
pub fn load(row: &Row) -> Vec<String> {
    let mut cells = Vec::new();
    for metric in Metric::columns(Metric::is_timed) {
        cells.push(median(row, metric));
        if metric == Metric::Throughput {
            cells.push(half_range(row));
        }
    }
    cells
}

/// The median of a metric over the good rounds.
pub fn median(row: &Row, metric: Metric) -> String {
    shown(row, metric, |spread| cell(metric, spread.median))
}

/// Half the range of the throughput over the good rounds, in percent of the median.
pub fn half_range(row: &Row) -> String {
    shown(row, Metric::Throughput, |spread| {
        format!("{:.0}", (spread.high - spread.low) / 2.0 / spread.median * 100.0)
    })
}

/// Median time to the first good answer, and the slowest.
pub fn start_up(row: &Row) -> [String; 2] {
    [
        median(row, Metric::LatencyP50),
        shown(row, Metric::LatencyP99, |spread| time(spread.high)),
    ]
}

/// Median time of an iteration, and of the slowest samples.
pub fn benchmark(row: &Row) -> [String; 2] {
    [Metric::LatencyP50, Metric::LatencyP99].map(|metric| median(row, metric))
}

/// What the figures of [`processes`] are called.
pub const PROCESS_HEADS: [&str; 7] = [
    "process",
    "CPU per request",
    "peak RSS",
    "RSS at the end",
    "received/s",
    "sent/s",
    "connections",
];

/// The processes of a chain, the one that the driver asked first; empty for a server of one process.
pub fn processes(series: &Series) -> Vec<[String; 7]> {
    let shown = |value: Option<f64>, write: fn(f64) -> String| value.map_or("–".into(), write);
    let line = |row: ProcessRow| {
        [
            plain(row.name),
            shown(row.cpu_per_request_ns, time),
            shown(row.peak_rss_bytes, bytes),
            shown(row.rss_bytes, bytes),
            shown(row.received_bytes_per_s, bytes),
            shown(row.sent_bytes_per_s, bytes),
            shown(row.connections, count),
        ]
    };
    summary::processes(series).into_iter().map(line).collect()
}

fn shown(row: &Row, metric: Metric, write: impl Fn(Spread) -> String) -> String {
    row.spread(metric).map_or("–".into(), write)
}
