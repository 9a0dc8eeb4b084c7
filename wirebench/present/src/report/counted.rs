//! What was counted in a run, as one small table: the figures of the candidate per request, and why one is missing.

use std::fmt::Write as _;

use crate::report::columns::{Columns, in_two_lines};
use crate::report::comparison::words::figure;
use crate::report::format::plain;
use wirebench_judge::summary::counted;
use wirebench_record::counts::{CountStatus, Counts};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Run, Series, SeriesStatus, Variant};

const COLUMNS: Columns = Columns {
    heads: &["operation", "server", "driver"],
    text: &["operation", "server", "driver"],
    dispensable: &[
        &[],
        &["allocated"],
        &["allocated", "driver"],
        &["allocated", "driver", "wire bytes\nreceived", "allocations"],
    ],
};

/// How many series were counted: `Counted: 3 of 4 series`; none when none was to be.
#[must_use]
pub fn tally(run: &Run) -> Option<String> {
    let good = counted(run).filter(|series| series.status == SeriesStatus::Ok).count();
    let all = counted(run).count();
    (all > 0).then(|| format!("Counted: {good} of {all} series whole"))
}

/// The table for a terminal of that width; empty when nothing was to be counted.
#[must_use]
pub fn terminal(run: &Run, width: Option<u16>) -> String {
    let mut out = String::new();
    let lines: Vec<Vec<String>> = counted(run).filter_map(line).collect();
    if !lines.is_empty() {
        let _ = writeln!(out, "\ncounted, per request");
        let heads: Vec<String> = heads().map(in_two_lines).collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let columns = Columns {
            heads: &heads,
            ..COLUMNS
        };
        let _ = writeln!(out, "{}", columns.fitting(&lines, width));
    }
    for (place, (name, why)) in missing(run).into_iter().enumerate() {
        let head = if place == 0 {
            "\nNot counted, or to be known of it:\n"
        } else {
            ""
        };
        let _ = writeln!(out, "{head}  {name}: {why}");
    }
    out
}

/// The table for `report.md`; empty when nothing was to be counted.
#[must_use]
pub fn markdown(run: &Run) -> String {
    if counted(run).next().is_none() {
        return String::new();
    }
    let mut out = String::from("## Counted, per request\n\n");
    let lines: Vec<Vec<String>> = counted(run).filter_map(line).collect();
    if !lines.is_empty() {
        let heads: Vec<&str> = heads().collect();
        let numbers = "--:|".repeat(heads.len() - COLUMNS.text.len());
        let _ = writeln!(out, "| {} |\n|---|---|---|{numbers}", heads.join(" | "));
        for line in lines {
            let _ = writeln!(out, "| {} |", line.join(" | "));
        }
        out.push_str("\n± is the largest distance of a repetition; where there is none, all repetitions agree.\n\n");
    }
    let missing = missing(run);
    for (name, why) in &missing {
        let _ = writeln!(out, "- `{name}`: {why}");
    }
    if !missing.is_empty() {
        out.push('\n');
    }
    out
}

/// The heads of [`line()`].
fn heads() -> impl Iterator<Item = &'static str> {
    let figures = Metric::columns(Metric::is_counted).filter_map(|metric| metric.row().column);
    COLUMNS.heads.iter().copied().chain(figures)
}

/// The figures of a series; `None` if it has none.
fn line(series: &Series) -> Option<Vec<String>> {
    let counts = series.counts_of(Variant::Candidate)?;
    if counts.figures.is_empty() {
        return None;
    }
    let operation = series.scenario.strip_prefix("count-").unwrap_or(&series.scenario);
    let mut line: Vec<String> = [operation, &series.server, &series.driver].map(plain).to_vec();
    line.extend(Metric::columns(Metric::is_counted).map(|metric| cell(counts, metric)));
    Some(line)
}

/// `16,148 ± 12`, `163 B`, `refused`; a dash where it was not taken.
fn cell(counts: &Counts, metric: Metric) -> String {
    match (counts.figure(metric), counts.value(metric)) {
        (None, _) => "–".into(),
        (Some(_), None) => "refused".into(),
        (_, Some((value, spread))) if spread > 0.0 => {
            let (value, spread) = (figure(metric, value), figure(metric, spread));
            format!("{} ± {spread}", value.trim_end_matches(" B"))
        }
        (_, Some((value, _))) => figure(metric, value),
    }
}

/// What is missing or to be known, with the name of its series; everything made plain.
fn missing(run: &Run) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for series in counted(run) {
        let mut say = |why: &str| found.push((plain(&series.id), plain(why)));
        let Some(counts) = series.counts_of(Variant::Candidate) else {
            say(series.reason.as_deref().unwrap_or("no reason recorded"));
            continue;
        };
        if counts.status != CountStatus::Ok {
            say(counts.reason.as_deref().unwrap_or("no reason recorded"));
        }
        for one in counts.figures.iter().filter(|one| one.value.is_none()) {
            let why = one.refused.as_deref().unwrap_or("no reason recorded");
            say(&format!("{} refused: {why}", one.metric.label()));
        }
        counts.remarks.iter().for_each(|remark| say(remark));
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use wirebench_record::counts::Figure;

    /// The recorded run with a counted series beside its timed ones.
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
    fn figures_stand_with_their_spread_and_refused_ones_with_their_reason() {
        let run = run(&[
            (Metric::Instructions, Some(16_148.2), 12.1),
            (Metric::Allocations, Some(37.02), 0.0),
            (Metric::AllocatedBytes, Some(2_391.4), 0.8),
            (Metric::Syscalls, None, 0.0),
            (Metric::WireBytesSent, Some(163.0), 0.0),
        ]);
        let shown = markdown(&run);
        let row = "| weather | http | hey | 16,148 ± 12.1 | 37.02 | 2,391.4 ± 0.8 B | refused | 163 B | – |";
        assert!(shown.contains(row), "{shown}");
        assert!(
            shown.contains("- `count-weather@http@hey`: system calls per request refused: spread 3 % / above 0.5 %")
        );
        assert!(shown.contains("no symbols"));
        let wide = terminal(&run, None);
        assert!(
            wide.contains("16,148 ± 12.1") && wide.contains("system calls per request refused"),
            "{wide}"
        );
        let narrow = terminal(&run, Some(80));
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
        assert!(terminal(&run, None).contains("count-weather@http@hey: valgrind is not installed"));
        assert!(!markdown(&run).contains("| instructions"));
        run.series.pop();
        assert_eq!((terminal(&run, None), markdown(&run)), (String::new(), String::new()));
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
