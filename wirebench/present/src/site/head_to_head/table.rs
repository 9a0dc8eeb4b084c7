//! The servers that one driver asked for the same work, as a table whose cells are bars.

use std::collections::BTreeSet;

use crate::report::format::three_digits;
use crate::report::head_to_head::times;
use crate::report::values::{figure, value};
use crate::site::head_to_head::panel::{Panel, panels};
use crate::site::head_to_head::sweep::swept;
use crate::site::offered::offered;
use crate::site::shown::name;
use wirebench_judge::summary::beside::Beside;
use wirebench_judge::summary::wire::wire_bytes;
use wirebench_judge::summary::{Row, Section, sections};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Bound, Run};
use wirebench_stats::quantile::median;

/// One scenario asked by one driver.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) scenario: String,
    pub(super) driver: String,
    pub(super) about: String,
    /// The server that ratios are to.
    pub(super) first: String,
    pub(super) panels: Vec<Panel>,
    /// Whether it is one point of a sweep of connections.
    pub(super) swept: bool,
    pub(super) columns: Vec<Column>,
    pub(super) lines: Vec<Line>,
}

/// What is compared.
#[derive(Debug)]
pub(super) struct Column {
    /// The word by which scripts choose it.
    pub(super) key: &'static str,
    pub(super) label: &'static str,
    pub(super) better: &'static str,
}

/// One server.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) server: String,
    pub(super) protocol: String,
    pub(super) cells: Vec<Cell>,
}

/// One number of one server.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) key: &'static str,
    pub(super) text: String,
    /// `× 1.42 (1.38 to 1.44)` the first server's; empty for that one itself.
    pub(super) ratio: String,
    /// What must stand beside it.
    pub(super) mark: &'static str,
}

/// Where a quantity comes from.
pub(super) enum Read {
    /// The median over the rounds; its ratio has an interval.
    Timed(Metric),
    /// One number.
    Told(fn(&Run, &Row) -> Option<f64>),
}

impl Read {
    pub(super) fn of(&self, run: &Run, row: &Row) -> Option<f64> {
        match self {
            Self::Timed(metric) => of(row, *metric),
            Self::Told(read) => read(run, row),
        }
    }

    /// How a row stands beside the first one, with an interval, where it is timed.
    pub(super) fn beside(&self, row: &Row, first: &Row) -> Option<Beside> {
        match self {
            Self::Timed(metric) => Beside::of(*metric, row.series, first.series),
            Self::Told(_) => None,
        }
    }
}

/// What servers are compared by.
pub(super) struct Quantity {
    pub(super) key: &'static str,
    pub(super) label: &'static str,
    pub(super) better: &'static str,
    pub(super) read: Read,
    write: fn(f64) -> String,
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
        read: Read::Told(|_, row| row.payload_bytes.map(as_number)),
        write: |number| figure(Metric::PayloadBytes, number),
    },
    Quantity {
        key: "wire_bytes",
        label: "bytes on the wire, both ways",
        better: "lower is better",
        read: Read::Told(|run, row| wire_bytes(run, row.series).map(|bytes| bytes.sent + bytes.received)),
        write: |number| figure(Metric::WireBytesSent, number),
    },
];

fn of(row: &Row, metric: Metric) -> Option<f64> {
    row.spread(metric).map(|spread| spread.median)
}

#[expect(clippy::cast_precision_loss, reason = "payloads stay below 2^53 bytes")]
const fn as_number(bytes: u64) -> f64 {
    bytes as f64
}

/// Whether a protocol is one of gRPC's.
pub(super) fn is_grpc(protocol: &str) -> bool {
    protocol.starts_with("grpc")
}

fn label(protocol: &str) -> String {
    match protocol {
        "http" => "HTTP/1.1".into(),
        "h2c" => "HTTP/2".into(),
        "grpc" => "gRPC".into(),
        "https" => "HTTPS".into(),
        "grpcs" => "gRPC over TLS".into(),
        "grpc-web" => "gRPC-web".into(),
        other => name(other),
    }
}

