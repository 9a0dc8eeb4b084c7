//! The rows of a comparison as a table: its columns and cells for terminal and Markdown.

use std::collections::BTreeSet;

use crate::report::comparison::{reasons, verdict};
use crate::report::escape::Escape;
use crate::report::family::Family;
use crate::report::format::{self, change, figure, interval, shortened, size};
use crate::report::table::{Column, Table, number, text};
use wirebench_judge::summary::comparison::{Row, RowStatus};
use wirebench_record::comparison::ComparedMetric;

/// Characters of a series' name that a terminal shows.
const NAME: usize = 60;

/// One metric of one series, or a whole series that cannot be judged; text of the record is escaped for the medium.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) row: Row<'a>,
    pub(crate) series: String,
    /// Why it has its standing.
    pub(crate) reason: String,
    /// Baseline and candidate.
    values: [String; 2],
    pub(crate) change: String,
    /// The largest worsening that the interval allows.
    worse_at_most: String,
    /// The smallest worsening that would have been seen.
    pub(crate) smallest_seen: String,
}

impl<'a> Line<'a> {
    pub(super) fn of(row: &Row<'a>, escape: Escape) -> Self {
        let dash = || "–".to_owned();
        let metric = row.metric;
        let values = metric.map_or_else(|| [dash(), dash()], values);
        Self {
            row: *row,
            series: escape.name(&row.series.id),
            reason: escape.sentence(&reasons::row(row)),
            values: values.map(|value| escape.sentence(&value)),
            change: metric.map_or_else(dash, effect),
            worse_at_most: metric
                .and_then(|metric| metric.worse_at_most_percent)
                .map_or_else(dash, |percent| size(percent.max(0.0))),
            smallest_seen: metric.map_or_else(dash, resolvable),
        }
    }

    /// Symbol and word of its standing: `✗ regressed`.
    pub(crate) fn verdict(&self) -> String {
        verdict::of_row(&self.row)
    }

    fn family(&self) -> Option<Family> {
        Family::of(&self.row.series.id)
    }

    /// `None` for a whole series.
    pub(crate) fn label(&self) -> Option<&'static str> {
        self.row.metric.map(|metric| metric.metric.label())
    }

    /// Whether the overall verdict depends on it.
    pub(crate) fn gates(&self) -> bool {
        self.row.metric.is_none_or(|metric| metric.primary)
    }

    /// Baseline and candidate; a dash if both are unknown.
    pub(crate) fn both(&self) -> String {
        match &self.values {
            [baseline, candidate] if baseline == "–" && candidate == "–" => "–".to_owned(),
            [baseline, candidate] => format!("{baseline} → {candidate}"),
        }
    }

    /// The cells of [`table`], in the order of its columns; in Markdown the series has the mark of its protocol if it is `marked`.
    fn cells(&self, marked: bool) -> Vec<String> {
        let standing = self.row.status;
        let (symbol, word) = (verdict::symbol(standing), verdict::word(standing));
        let strong = if self.gates() && standing == RowStatus::Regressed {
            "**"
        } else {
            ""
        };
        let colon = if self.reason.is_empty() { "" } else { ": " };
        let judged = if verdict::worse_within(&self.row).is_some() {
            // The reason says all of it.
            self.reason.clone()
        } else {
            format!("{strong}{word}{strong}{colon}{}", self.reason)
        };
        let [baseline, candidate] = &self.values;
        vec![
            self.verdict(),
            shortened(&self.series, NAME),
            // `CPU/req` is the server's.
            self.row
                .metric
                .map_or("–", |metric| metric.metric.row().head.trim_start_matches("server "))
                .to_owned(),
            format!("{symbol} {}", self.label().unwrap_or("–")),
            baseline.clone(),
            candidate.clone(),
            self.both(),
            self.change.clone(),
            self.family().filter(|_| marked).map_or("", Family::mark).to_owned() + &self.series,
            judged,
            self.worse_at_most.clone(),
            self.smallest_seen.clone(),
        ]
    }
}

/// A row for each line. Markdown begins with what a phone shows of it, has the reason behind the verdict, and where several
/// protocols meet, a mark in the colour of each; a terminal has the largest worsening in a column of its own.
pub(super) fn table<'a>(lines: impl IntoIterator<Item = &'a Line<'a>>) -> Table {
    let lines: Vec<&Line> = lines.into_iter().collect();
    let columns = [
        text("verdict").terminal_only(),
        text("series").terminal_only(),
        text("metric").terminal_only(),
        text("metric").markdown_only(),
        number("baseline").terminal_only().dispensable(3),
        number("candidate").terminal_only().dispensable(3),
        number("baseline → candidate").markdown_only(),
        change_column(&lines),
        text("series").markdown_only(),
        text("verdict").markdown_only(),
        number("worse\nat most").terminal_only().dispensable(2),
        number("smallest\nseen").terminal_only().dispensable(1),
    ];
    let families: BTreeSet<_> = lines.iter().filter_map(|line| line.family()).collect();
    Table::new(columns, lines.iter().map(|line| line.cells(families.len() > 1)))
}

/// The column of changes. Its head says what the brackets after a change contain.
fn change_column(lines: &[&Line]) -> Column {
    let has_interval = |line: &&&Line| line.row.metric.is_some_and(|one| one.effect_low_percent.is_some());
    let with_interval = lines.iter().filter(has_interval);
    let are_counted: Vec<bool> = with_interval.map(|line| line.row.is_counted()).collect();
    match (are_counted.contains(&false), are_counted.contains(&true)) {
        (false, false) => number("change"),
        (true, false) => number("change\n(95 % interval)"),
        (false, true) => number("change\n(range over repetitions)"),
        (true, true) => number("change\n(95 % interval; counted: range)")
            .in_markdown("change (95 % interval; counted: range over repetitions)"),
    }
}

// The figures of a compared metric as text, the same in every table and sentence.

/// The change with its interval: `+11.8 % (+9.9 to +13.6 %)`; without one if a count is exact; a dash if it is unknown.
pub fn effect(metric: &ComparedMetric) -> String {
    let is_counted = metric.metric.is_counted();
    let Some(percent) = metric.effect_percent else {
        return match metric.baseline.zip(metric.candidate) {
            Some((from, to)) if is_counted => format!("from {} to {}", format::number(from), format::number(to)),
            _ => "–".into(),
        };
    };
    match metric.effect_low_percent.zip(metric.effect_high_percent) {
        Some((low, high)) if !(is_counted && change(low) == change(high)) => {
            format!("{} ({})", change(percent), interval(low, high))
        }
        _ => change(percent),
    }
}

/// The changes that an interval allows, and the smallest worsening that could have been seen; `None` without an interval.
pub(super) fn bounds(metric: &ComparedMetric) -> Option<String> {
    let (low, high) = (metric.effect_low_percent?, metric.effect_high_percent?);
    let between = format!("between {} and {}", change(low), change(high));
    Some(match metric.resolvable_percent {
        Some(percent) => format!("{between}; smaller than {} cannot be seen here", size(percent)),
        None => between,
    })
}

/// Baseline and candidate, each with its unit.
pub fn values(metric: &ComparedMetric) -> [String; 2] {
    [metric.baseline, metric.candidate]
        .map(|value| value.map_or_else(|| "–".into(), |value| figure(metric.metric, value)))
}

/// The smallest worsening that would have been seen; `any` for a count without spread.
pub fn resolvable(metric: &ComparedMetric) -> String {
    match metric.resolvable_percent {
        Some(percent) if metric.metric.is_counted() && percent < 1e-6 => "any".into(),
        percent => percent.map_or("–".into(), size),
    }
}
