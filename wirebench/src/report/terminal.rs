//! The table a person sees when a run ends.

use std::fmt::Write as _;

use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use crate::record::run::{Run, SeriesStatus};
use crate::report::cells;
use crate::report::format::plain;
use crate::summary::{Row, Section, sections};

/// The run as text; `width` is the terminal's, none means unlimited.
#[must_use]
pub fn render(run: &Run, width: Option<u16>) -> String {
    let mut out = String::new();
    for section in sections(run) {
        let _ = writeln!(out, "\n{}", section.scenario);
        let _ = writeln!(out, "{}", table(&section, width));
    }
    let troubled: Vec<_> = run
        .series
        .iter()
        .filter(|series| series.status != SeriesStatus::Ok)
        .collect();
    if !troubled.is_empty() {
        let _ = writeln!(out, "\nNot every round is good:");
        for series in troubled {
            let _ = writeln!(
                out,
                "  {}: {}",
                series.id,
                plain(series.reason.as_deref().unwrap_or("no reason recorded"))
            );
        }
    }
    out
}

fn table(section: &Section, width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─')));
    if let Some(width) = width {
        table
            .set_width(width)
            .set_content_arrangement(ContentArrangement::Dynamic);
    }
    let start_up = section.rows.iter().all(Row::is_start_up);
    let heads: &[&str] = if start_up {
        &["server", "driver", "to first answer (p50)", "slowest", "note"]
    } else {
        &[
            "server",
            "driver",
            "protocol",
            "req/s",
            "± %",
            "p50",
            "p99",
            "CPU/req server",
            "CPU/req driver",
            "RSS",
            "note",
        ]
    };
    table.set_header(heads.iter().map(|head| Cell::new(head).add_attribute(Attribute::Bold)));
    for row in &section.rows {
        table.add_row(line(row, start_up));
    }
    let text_columns = if start_up { 2 } else { 3 };
    for (index, column) in table.column_iter_mut().enumerate() {
        if index >= text_columns && index + 1 < heads.len() {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn line(row: &Row, start_up: bool) -> Vec<String> {
    let series = row.series;
    let mut line = vec![series.server.clone(), series.driver.clone()];
    if start_up {
        line.extend(cells::start_up(row));
    } else {
        line.push(series.protocol.clone());
        line.extend(cells::load(row));
    }
    line.push(row.note());
    line
}
