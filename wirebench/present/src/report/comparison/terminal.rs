//! The comparison as a person sees it in a terminal, in the same words and order as the comment.

use std::fmt::Write as _;

use crate::report::columns::Columns;
use crate::report::comparison::advice::{self, Advice};
use crate::report::comparison::sections::Brackets;
use crate::report::comparison::words::{self, effect, symbol, word};
use crate::report::comparison::{functions, headline, reasons, sections};
use crate::report::escape::command;
use crate::report::format::{self, plain, shortened};
use crate::report::limits;
use wirebench_judge::summary::comparison::{Findings, Row, Standing};
use wirebench_record::comparison::{ComparedSeries, Comparison};

/// The columns, with the head of the change.
const fn columns(heads: &'static [&'static str; 8]) -> Columns<'static> {
    Columns {
        heads,
        text: &["verdict", "series", "metric"],
        dispensable: &[
            &[],
            &["smallest\nseen"],
            &["smallest\nseen", "worse\nat most"],
            &["smallest\nseen", "worse\nat most", "baseline", "candidate"],
        ],
    }
}

/// Heads of all columns but that of the change, which says what stands in its brackets.
macro_rules! heads {
    ($change:literal) => {
        &[
            "verdict",
            "series",
            "metric",
            "baseline",
            "candidate",
            $change,
            "worse\nat most",
            "smallest\nseen",
        ]
    };
}

const fn columns_for(brackets: Brackets) -> Columns<'static> {
    columns(match brackets {
        Brackets::Nothing => heads!("change"),
        Brackets::Interval => heads!("change\n(95 % interval)"),
        Brackets::Range => heads!("change\n(range over repetitions)"),
        Brackets::Both => heads!("change\n(95 % interval; counted: range)"),
    })
}

/// Characters of a series' name that are shown.
const NAME: usize = 60;

/// Characters of a function's name that are shown.
const FUNCTION: usize = 100;

/// The comparison as text; `width` is the terminal's, none means unlimited.
#[must_use]
pub fn render(comparison: &Comparison, width: Option<u16>) -> String {
    let findings = Findings::of(comparison);
    let mut out = one_line(comparison) + "\n";
    let Advice { text, commands } = advice::of(comparison, &findings, plain, plain);
    let _ = writeln!(out, "Next: {text}");
    for command in commands {
        let _ = writeln!(out, "  {command}");
    }
    if let Some(nulls) = sections::nulls(&findings) {
        let _ = writeln!(out, "Check: {nulls}");
    }
    let notes = comparison.notes.iter().map(|note| plain(&reasons::note(note)));
    for note in notes.chain(sections::remarks(comparison, plain, plain)) {
        let _ = writeln!(out, "Before trusting it: {note}");
    }
    let all: Vec<&Row> = findings.gating.iter().collect();
    out.push_str(&table(&all, width));
    remarks(&all, &mut out);
    out.push_str(&limits::terminal(&comparison.limits));
    for row in findings.explained() {
        explained(row, &mut out);
    }
    if !findings.informative.is_empty() {
        let _ = writeln!(
            out,
            "\nInformative, does not gate: {}",
            sections::tally(&findings.informative)
        );
        let telling = |row: &&Row| !matches!(row.standing, Standing::Unchanged | Standing::Inconclusive);
        let telling: Vec<&Row> = findings.informative.iter().filter(telling).collect();
        out.push_str(&table(&telling, width));
    }
    not_compared(&findings, &mut out);
    foot(comparison, &findings, &mut out);
    out
}

/// The series that were not compared, and why; those whose program is the same on both sides in one line.
fn not_compared(findings: &Findings, out: &mut String) {
    let mut lines = Vec::new();
    for (how, all) in sections::by_presence(findings) {
        let (same, others): (Vec<&&ComparedSeries>, Vec<_>) = all.iter().partition(|series| series.same_program);
        lines.extend(others.into_iter().map(|series| {
            let why = series.reason.as_ref();
            let why = why.map_or_else(String::new, |why| format!(": {}", plain(&reasons::series(why))));
            format!("Not compared, {how}: {}{why}", plain(&series.id))
        }));
        let names: Vec<String> = same.into_iter().map(|series| plain(&series.id)).collect();
        if !names.is_empty() {
            lines.push(format!("Not measured, {how}: {}", names.join(", ")));
        }
    }
    for (place, line) in lines.iter().enumerate() {
        let blank = if place == 0 { "\n" } else { "" };
        let _ = writeln!(out, "{blank}{line}");
    }
}

/// The overall verdict in one line.
#[must_use]
pub fn one_line(comparison: &Comparison) -> String {
    let findings = Findings::of(comparison);
    let summary = headline::summary(comparison, &findings, plain, plain);
    format!("{}. {summary}", headline::verdict(comparison))
}

/// The gating rows of some standings, with what is known of each; empty when there are none.
#[must_use]
pub fn offenders(comparison: &Comparison, standings: &[Standing], width: Option<u16>) -> String {
    let findings = Findings::of(comparison);
    let rows: Vec<&Row> = (findings.gating.iter())
        .filter(|row| standings.contains(&row.standing))
        .collect();
    let mut out = table(&rows, width);
    remarks(&rows, &mut out);
    out
}

