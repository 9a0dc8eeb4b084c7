//! The rounds of a series as a table, one line each, with every number that was measured.

use crate::report::format::{count, three_digits, time};
use crate::report::values::value;
use crate::site::shown::sentence;
use crate::site::trust::{why, word};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Bound, Round, RoundStatus, Series};

/// Heads and lines; the first three columns and the last are words.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) heads: Vec<&'static str>,
    pub(super) lines: Vec<Vec<String>>,
}

type Column = (&'static str, fn(&Round) -> String);

const COLUMNS: [Column; 18] = [
    ("round", |round| {
        if round.stage > 1 {
            format!("{} of stage {}", round.round, round.stage)
        } else {
            round.round.to_string()
        }
    }),
    ("variant", |round| round.variant.name().into()),
    ("status", |round| word(round).into()),
    ("throughput", |round| of(Metric::Throughput, round)),
    ("p50", |round| of(Metric::LatencyP50, round)),
    ("p99", |round| of(Metric::LatencyP99, round)),
    ("max", |round| latency(round, |latency| latency.max)),
    ("server CPU/req", |round| of(Metric::ServerCpu, round)),
    ("driver CPU/req", |round| of(Metric::DriverCpu, round)),
    ("server busy", |round| permille(round.server_busy_permille)),
    ("driver busy", |round| permille(round.driver_busy_permille)),
    ("in flight", |round| permille(round.in_flight_permille)),
    ("RSS", |round| of(Metric::PeakRss, round)),
    ("steal", |round| number(round.host_steal_ns, time)),
    ("good", |round| number(round.ok_count, count)),
    ("failed", |round| number(round.failed_count, count)),
    ("left out", |round| number(round.dropped_count, count)),
    ("remark", remark),
];

impl Table {
    /// All rounds, in the order measured, without the columns in which nothing stands.
    pub(super) fn of(series: &Series) -> Self {
        let all: Vec<Vec<String>> = series
            .rounds
            .iter()
            .map(|round| COLUMNS.iter().map(|(_, cell)| cell(round)).collect())
            .collect();
        let always = |column: usize| column < 3 || column == COLUMNS.len() - 1;
        let kept: Vec<usize> = (0..COLUMNS.len())
            .filter(|column| always(*column) || all.iter().any(|line| line[*column] != "–"))
            .collect();
        Self {
            heads: kept.iter().map(|column| COLUMNS[*column].0).collect(),
            lines: all
                .iter()
                .map(|line| kept.iter().map(|column| line[*column].clone()).collect())
                .collect(),
        }
    }
}

/// The value as it was measured, whether the round's checks passed or not.
fn of(metric: Metric, round: &Round) -> String {
    let mut as_if = round.clone();
    if as_if.status == RoundStatus::Invalid {
        as_if.status = RoundStatus::Ok;
    }
    value(metric.of(&as_if), metric.unit())
}

#[expect(clippy::cast_precision_loss, reason = "latencies stay far below 2^53 ns")]
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

#[expect(clippy::cast_precision_loss, reason = "counts and times stay far below 2^53")]
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
