//! What was counted in a run: the figures of the candidate per request, and why one is missing.

use crate::report::escape::Escape;
use crate::report::format::{figure, plain};
use crate::report::table::{Column, Table, in_two_lines, number, text};
use wirebench_judge::summary::counted;
use wirebench_record::counts::{CountStatus, Counts, Figure};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Run, Series, SeriesStatus, Variant};

/// How many series were counted; `None` if none was to be counted.
pub(super) fn tally(run: &Run) -> Option<String> {
    let good = counted(run).filter(|series| series.status == SeriesStatus::Ok).count();
    let all = counted(run).count();
    (all > 0).then(|| format!("Counted: {good} of {all} series whole"))
}

/// A row for each series with figures.
pub(super) fn table(run: &Run) -> Table {
    Table::new(columns(), counted(run).filter_map(row))
}

/// Missing figures of a run and other remarks, each after the name of its series.
pub(super) fn remarks_of(run: &Run, escape: Escape) -> Vec<[String; 2]> {
    let of_all = counted(run).flat_map(|series| {
        let counts: Vec<&Counts> = series.counts_of(Variant::Candidate).into_iter().collect();
        let remarks = remarks(series, &counts, escape).into_iter();
        remarks.map(|remark| [plain(&series.id), remark])
    });
    of_all.collect()
}

/// The metrics that have a column; the record holds the others.
fn shown() -> impl Iterator<Item = Metric> {
    Metric::columns(Metric::is_counted)
}

fn columns() -> Vec<Column> {
    let mut columns = vec![text("operation"), text("server"), text("driver").dispensable(2)];
    columns.extend(shown().map(|metric| {
        let priority = match metric {
            Metric::AllocatedBytes => 1,
            Metric::Allocations | Metric::WireBytesReceived => 3,
            _ => 0,
        };
        let head = metric.row().column.unwrap_or(metric.row().head);
        number(in_two_lines(head)).dispensable(priority)
    }));
    columns
}

/// A series' figures; `None` if it has none to show.
fn row(series: &Series) -> Option<Vec<String>> {
    let counts = series.counts_of(Variant::Candidate)?;
    if counts.figures.is_empty() {
        return None;
    }
    let operation = series.scenario.strip_prefix("count-").unwrap_or(&series.scenario);
    let mut row: Vec<String> = [operation, &series.server, &series.driver].map(plain).to_vec();
    row.extend(shown().map(|metric| cell(counts.figure(metric))));
    Some(row)
}

/// `16,148 ± 12`, `163 B`, `refused`; a dash if it was not counted.
pub(crate) fn cell(found: Option<&Figure>) -> String {
    let Some(found) = found else {
        return "–".into();
    };
    let Some(value) = found.value else {
        return "refused".into();
    };
    let written = figure(found.metric, value);
    match found.spread.filter(|spread| *spread > 0.0) {
        Some(spread) => format!("{} ± {}", written.trim_end_matches(" B"), figure(found.metric, spread)),
        None => written,
    }
}

