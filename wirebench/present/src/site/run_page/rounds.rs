//! The rounds of a series as a table, one line each, with every number that was measured.

use crate::report::format::{count, figure, three_digits, time};
use crate::site::run_page::dots::measured;
use crate::site::shown::sentence;
use wirebench_judge::summary::quality::{outcome, why};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Bound, Round, Series};

/// Heads and lines; the first three columns and the last are words.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) heads: Vec<&'static str>,
    pub(super) lines: Vec<Vec<String>>,
}

struct Column {
    head: &'static str,
    cell: Cell,
}

enum Cell {
    Metric(Metric),
    Other(fn(&Round) -> String),
}

type Others = &'static [(&'static str, fn(&Round) -> String)];

const NAMES: Others = &[
    ("round", |round| {
        if round.stage > 1 {
            format!("{} of stage {}", round.round, round.stage)
        } else {
            round.round.to_string()
        }
    }),
    ("variant", |round| round.variant.name().into()),
    ("status", |round| outcome(round).into()),
];

const LATENCIES: Others = &[("max", |round| latency(round, |latency| latency.max))];

const CORES: Others = &[
    ("server busy", |round| permille(round.server_busy_permille)),
    ("driver busy", |round| permille(round.driver_busy_permille)),
    ("in flight", |round| permille(round.in_flight_permille)),
];

const COUNTS: Others = &[
    ("steal", |round| number(round.host_steal_ns, time)),
    ("good", |round| number(round.ok_count, count)),
    ("failed", |round| number(round.failed_count, count)),
    ("left out", |round| number(round.dropped_count, count)),
    ("remark", remark),
];

impl Table {
    /// All rounds, in the order measured, without the columns in which nothing stands.
    pub(super) fn of(series: &Series) -> Self {
        let columns = columns();
        let all: Vec<Vec<String>> = series
            .rounds
            .iter()
            .map(|round| columns.iter().map(|column| column.cell(round)).collect())
            .collect();
        let always = |column: usize| column < NAMES.len() || column == columns.len() - 1;
        let kept: Vec<usize> = (0..columns.len())
            .filter(|column| always(*column) || all.iter().any(|line| line[*column] != "–"))
            .collect();
        Self {
            heads: kept.iter().map(|column| columns[*column].head).collect(),
            lines: all
                .iter()
                .map(|line| kept.iter().map(|column| line[*column].clone()).collect())
                .collect(),
        }
    }
}

impl Column {
    /// What the round has here; of a metric the value as it was measured, also if the round failed a check.
    fn cell(&self, round: &Round) -> String {
        match self.cell {
            Cell::Metric(metric) => measured(metric, round).map_or("–".into(), |value| figure(metric, value)),
            Cell::Other(cell) => cell(round),
        }
    }
}

/// Every timed metric that has a column, among the other numbers of a round.
fn columns() -> Vec<Column> {
    let others = |others: Others| {
        others.iter().map(|(head, cell)| Column {
            head,
            cell: Cell::Other(*cell),
        })
    };
    let mut columns: Vec<Column> = others(NAMES).collect();
    for metric in Metric::columns(Metric::is_timed) {
        let row = metric.row();
        columns.push(Column {
            // The cells have the unit: a head that is nothing else would not name the metric.
            head: if row.head == row.unit { row.label } else { row.head },
            cell: Cell::Metric(metric),
        });
        match metric {
            Metric::LatencyP99 => columns.extend(others(LATENCIES)),
            Metric::DriverCpu => columns.extend(others(CORES)),
            _ => {}
        }
    }
    columns.extend(others(COUNTS));
    columns
}

fn latency(round: &Round, read: fn(&wirebench_record::run::Latency) -> u64) -> String {
    round
        .latency_ns
        .map_or("–".into(), |latency| time(read(&latency) as f64))
}

fn permille(value: Option<u32>) -> String {
    value.map_or("–".into(), |permille| {
        format!("{} %", three_digits(f64::from(permille) / 10.0))
    })
}

fn number(value: Option<u64>, write: fn(f64) -> String) -> String {
    value.map_or("–".into(), |value| write(value as f64))
}

fn remark(round: &Round) -> String {
    let bound = match round.bound {
        Some(Bound::Client) => Some("client-bound"),
        Some(Bound::Neither) => Some("neither side busy"),
        Some(Bound::Server) | None => None,
    };
    let parts = [why(round).map(sentence), bound.map(str::to_owned)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
