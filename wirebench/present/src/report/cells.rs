//! A series' figures as text, the same in every table.

use crate::report::format::{bytes, count, figure, plain, time};
use wirebench_judge::summary::{self, Row, Spread};
use wirebench_record::metric::{Metric, Notation};
use wirebench_record::run::{CpuTime, ProcessUsage, Round, Series};

/// A value of a metric in a column: without its unit if the column's head is the unit.
pub fn cell(metric: Metric, value: f64) -> String {
    match metric.row().notation {
        Notation::NumberAndUnit => count(value),
        _ => figure(metric, value),
    }
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

/// The slowest time to the first good answer.
pub fn slowest(row: &Row) -> String {
    shown(row, Metric::LatencyP99, |spread| time(spread.high))
}

/// A figure of a process: its name, its value in a round, and how it is written.
type Figure = (
    &'static str,
    fn(&Round, &ProcessUsage) -> Option<f64>,
    fn(f64) -> String,
);

const FIGURES: [Figure; 6] = [
    ("CPU per request", cpu_per_request_ns, time),
    ("peak memory", |_, process| float(process.peak_rss_bytes), bytes),
    ("memory at the end", |_, process| float(process.rss_bytes), bytes),
    ("received/s", |_, process| float(process.received_bytes_per_s), bytes),
    ("sent/s", |_, process| float(process.sent_bytes_per_s), bytes),
    (
        "connections",
        |_, process| process.connections_seen.map(f64::from),
        count,
    ),
];

fn cpu_per_request_ns(round: &Round, process: &ProcessUsage) -> Option<f64> {
    let requests = round.ok_count.filter(|count| *count > 0)?;
    Some(process.cpu_ns.map(CpuTime::total)? as f64 / requests as f64)
}

fn float(size: Option<u64>) -> Option<f64> {
    size.map(|size| size as f64)
}

/// The processes of a chain, the one that the driver asked first, each with the name and the text of its figures; empty for a
/// server of one process.
pub fn processes(series: &Series) -> Vec<Vec<(&'static str, String)>> {
    let line = |name: &str| {
        let figures = FIGURES.into_iter().map(|(head, read, write)| {
            let value = summary::of_process(series, name, read);
            (head, value.map_or("–".into(), write))
        });
        [("process", plain(name))].into_iter().chain(figures).collect()
    };
    summary::processes(series).into_iter().map(line).collect()
}

fn shown(row: &Row, metric: Metric, write: impl Fn(Spread) -> String) -> String {
    row.spread(metric).map_or("–".into(), write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::run::RoundStatus;
    use wirebench_testing::{process, reference};

    #[test]
    fn each_process_of_a_chain_has_its_figures() {
        let mut series = reference().series.remove(0);
        let mut round = series.rounds.remove(0);
        (round.status, round.ok_count) = (RoundStatus::Ok, Some(10));
        round.processes = vec![process("front", 200, None), process("store", 400, Some(9))];
        series.rounds = vec![round];
        let lines = processes(&series);
        let cells = |line: &[(&str, String)]| line.iter().map(|(_, cell)| cell.clone()).collect::<Vec<_>>();
        assert_eq!(cells(&lines[0]), ["front", "40.0 ns", "–", "–", "–", "–", "7"]);
        assert_eq!(cells(&lines[1]), ["store", "80.0 ns", "9 B", "9 B", "–", "–", "7"]);
    }
}
