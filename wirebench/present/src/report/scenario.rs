//! The tables of one scenario of a run.

use crate::report::cells::{self, median};
use crate::report::escape::prose;
use crate::report::format::bytes;
use crate::report::table::{Column, Field, Table, in_two_lines, number, text};
use wirebench_judge::summary::{Row, Section};
use wirebench_record::metric::Metric;

/// A row for each series of a scenario.
pub(super) fn table(section: &Section) -> Table {
    Table::of(&section.rows, fields(Kind::of(section)))
}

/// The series of a scenario that loads servers; none of one that measures starts or iterations.
pub(super) fn loads<'a, 'b>(section: &'b Section<'a>) -> &'b [Row<'a>] {
    match Kind::of(section) {
        Kind::Load => &section.rows,
        Kind::StartUp | Kind::Benchmark => &[],
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

/// What each process of a chain used, after a sentence; `None` for a server of one process.
pub(super) fn chain(row: &Row) -> Option<(String, Table)> {
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
