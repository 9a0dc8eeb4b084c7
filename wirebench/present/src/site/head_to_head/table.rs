//! The servers that one driver loaded with the same work, as a table whose cells are bars.

use crate::report::format::{plural, three_digits};
use crate::report::head_to_head::times;
use crate::report::pacing::offered;
use crate::site::head_to_head::panel::{Panel, panels};
use crate::site::head_to_head::protocol::label;
use crate::site::head_to_head::quantity::{QUANTITIES, Quantity};
use crate::site::shown::name;
use wirebench_judge::summary::head_to_head::{GrpcCost, by_driver, grpc_cost};
use wirebench_judge::summary::{Row, sections};
use wirebench_record::run::{Bound, Run};
use wirebench_stats::quantile::median;

/// The servers that one driver loaded in one scenario.
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
    pub(super) columns: Vec<&'static Quantity>,
    pub(super) lines: Vec<Line>,
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
    /// What limits it, such as `client-bound`; empty for nothing.
    pub(super) mark: &'static str,
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
    let read = |quantity: &Quantity| -> Vec<Option<f64>> { rows.iter().map(|row| quantity.value(run, row)).collect() };
    let columns: Vec<(&'static Quantity, Vec<Option<f64>>)> = (QUANTITIES.iter())
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
        swept: rows.iter().all(|row| row.sweep_point().is_some()),
        lines: rows.iter().enumerate().map(|(place, row)| line(place, row)).collect(),
        columns: columns.iter().map(|(quantity, _)| *quantity).collect(),
    }
}

fn cell(quantity: &Quantity, values: &[Option<f64>], place: usize, rows: &[&Row]) -> Cell {
    let row = rows[place];
    let found = values[place];
    let ratio = match (found, values[0]) {
        (Some(value), Some(first)) if place > 0 && first > 0.0 => match quantity.ratio(row, rows[0]) {
            Some(beside) => times(Some(beside)),
            None => format!("× {}", three_digits(value / first)),
        },
        _ => String::new(),
    };
    let ceiling = quantity.key == "throughput" && found.is_some();
    Cell {
        key: quantity.key,
        text: found.map_or("–".into(), |value| quantity.write(value)),
        ratio,
        mark: match row.bound {
            Some(Bound::Client) if ceiling => "client-bound",
            Some(Bound::Neither) if ceiling => "neither side busy",
            _ => "",
        },
    }
}

/// What gRPC costs compared with HTTP in this run, in sentences.
pub(super) fn answer(run: &Run) -> Vec<String> {
    let GrpcCost { pairs, cpu, throughput } = grpc_cost(&sections(run));
    let mut sentences = Vec::new();
    if let Some(range) = range(&cpu) {
        sentences.push(format!(
            "A request costs a gRPC server {range} the CPU time that it costs the first HTTP server, over {} of the same work asked by the same driver.",
            plural(cpu.len(), "pair")
        ));
    }
    match range(&throughput) {
        Some(range) => sentences.push(format!(
            "Its throughput is {range} that of HTTP where the driver was not the limit: in {} of {pairs} pairs.",
            throughput.len()
        )),
        None if pairs > 0 => {
            sentences.push("Of throughput nothing can be said: the driver was the limit in every pair.".into());
        }
        None => sentences.push("No driver asked an HTTP and a gRPC server for the same work.".into()),
    }
    sentences
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
    use wirebench_judge::summary::multiple::Multiple;
    use wirebench_record::metric::Metric;

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
        let expected = Multiple::of(
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
        for relative in sections
            .iter()
            .flat_map(wirebench_judge::summary::head_to_head::relatives)
        {
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