/// The rows of one driver on one machine, HTTP before gRPC: the usual question is what gRPC costs beside it.
fn by_driver<'a>(section: &'a Section<'a>) -> Vec<Vec<&'a Row<'a>>> {
    let of = |row: &Row<'a>| (row.series.driver.as_str(), row.shard);
    let drivers: BTreeSet<(&str, Option<usize>)> = section.rows.iter().map(of).collect();
    let rows = |driver: (&str, Option<usize>)| {
        let mut rows: Vec<&Row> = section
            .rows
            .iter()
            .filter(|row| row.has_load() && of(row) == driver)
            .collect();
        rows.sort_by_key(|row| is_grpc(&row.series.protocol));
        rows
    };
    drivers.into_iter().map(rows).filter(|rows| rows.len() > 1).collect()
}

/// Every scenario and driver of which a run has several servers.
pub(super) fn groups(run: &Run) -> Vec<Group> {
    let sections = sections(run);
    let mut groups = Vec::new();
    for section in &sections {
        for rows in by_driver(section) {
            groups.push(group(run, section.scenario, &rows));
        }
    }
    groups
}

fn group(run: &Run, scenario: &str, rows: &[&Row]) -> Group {
    let read =
        |quantity: &Quantity| -> Vec<Option<f64>> { rows.iter().map(|row| quantity.read.of(run, row)).collect() };
    let columns: Vec<(&Quantity, Vec<Option<f64>>)> = (QUANTITIES.iter())
        .map(|quantity| (quantity, read(quantity)))
        .filter(|(_, values)| values.iter().any(Option::is_some))
        .collect();
    let line = |place: usize, row: &Row| Line {
        server: name(&row.series.server),
        protocol: label(&row.series.protocol),
        cells: columns
            .iter()
            .map(|(quantity, values)| cell(quantity, values, place, rows))
            .collect(),
    };
    let first = rows.first().map(|row| row.series);
    Group {
        scenario: name(scenario),
        driver: first.map_or(String::new(), |series| name(&series.driver)),
        about: first.map_or(String::new(), |series| offered(&series.load)),
        first: first.map_or(String::new(), |series| name(&series.server)),
        panels: panels(run, rows),
        swept: rows.iter().all(|row| swept(row).is_some()),
        lines: rows.iter().enumerate().map(|(place, row)| line(place, row)).collect(),
        columns: (columns.iter())
            .map(|(quantity, _)| Column {
                key: quantity.key,
                label: quantity.label,
                better: quantity.better,
            })
            .collect(),
    }
}

fn cell(quantity: &Quantity, values: &[Option<f64>], place: usize, rows: &[&Row]) -> Cell {
    let row = rows[place];
    let found = values[place];
    let ratio = match (found, values[0]) {
        (Some(value), Some(first)) if place > 0 && first > 0.0 => match quantity.read.beside(row, rows[0]) {
            Some(beside) => times(Some(beside)),
            None => format!("× {}", three_digits(value / first)),
        },
        _ => String::new(),
    };
    let ceiling = quantity.key == "throughput" && found.is_some();
    Cell {
        key: quantity.key,
        text: found.map_or("–".into(), quantity.write),
        ratio,
        mark: match row.bound {
            Some(Bound::Client) if ceiling => "client-bound",
            Some(Bound::Neither) if ceiling => "neither side busy",
            _ => "",
        },
    }
}

/// What gRPC costs beside HTTP in this run, in sentences; a statement for each thing that can be said.
pub(super) fn answer(run: &Run) -> Vec<String> {
    let (mut cpu, mut throughput, mut pairs) = (Vec::new(), Vec::new(), 0);
    let sections = sections(run);
    for rows in sections.iter().flat_map(by_driver) {
        let Some(http) = rows.iter().find(|row| !is_grpc(&row.series.protocol)) else {
            continue;
        };
        for grpc in rows.iter().filter(|row| is_grpc(&row.series.protocol)) {
            let times = |metric| Some(of(grpc, metric)? / of(http, metric)?).filter(|times| times.is_finite());
            pairs += 1;
            cpu.extend(times(Metric::ServerCpu));
            if ![http.bound, grpc.bound].contains(&Some(Bound::Client)) {
                throughput.extend(times(Metric::Throughput));
            }
        }
    }
    let mut said = Vec::new();
    if let Some(range) = range(&cpu) {
        said.push(format!(
            "A request costs a gRPC server {range} the CPU time that it costs the first HTTP server, over {} of the same work asked by the same driver.",
            crate::site::shown::plural(cpu.len(), "pair")
        ));
    }
    match range(&throughput) {
        Some(range) => said.push(format!(
            "Its throughput is {range} that of HTTP where the driver was not the limit: in {} of {pairs} pairs.",
            throughput.len()
        )),
        None if pairs > 0 => {
            said.push("Of throughput nothing can be said: the driver was the limit in every pair.".into());
        }
        None => said.push("No driver asked an HTTP and a gRPC server for the same work.".into()),
    }
    said
}

