//! One scenario of a run as it is shown: what was measured, and its tables.

use crate::report::cells::median;
use crate::report::charts::Chart;
use crate::report::escape::prose;
use crate::report::format::bytes;
use crate::report::table::{Column, Field, Table, in_two_lines, number, text};
use crate::report::{cells, head_to_head, pacing};
use wirebench_judge::summary::{Row, Section};
use wirebench_record::metric::Metric;

/// A scenario's text and tables.
#[derive(Debug)]
pub(super) struct ScenarioView<'a> {
    pub(super) name: &'a str,
    /// What was measured, in one sentence.
    pub(super) about: String,
    /// A row for each series.
    pub(super) series: Table,
    /// The offered rates of open loops; empty without any.
    pub(super) offered: Table,
    /// The rates that each search tried.
    pub(super) searches: Vec<String>,
    /// Servers that one driver loaded, compared with the first of them; empty without two such servers.
    pub(super) head_to_head: Table,
    /// Of each server with several processes: a sentence, and a row for each process.
    pub(super) chains: Vec<(String, Table)>,
    /// The pictures of the scenario.
    pub(super) charts: Vec<&'a Chart>,
}

impl<'a> ScenarioView<'a> {
    pub(super) fn of(section: &Section<'a>, charts: &'a [Chart]) -> Self {
        let kind = Kind::of(section);
        let of_load: &[Row] = if kind == Kind::Load { &section.rows } else { &[] };
        Self {
            name: section.scenario,
            about: (section.rows.first()).map_or_else(String::new, |row| pacing::offered(&row.series.load)),
            series: Table::of(&section.rows, fields(kind)),
            offered: pacing::table(of_load),
            searches: pacing::searches(of_load),
            head_to_head: head_to_head::table([section]),
            chains: of_load.iter().filter_map(chain).collect(),
            charts: charts
                .iter()
                .filter(|chart| chart.scenario == section.scenario)
                .collect(),
        }
    }
}

/// The columns of the series of such a scenario.
fn fields<'a>(kind: Kind) -> Vec<Field<Row<'a>>> {
    let p50 = |row: &Row| median(row, Metric::LatencyP50);
    let mut fields = vec![
        text("server").with(|row: &Row<'a>| row.series.server.clone()),
        text("driver").with(|row: &Row| row.series.driver.clone()),
    ];
    fields.extend(match kind {
        Kind::StartUp => vec![
            number("starts a round")
                .markdown_only()
                .with(|row: &Row| row.series.load.starts.unwrap_or(0).to_string()),
            number("to first answer (p50)").in_markdown("p50").with(p50),
            number("slowest").with(cells::slowest),
        ],
        Kind::Benchmark => vec![
            number("samples a round")
                .markdown_only()
                .with(|row: &Row| row.series.load.samples.unwrap_or(0).to_string()),
            number("one iteration (p50)").in_markdown("p50").with(p50),
            number("p99").with(|row: &Row| median(row, Metric::LatencyP99)),
        ],
        Kind::Load => of_load(),
    });
    fields.push(text("note").with(Row::note));
    fields
}

/// The columns of loads: every timed metric that has one.
fn of_load<'a>() -> Vec<Field<Row<'a>>> {
    let protocol = |row: &Row<'a>| row.series.protocol.clone();
    let mut fields = vec![text("protocol").dispensable(2).with(protocol)];
    for metric in Metric::columns(Metric::is_timed) {
        let row = metric.row();
        let priority = match metric {
            Metric::PeakRss => 1,
            Metric::DriverCpu => 3,
            _ => 0,
        };
        let column = number(in_two_lines(row.head)).in_markdown(row.column.unwrap_or(row.head));
        fields.push(column.dispensable(priority).with(move |row: &Row| median(row, metric)));
        if metric == Metric::Throughput {
            fields.push(number("± %").dispensable(3).with(cells::half_range));
        }
    }
    let payload = |row: &Row| row.payload_bytes.map_or("–".into(), |size| bytes(size as f64));
    fields.push(number("payload").markdown_only().with(payload));
    fields
}

/// What each process of a chain used; `None` for a server of one process.
fn chain(row: &Row) -> Option<(String, Table)> {
    let rows = cells::processes(row.series);
    let mut columns: Vec<Column> = rows.first()?.iter().map(|(head, _)| number(*head)).collect();
    columns[0] = text("process");
    let rows = (rows.iter()).map(|line| line.iter().map(|(_, cell)| prose(cell)).collect::<Vec<String>>());
    let (server, driver) = (&row.series.server, &row.series.driver);
    let about = format!("Processes of the chain {server}, asked by {driver}:");
    Some((about, Table::new(columns, rows)))
}

/// What the series of a scenario measure: all of them the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Process starts.
    StartUp,
    /// Iterations inside a program.
    Benchmark,
    /// A server under load.
    Load,
}

impl Kind {
    pub(super) fn of(section: &Section) -> Self {
        if section.rows.iter().all(Row::is_start_up) {
            Self::StartUp
        } else if section.rows.iter().all(Row::is_benchmark) {
            Self::Benchmark
        } else {
            Self::Load
        }
    }
}
