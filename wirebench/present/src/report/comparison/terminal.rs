//! The comparison in a terminal, in the same words and order as the comment.

use askama::Template;

use crate::report::comparison::rows::{self, Line};
use crate::report::comparison::verdict::symbol;
use crate::report::comparison::view::View;
use crate::report::comparison::{facts, headline, reasons};
use crate::report::escape::{TERMINAL, command};
use crate::report::format::{plain, shortened};
use crate::report::limits;
use wirebench_judge::summary::comparison::{Findings, RowStatus};
use wirebench_record::comparison::{ComparedSeries, Comparison};

/// Characters of a function's name that are shown.
const FUNCTION: usize = 100;

#[derive(Template)]
#[template(path = "comparison.txt")]
struct Text<'a> {
    view: View<'a>,
    width: Option<u16>,
}

/// The comparison as text; `width` is the terminal's, `None` means unlimited.
pub fn render(comparison: &Comparison, width: Option<u16>) -> String {
    let view = View::of(comparison, TERMINAL);
    let text = Text { view, width }.render();
    text.expect("the template only writes into a string")
}

/// The informative rows about which something is known.
fn informative(view: &View, width: Option<u16>) -> String {
    let is_clear = |line: &&Line| !matches!(line.row.status, RowStatus::Unchanged | RowStatus::Inconclusive);
    table(view.informative.iter().filter(is_clear), width)
}

/// The overall verdict and the judged commits in one line.
pub fn one_line(comparison: &Comparison) -> String {
    let summary = headline::summary(comparison, &Findings::of(comparison), TERMINAL);
    let [baseline, candidate] =
        [&comparison.baseline, &comparison.candidate].map(|side| headline::side(side, TERMINAL));
    let verdict = headline::verdict(comparison);
    format!("{verdict}. {summary} Judged: candidate {candidate} against baseline {baseline}.")
}

/// The gating rows with one of these standings, with their reasons; empty without any.
pub fn offenders(comparison: &Comparison, standings: &[RowStatus], width: Option<u16>) -> String {
    let findings = Findings::of(comparison);
    let rows = findings.gating.iter().filter(|row| standings.contains(&row.status));
    let lines: Vec<Line> = rows.map(|row| Line::of(row, TERMINAL)).collect();
    table(&lines, width) + &explained(&lines)
}

fn table<'a>(lines: impl IntoIterator<Item = &'a Line<'a>>, width: Option<u16>) -> String {
    let table = rows::table(lines);
    if table.is_empty() {
        return String::new();
    }
    "\n".to_owned() + &table.terminal(width)
}

/// The reasons that the columns do not show.
fn explained(lines: &[Line]) -> String {
    let has_more = |line: &&Line| {
        matches!(
            line.row.status,
            RowStatus::Invalid | RowStatus::Inconclusive | RowStatus::Accepted
        )
    };
    let reason = |line: &Line| {
        let metric = line.label().map_or_else(String::new, |label| format!(" {label}"));
        format!("{} {}{metric}: {}", symbol(line.row.status), line.series, line.reason)
    };
    paragraph(lines.iter().filter(has_more).map(reason))
}

/// Lines after an empty one; nothing without lines.
fn paragraph(lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.map(|line| line + "\n").collect();
    if lines.is_empty() {
        lines
    } else {
        "\n".to_owned() + &lines
    }
}

/// The series that were not compared, and why; those with the same program on both sides in one line.
fn not_compared(all: &[(&str, &ComparedSeries)]) -> String {
    let mut lines = Vec::new();
    for group in all.chunk_by(|one, next| one.0 == next.0) {
        let how = group[0].0;
        let (same, others): (Vec<_>, Vec<_>) = group.iter().partition(|(_, series)| series.same_program);
        lines.extend(others.into_iter().map(|(_, series)| {
            let reason = reasons::not_compared(series, TERMINAL).map_or_else(String::new, |why| format!(": {why}"));
            format!("Not compared, {how}: {}{reason}", plain(&series.id))
        }));
        let names: Vec<String> = same.into_iter().map(|(_, series)| plain(&series.id)).collect();
        if !names.is_empty() {
            lines.push(format!("Not measured, {how}: {}", names.join(", ")));
        }
    }
    paragraph(lines.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::format;
    use wirebench_record::reason::{Note, SeriesReason};
    use wirebench_testing::golden;

    #[test]
    fn a_narrow_terminal_gets_fewer_columns_not_broken_lines() {
        let comparison = golden("regressed");
        let all = [RowStatus::Regressed, RowStatus::Unchanged];
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
        let shown = offenders(&comparison, &[RowStatus::Regressed], None);
        assert!(shown.contains("✗ regressed") && !shown.contains("✓") && !shown.contains("accepted"));
        assert_eq!(offenders(&golden("unchanged"), &[RowStatus::Regressed], None), "");
    }
}
