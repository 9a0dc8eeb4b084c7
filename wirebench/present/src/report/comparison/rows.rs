//! The rows of a comparison as a table: its columns and cells for terminal and Markdown.

use crate::report::comparison::cells::{self, effect};
use crate::report::comparison::{reasons, verdict};
use crate::report::escape::Escape;
use crate::report::format::shortened;
use crate::report::percent::size;
use crate::report::table::{Column, Table, number, text};
use wirebench_judge::summary::comparison::{Row, RowStatus};
use wirebench_record::metric::Metric;

/// Characters of a series' name that a terminal shows.
const NAME: usize = 60;

/// One metric of one series, or a whole series that cannot be judged; text of the record is escaped for the medium.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) status: RowStatus,
    pub(super) series: String,
    /// `None` for a whole series.
    pub(super) metric: Option<Metric>,
    /// Why it has its status.
    pub(super) reason: String,
    /// Whether the overall verdict depends on it.
    gates: bool,
    /// Baseline and candidate.
    values: [String; 2],
    change: String,
    /// Whether the change has an interval.
    has_interval: bool,
    /// The largest worsening that the interval allows.
    worse_at_most: String,
    /// The smallest worsening that would have been seen.
    smallest_seen: String,
}

impl Line {
    pub(super) fn of(row: &Row, escape: Escape) -> Self {
        let dash = || "–".to_owned();
        let metric = row.metric;
        let values = metric.map_or_else(|| [dash(), dash()], cells::values);
        Self {
            status: row.status,
            series: escape.name(&row.series.id),
            metric: metric.map(|metric| metric.metric),
            reason: escape.sentence(&reasons::row(row)),
            gates: metric.is_none_or(|metric| metric.primary),
            values: values.map(|value| escape.sentence(&value)),
            change: metric.map_or_else(dash, effect),
            has_interval: metric.is_some_and(|metric| metric.effect_low_percent.is_some()),
            worse_at_most: metric
                .and_then(|metric| metric.worse_at_most_percent)
                .map_or_else(dash, |percent| size(percent.max(0.0))),
            smallest_seen: metric.map_or_else(dash, cells::resolvable),
        }
    }

    pub(super) fn is_counted(&self) -> bool {
        self.metric.is_some_and(Metric::is_counted)
    }

    pub(super) fn label(&self) -> Option<&'static str> {
        self.metric.map(Metric::label)
    }

    /// The cells of [`table`], in the order of its columns.
    fn cells(&self) -> Vec<String> {
        let (symbol, word) = (verdict::symbol(self.status), verdict::word(self.status));
        let strong = if self.gates && self.status == RowStatus::Regressed {
            "**"
        } else {
            ""
        };
        let colon = if self.reason.is_empty() { "" } else { ": " };
        let [baseline, candidate] = &self.values;
        let both = if baseline == "–" && candidate == "–" {
            "–".to_owned()
        } else {
            format!("{baseline} → {candidate}")
        };
        vec![
            format!("{symbol} {word}"),
            shortened(&self.series, NAME),
            self.metric.map_or("–", short_head).to_owned(),
            format!("{symbol} {strong}{word}{strong}{colon}{}", self.reason),
            self.series.clone(),
            self.label().unwrap_or("–").to_owned(),
            baseline.clone(),
            candidate.clone(),
            both,
            self.change.clone(),
            self.worse_at_most.clone(),
            self.smallest_seen.clone(),
        ]
    }
}

/// A row for each line. Markdown has the reason behind the verdict; a terminal has the largest worsening in a column of its own.
pub(super) fn table(lines: &[&Line]) -> Table {
    let columns = [
        text("verdict").terminal_only(),
        text("series").terminal_only(),
        text("metric").terminal_only(),
        text("verdict").markdown_only(),
        text("series").markdown_only(),
        text("metric").markdown_only(),
        number("baseline").terminal_only().dispensable(3),
        number("candidate").terminal_only().dispensable(3),
        number("baseline → candidate").markdown_only(),
        change_column(lines),
        number("worse\nat most").terminal_only().dispensable(2),
        number("smallest\nseen").dispensable(1),
    ];
    Table::new(columns, lines.iter().map(|line| line.cells()))
}

/// The column of changes. Its head says what the brackets after a change contain.
fn change_column(lines: &[&Line]) -> Column {
    let has_brackets = |counted| {
        lines
            .iter()
            .any(|line| line.has_interval && line.is_counted() == counted)
    };
    match (has_brackets(false), has_brackets(true)) {
        (false, false) => number("change"),
        (true, false) => number("change\n(95 % interval)"),
        (false, true) => number("change\n(range over repetitions)"),
        (true, true) => number("change\n(95 % interval; counted: range)")
            .in_markdown("change (95 % interval; counted: range over repetitions)"),
    }
}

/// The short name of a metric: `CPU/req` is the server's.
fn short_head(metric: Metric) -> &'static str {
    metric.row().head.trim_start_matches("server ")
}