/// `1.42 times`, or `1.31 to 2.05 times (median 1.60)`.
fn range(times: &[f64]) -> Option<String> {
    let middle = median(times)?;
    let low = times.iter().copied().fold(f64::INFINITY, f64::min);
    let high = times.iter().copied().fold(0.0, f64::max);
    let (low, middle, high) = (three_digits(low), three_digits(middle), three_digits(high));
    Some(if low == high {
        format!("{low} times")
    } else {
        format!("{low} to {high} times (median {middle})")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;

    #[test]
    fn ratios_are_to_the_first_http_server_of_the_same_driver() {
        let run = samples::reference();
        let groups = groups(&run);
        let fixed = groups
            .iter()
            .find(|group| group.scenario == "weather-fixed-count" && group.driver == "h2load")
            .unwrap();
        assert_eq!(
            (&*fixed.first, &*fixed.lines[0].protocol, fixed.lines.len()),
            ("http", "HTTP/1.1", 4)
        );
        assert!(fixed.lines[0].cells.iter().all(|cell| cell.ratio.is_empty()));
        let of = |id: &str| run.series.iter().find(|series| series.id == id).unwrap();
        let expected = Beside::of(
            Metric::ServerCpu,
            of("weather-fixed-count@grpc@h2load"),
            of("weather-fixed-count@http@h2load"),
        );
        let grpc = fixed.lines.iter().find(|line| line.server == "grpc").unwrap();
        assert_eq!(grpc.cells[0].ratio, times(expected));
        assert_eq!(grpc.cells[1].mark, "client-bound");
    }

    #[test]
    fn what_two_machines_measured_is_not_put_side_by_side() {
        let mut run = samples::reference();
        samples::part(&mut run, |series| series.server.starts_with("grpc"));
        let groups = groups(&run);
        assert!(!groups.is_empty());
        for group in &groups {
            let grpc = group
                .lines
                .iter()
                .filter(|line| line.server.starts_with("grpc"))
                .count();
            assert!(grpc == 0 || grpc == group.lines.len(), "{group:?}");
        }
        assert_eq!(
            answer(&run),
            ["No driver asked an HTTP and a gRPC server for the same work."]
        );
        let sections = sections(&run);
        for relative in sections.iter().flat_map(wirebench_judge::summary::relatives) {
            assert_eq!(relative.row.shard, relative.first.shard);
        }
    }

    #[test]
    fn wire_bytes_stand_only_beside_the_server_they_were_counted_of() {
        let mut run = samples::reference();
        samples::with_counts(&mut run);
        let groups = groups(&run);
        let fixed = groups
            .iter()
            .find(|group| group.scenario == "weather-fixed-count" && group.driver == "hey")
            .unwrap();
        let last = |server: &str| {
            let line = fixed.lines.iter().find(|line| line.server == server).unwrap();
            line.cells.last().map(|cell| cell.text.clone()).unwrap()
        };
        assert_eq!((last("http"), last("http-multi")), ("261 B".into(), "–".into()));
    }

    #[test]
    fn a_throughput_at_the_clients_ceiling_is_no_answer() {
        let mut run = samples::reference();
        let said = answer(&run);
        assert!(
            said[0].contains("times (median") && said[1].contains(" pairs"),
            "{said:?}"
        );
        for round in run.series.iter_mut().flat_map(|series| &mut series.rounds) {
            round.bound = Some(Bound::Client);
        }
        assert!(answer(&run)[1].starts_with("Of throughput nothing can be said"));
    }
}