/// Missing figures of these counts and other remarks; if there are no counts, why. With several variants each remark begins
/// with its variant.
pub(crate) fn remarks(series: &Series, counts: &[&Counts], escape: Escape) -> Vec<String> {
    const UNKNOWN: &str = "no reason recorded";
    let reason = |reason: &Option<String>| escape.sentence(reason.as_deref().unwrap_or(UNKNOWN));
    let mut remarks = Vec::new();
    if counts.is_empty() {
        remarks.push(reason(&series.reason));
    }
    for one in counts {
        let mut found = Vec::new();
        if one.status != CountStatus::Ok {
            found.push(reason(&one.reason));
        }
        let missing = one.figures.iter().filter(|figure| figure.value.is_none());
        found.extend(missing.map(|figure| format!("{} refused: {}", figure.metric.label(), reason(&figure.refused))));
        found.extend(one.remarks.iter().map(|remark| escape.sentence(remark)));
        let of = if counts.len() > 1 {
            format!("{}: ", one.variant.name())
        } else {
            String::new()
        };
        remarks.extend(found.into_iter().map(|remark| of.clone() + &remark));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::report::escape::TERMINAL;

    /// The recorded run with a counted series added to its timed ones.
    fn run(figures: &[(Metric, Option<f64>, f64)]) -> Run {
        let text = include_str!("../../../../results/reference/run.json");
        let mut run: Run = serde_json::from_str(text).unwrap();
        let mut series = run.series[0].clone();
        (series.id, series.scenario) = ("count-weather@http@hey".into(), "count-weather".into());
        (series.server, series.driver) = ("http".into(), "hey".into());
        series.load.counted = Some(600);
        series.rounds.clear();
        let figure = |(metric, value, spread): &(Metric, Option<f64>, f64)| Figure {
            metric: *metric,
            value: *value,
            spread: value.map(|_| *spread),
            refused: value.is_none().then(|| "spread 3 % | above 0.5 %".into()),
            by_layout: Vec::new(),
            points: Vec::new(),
        };
        series.counts = vec![Counts {
            status: CountStatus::Ok,
            reason: None,
            remarks: vec!["no symbols".into()],
            figures: figures.iter().map(figure).collect(),
            syscalls: BTreeMap::new(),
            callers: Vec::new(),
            ..Counts::without(Variant::Candidate, CountStatus::Ok, String::new())
        }];
        run.series.push(series);
        run
    }

    #[test]
    fn figures_have_their_spread_and_refused_ones_their_reason() {
        let run = run(&[
            (Metric::Instructions, Some(16_148.2), 12.1),
            (Metric::Allocations, Some(37.02), 0.0),
            (Metric::AllocatedBytes, Some(2_391.4), 0.8),
            (Metric::Syscalls, None, 0.0),
            (Metric::WireBytesSent, Some(163.0), 0.0),
        ]);
        let shown = crate::report::markdown::render(&run, &[]);
        let row = "| weather | http | hey | 16,148 ± 12.1 | 37.02 | 2,391.4 ± 0.8 B | refused | 163 B | – |";
        assert!(shown.contains(row), "{shown}");
        assert!(
            shown.contains("- `count-weather@http@hey`: system calls per request refused: spread 3 % / above 0.5 %")
        );
        assert!(shown.contains("no symbols"));
        let wide = crate::report::terminal::render(&run, None);
        assert!(
            wide.contains("16,148 ± 12.1") && wide.contains("system calls per request refused"),
            "{wide}"
        );
        let narrow = crate::report::terminal::render(&run, Some(80));
        assert_eq!(
            narrow.lines().count(),
            wide.lines().count(),
            "a line was broken:\n{narrow}"
        );
        assert_eq!(tally(&run).as_deref(), Some("Counted: 1 of 1 series whole"));
    }

    #[test]
    fn a_run_that_counts_nothing_shows_nothing_and_a_skipped_series_says_why() {
        let mut run = run(&[]);
        let counts = run.series.last_mut().map(|series| &mut series.counts).unwrap();
        *counts = vec![Counts::without(
            Variant::Candidate,
            CountStatus::Skipped,
            "valgrind is not installed".into(),
        )];
        assert!(
            crate::report::terminal::render(&run, None).contains("count-weather@http@hey: valgrind is not installed")
        );
        assert!(table(&run).is_empty());
        run.series.pop();
        assert!(table(&run).is_empty() && remarks_of(&run, TERMINAL).is_empty() && tally(&run).is_none());
        assert!(!crate::report::markdown::render(&run, &[]).contains("Counted"));
    }

    #[test]
    fn counted_series_are_not_among_the_timed_ones() {
        let run = run(&[(Metric::Instructions, Some(16_148.0), 0.0)]);
        let report = crate::report::markdown::render(&run, &[]);
        assert!(report.contains("## Counted, per request") && !report.contains("## count-weather"));
        assert!(
            report.lines().nth(2).unwrap().contains("Counted: 1 of 1 series whole."),
            "{report}"
        );
    }
}
