//! The table a person sees when a run ends.

use std::fmt::Write as _;

use comfy_table::Table;

use crate::report::cells;
use crate::report::columns::{Columns, in_two_lines};
use crate::report::counted;
use crate::report::format::{other_hosts, plain};
use crate::report::head_to_head;
use crate::report::limits;
use wirebench_judge::limits::judge;
use wirebench_judge::summary::{Row, Section, sections};
use wirebench_record::run::{Run, SeriesStatus};

/// The run as text; `width` is the terminal's, none means unlimited.
#[must_use]
pub fn render(run: &Run, width: Option<u16>) -> String {
    let mut out = String::new();
    for section in sections(run) {
        let _ = writeln!(out, "\n{}", section.scenario);
        let _ = writeln!(out, "{}", fitting(&section, width));
    }
    if let Some(others) = other_hosts(run) {
        let _ = writeln!(out, "\n{others}");
    }
    out.push_str(&head_to_head::terminal(run, width));
    out.push_str(&counted::terminal(run, width));
    out.push_str(&limits::terminal(&judge(run)));
    let troubled: Vec<_> = run
        .series
        .iter()
        .filter(|series| series.status != SeriesStatus::Ok && !series.is_counted())
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

const START_UP: Columns = Columns {
    heads: &["server", "driver", "to first answer (p50)", "slowest", "note"],
    text: &["server", "driver", "note"],
    dispensable: &[&[]],
};

const BENCHMARK: Columns = Columns {
    heads: &["server", "driver", "one iteration (p50)", "p99", "note"],
    text: &["server", "driver", "note"],
    dispensable: &[&[]],
};

const LOAD: Columns = Columns {
    heads: &["server", "driver", "protocol", "note"],
    text: &["server", "driver", "protocol", "note"],
    dispensable: &[
        &[],
        &["RSS"],
        &["RSS", "protocol"],
        &["RSS", "protocol", "± %", "driver\nCPU/req"],
    ],
};

/// The section with as many columns as fit into the width.
fn fitting(section: &Section, width: Option<u16>) -> Table {
    let lines: Vec<Vec<String>> = section.rows.iter().map(line).collect();
    if section.rows.iter().all(Row::is_start_up) {
        return START_UP.fitting(&lines, width);
    }
    if section.rows.iter().all(Row::is_benchmark) {
        return BENCHMARK.fitting(&lines, width);
    }
    let metrics = cells::load_heads(|metric| in_two_lines(metric.row().head));
    let mut heads = LOAD.heads.to_vec();
    heads.splice(3..3, metrics.iter().map(String::as_str));
    let columns = Columns { heads: &heads, ..LOAD };
    columns.fitting(&lines, width)
}

/// The cells of a row; all rows of a scenario are of one kind.
fn line(row: &Row) -> Vec<String> {
    let series = row.series;
    let mut line = vec![series.server.clone(), series.driver.clone()];
    if row.is_start_up() {
        line.extend(cells::start_up(row));
    } else if row.is_benchmark() {
        line.extend(cells::benchmark(row));
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
    use wirebench_record::run::Run;

    #[test]
    fn a_narrow_terminal_gets_fewer_columns_not_broken_lines() {
        let text = include_str!("../../../../results/reference/run.json");
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
