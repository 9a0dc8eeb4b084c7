//! A series' figures as text, the same in every table.

use crate::report::format::{bytes, count, plain, time};
use wirebench_judge::summary::processes::ProcessRow;
use wirebench_judge::summary::{self, Row, Spread};
use wirebench_record::metric::Metric;
use wirebench_record::run::Series;

/// Throughput, its half range, p50, p99, server and driver CPU per request, peak memory; a dash for values that were not measured.
#[must_use]
pub fn load(row: &Row) -> [String; 7] {
    let median = |metric, write: fn(f64) -> String| shown(row, metric, |spread| write(spread.median));
    [
        median(Metric::Throughput, count),
        shown(row, Metric::Throughput, half_range),
        median(Metric::LatencyP50, time),
        median(Metric::LatencyP99, time),
        median(Metric::ServerCpu, time),
        median(Metric::DriverCpu, time),
        median(Metric::PeakRss, bytes),
    ]
}

/// Median time to the first good answer, and the slowest.
#[must_use]
pub fn start_up(row: &Row) -> [String; 2] {
    [
        shown(row, Metric::LatencyP50, |spread| time(spread.median)),
        shown(row, Metric::LatencyP99, |spread| time(spread.high)),
    ]
}

/// Median time of an iteration, and of the slowest samples.
#[must_use]
pub fn benchmark(row: &Row) -> [String; 2] {
    [Metric::LatencyP50, Metric::LatencyP99].map(|metric| shown(row, metric, |spread| time(spread.median)))
}

/// The heads of the columns of [`processes`].
pub const PROCESS_HEADS: [&str; 7] = [
    "process",
    "CPU per request",
    "peak RSS",
    "RSS at the end",
    "received/s",
    "sent/s",
    "connections",
];

/// The processes of a chain, the front first; empty for a server of one process.
#[must_use]
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
    summary::processes::processes(series).into_iter().map(line).collect()
}

fn shown(row: &Row, metric: Metric, write: impl Fn(Spread) -> String) -> String {
    row.spread(metric).map_or("–".into(), write)
}

/// Half the range of the rounds, in percent of their median.
fn half_range(spread: Spread) -> String {
    format!("{:.0}", (spread.high - spread.low) / 2.0 / spread.median * 100.0)
}
