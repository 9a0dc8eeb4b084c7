//! The table a person sees when a run ends.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

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
        let _ = writeln!(out, "{}", fitting(&section, width));
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

/// What a narrow terminal does without, the most dispensable first; the report has every column.
const DISPENSABLE: [&[&str]; 4] = [
    &[],
    &["RSS"],
    &["RSS", "protocol"],
    &["RSS", "protocol", "± %", "driver\nCPU/req"],
];

const START_UP_HEADS: [&str; 5] = ["server", "driver", "to first answer (p50)", "slowest", "note"];
const LOAD_HEADS: [&str; 11] = [
    "server",
    "driver",
    "protocol",
    "req/s",
    "± %",
    "p50",
    "p99",
    "server\nCPU/req",
    "driver\nCPU/req",
    "RSS",
    "note",
];

/// The section with as many columns as fit into the width.
fn fitting(section: &Section, width: Option<u16>) -> Table {
    let fits = |table: &Table| {
        let longest = table.lines().map(|line| line.trim_end().chars().count()).max();
        longest.unwrap_or(0) <= width.map_or(usize::MAX, usize::from)
    };
    let narrowest = || table(section, DISPENSABLE[DISPENSABLE.len() - 1]);
    DISPENSABLE
        .iter()
        .map(|without| table(section, without))
        .find(fits)
        .unwrap_or_else(narrowest)
}

fn table(section: &Section, without: &[&str]) -> Table {
    let start_up = section.rows.iter().all(Row::is_start_up);
    let heads: &[&str] = if start_up { &START_UP_HEADS } else { &LOAD_HEADS };
    let shown: Vec<usize> = (0..heads.len())
        .filter(|index| !without.contains(&heads[*index]))
        .collect();
    let mut table = Table::new();
    // Styled lines would be counted with their escapes when the width is compared.
    table.force_no_tty();
    table.load_style(TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─')));
    table.set_header(shown.iter().map(|index| heads[*index]));
    for row in &section.rows {
        let line = line(row, start_up);
        table.add_row(shown.iter().map(|index| &line[*index]));
    }
    let is_text = |index: usize| ["server", "driver", "protocol", "note"].contains(&heads[index]);
    for (column, index) in table.column_iter_mut().zip(shown) {
        column.set_padding((0, 1));
        if !is_text(index) {
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

#[cfg(test)]
mod tests {
    use super::render;
    use crate::record::run::Run;

    #[test]
    fn a_narrow_terminal_gets_fewer_columns_not_broken_lines() {
        let text = include_str!("../../../results/reference/run.json");
        let run: Run = serde_json::from_str(text).unwrap();
        let (wide, narrow) = (render(&run, None), render(&run, Some(80)));
        assert!(wide.contains("RSS") && !narrow.contains("RSS"));
        assert_eq!(
            wide.lines().count(),
            narrow.lines().count(),
            "a line was broken:\n{narrow}"
        );
    }
}