fn table(rows: &[&Row], width: Option<u16>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let lines: Vec<Vec<String>> = rows.iter().map(|row| line(row)).collect();
    let columns = columns_for(Brackets::of(rows.iter().copied()));
    let table = columns.fitting(&lines, width).to_string();
    let trimmed = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    "\n".to_owned() + &trimmed.collect::<String>()
}

fn line(row: &Row) -> Vec<String> {
    let dash = || String::from("–");
    let mut line = vec![
        format!("{} {}", symbol(row.standing), word(row.standing)),
        shortened(&plain(&row.series.id), NAME),
    ];
    line.extend(match row.metric {
        Some(metric) => {
            let [baseline, candidate] = sections::values(metric).map(|value| plain(&value));
            let at_most = metric
                .worse_at_most_percent
                .map_or_else(dash, |percent| words::size(percent.max(0.0)));
            let seen = sections::resolvable(metric);
            // `CPU/req`: that of the server needs no saying.
            let name = metric.metric.row().head.trim_start_matches("server ");
            [name.to_owned(), baseline, candidate, effect(metric), at_most, seen]
        }
        None => [dash(), dash(), dash(), dash(), dash(), dash()],
    });
    line
}

/// What is known of each row and does not stand in its columns.
fn remarks(rows: &[&Row], out: &mut String) {
    let open = |row: &&&Row| {
        matches!(
            row.standing,
            Standing::Invalid | Standing::Inconclusive | Standing::Accepted
        )
    };
    for (place, row) in rows.iter().filter(open).enumerate() {
        let blank = if place == 0 { "\n" } else { "" };
        let metric = row
            .metric
            .map_or_else(String::new, |metric| format!(" {}", metric.metric.label()));
        let (symbol, name) = (symbol(row.standing), plain(&row.series.id));
        let _ = writeln!(out, "{blank}{symbol} {name}{metric}: {}", plain(&words::sentence(row)));
    }
}

/// The functions that carry a change, and where it is drawn.
fn explained(row: &Row, out: &mut String) {
    let _ = writeln!(out, "\n{}:", functions::head(row, plain));
    for function in row.functions() {
        let name = shortened(&plain(&function.function), FUNCTION);
        let place = functions::origin(function, plain);
        let _ = writeln!(out, "  {name} {}{place}", functions::change(function));
    }
    if let Some(path) = row.metric.and_then(|metric| metric.flame_graph.as_deref()) {
        let _ = writeln!(out, "  flame graph {} in the run's folder", plain(path));
    }
}

fn foot(comparison: &Comparison, findings: &Findings, out: &mut String) {
    let side = |side| headline::side(side, plain);
    let _ = writeln!(
        out,
        "\ncode     {} → {}",
        side(&comparison.baseline),
        side(&comparison.candidate)
    );
    let host = &comparison.host;
    let _ = writeln!(
        out,
        "machine  {}, fingerprint {}",
        format::machine(host),
        plain(&host.fingerprint)
    );
    if comparison.paired {
        if let Some(spreads) = sections::spreads(findings) {
            let _ = writeln!(out, "spread   {spreads}");
        }
        if let Some(dropped) = sections::dropped(findings) {
            let _ = writeln!(out, "pairs    left out over all metrics: {dropped}");
        }
        let _ = writeln!(
            out,
            "method   seed {}; {}",
            comparison.method.seed,
            sections::false_alarms(comparison)
        );
        if let Some(gates) = &comparison.method.gates {
            let _ = writeln!(out, "gates    {}", plain(gates));
        }
    }
    if let Some(line) = command(&comparison.repeat) {
        let _ = writeln!(out, "repeat   {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::reason::{Note, SeriesReason};
    use wirebench_testing::golden;

    #[test]
    fn a_narrow_terminal_gets_fewer_columns_not_broken_lines() {
        let comparison = golden("regressed");
        let all = [Standing::Regressed, Standing::Unchanged];
        let [wide, narrow] = [None, Some(90)].map(|width| offenders(&comparison, &all, width));
        assert!(wide.contains("smallest") && !narrow.contains("smallest"));
        assert!(narrow.lines().all(|line| line.chars().count() <= 90), "{narrow}");
        assert_eq!(wide.lines().count(), narrow.lines().count(), "{narrow}");
    }

    #[test]
    fn text_of_a_record_cannot_steer_the_terminal() {
        let mut comparison = golden("mixed");
        for series in &mut comparison.series {
            series.id = "\u{1b}[2J\u{202e}x\ny".into();
            series.reason = Some(SeriesReason::Text {
                text: "\u{7}\r\n✓ improved".into(),
            });
        }
        comparison.notes = vec![Note::Text {
            text: "\u{1b}]0;title\u{7}".into(),
        }];
        let shown = render(&comparison, None);
        assert!(
            !shown
                .chars()
                .any(|c| c != '\n' && (c.is_control() || format::is_unseen(c)))
        );
        assert!(!shown.lines().any(|line| line.starts_with("✓ improved")));
    }

    #[test]
    fn only_the_offenders_are_listed() {
        let comparison = golden("mixed");
        let shown = offenders(&comparison, &[Standing::Regressed], None);
        assert!(shown.contains("✗ regressed") && !shown.contains("✓") && !shown.contains("accepted"));
        assert_eq!(offenders(&golden("unchanged"), &[Standing::Regressed], None), "");
    }
}
