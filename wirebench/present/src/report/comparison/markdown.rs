//! `comparison.md`, the job summary and the comment on a pull request: verdict, the gating rows that changed, what got worse
//! elsewhere, the next step; the rest is folded.

use askama::Template;

use crate::report::comparison::rows::{self, Line};
use crate::report::comparison::view::View;
use crate::report::comparison::{facts, headline, reasons};
use crate::report::cut;
use crate::report::escape::{MARKDOWN, code, command};
use crate::report::format::{declared, plural, size};
use crate::report::limits;
use crate::report::table::{Table, number, text};
use wirebench_judge::summary::comparison::RowStatus;
use wirebench_record::comparison::Comparison;

/// The longest comment that GitHub accepts, in characters; counted here in bytes, which are never fewer.
pub const LIMIT: usize = 65_536;
/// The most counts whose functions are listed.
const EXPLAINED: usize = 10;
/// The longest command line that is shown, bytes.
const COMMAND: usize = 2000;
/// The share of the room that the table of what changed may take; the folded tables have the rest.
const VISIBLE_PERCENT: usize = 70;
/// Where the rest of a table is that is cut.
const REST: &str = "all of it is in comparison.json of the run";

#[derive(Template)]
#[template(path = "comparison.md")]
struct Text<'a> {
    view: &'a View<'a>,
    /// Who measured it; of a comment only.
    origin: &'a str,
    repeat: Option<String>,
    /// The table of what changed.
    table: String,
    /// The folded tables and lists.
    folded: String,
}

#[derive(Template)]
#[template(path = "comparison_folds.md")]
struct Folds<'a> {
    view: &'a View<'a>,
    /// The pairs and the spread of each timed metric, where they are shown.
    pairs: Option<Table>,
}

/// The comparison as Markdown, at most [`LIMIT`] bytes; tables that would be too long are cut and say so.
pub fn render(comparison: &Comparison) -> String {
    within(comparison, LIMIT, None)
}

/// The same in at most `limit` bytes. A comment names its `origin`, and leaves out what the run's own summary has: pairs, and
/// without news every table.
pub(super) fn within(comparison: &Comparison, limit: usize, origin: Option<&str>) -> String {
    let view = View::of(comparison, MARKDOWN);
    let mut text = Text {
        view: &view,
        origin: origin.unwrap_or_default(),
        repeat: command(&comparison.repeat).filter(|line| line.len() <= COMMAND),
        table: String::new(),
        folded: String::new(),
    };
    // The tables have the room that all else leaves.
    let room = limit.saturating_sub(text_of(&text).len());
    let notable = rows::table(view.gating.iter().filter(|line| !is_unchanged(line)));
    if !notable.is_empty() {
        text.table = cut::within(&notable.markdown(), room * VISIBLE_PERCENT / 100, REST) + "\n";
    }
    if origin.is_none() || headline::has_news(comparison) {
        let pairs = (origin.is_none() && comparison.paired).then(|| pairs(&view));
        let folds = Folds { view: &view, pairs };
        text.folded = cut::within(&text_of(&folds), room.saturating_sub(text.table.len()), REST);
    }
    text_of(&text)
}

fn text_of(template: &impl Template) -> String {
    template.render().expect("the template only writes into a string")
}

fn runs(comparison: &Comparison) -> String {
    let (baseline, candidate) = (&comparison.baseline.run, &comparison.candidate.run);
    if baseline == candidate {
        format!("both in run {}", code(candidate))
    } else {
        format!("runs {} and {}", code(baseline), code(candidate))
    }
}

/// The other gating rows are those that a reader has to look at.
fn is_unchanged(line: &Line) -> bool {
    line.row.status == RowStatus::Unchanged
}

fn unchanged<'a>(view: &'a View<'a>) -> Vec<&'a Line<'a>> {
    view.gating.iter().filter(|line| is_unchanged(line)).collect()
}

/// The pairs and the spread of each timed metric.
fn pairs(view: &View) -> Table {
    let row = |line: &Line| {
        let metric = line.row.metric.filter(|metric| metric.pairs > 0)?;
        Some([
            line.series.clone(),
            metric.metric.label().to_owned(),
            declared(metric.margin_percent),
            metric.stage.to_string(),
            format!("{} of {}", metric.kept, metric.pairs),
            format!("{}, {}", metric.dropped_baseline, metric.dropped_candidate),
            metric.spread_percent.map_or("–".into(), size),
            match metric.p_worse {
                None => "–".into(),
                Some(p) if p < 0.0001 => "< 0.0001".into(),
                Some(p) => format!("{p:.4}"),
            },
        ])
    };
    let columns = [
        text("series"),
        text("metric"),
        number("margin"),
        number("stage"),
        number("kept of measured"),
        number("left out: baseline, candidate"),
        number("spread c"),
        number("p worse"),
    ];
    Table::new(columns, view.gating.iter().chain(&view.informative).filter_map(row))
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
    use serde_json::Value;

    use super::*;
    use crate::report::comparison::{functions, terminal};
    use wirebench_record::comparison::{ComparedSeries, FunctionWorkChange, WorkChange, WorkKind};
    use wirebench_record::counts::Source;
    use wirebench_record::reason::{MetricReason, Note, SeriesReason};
    use wirebench_testing::golden;

    const FUNCTIONS: &str = "Functions behind the change";

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
                    Event::Start(Tag::Link { dest_url, .. }) => {
                        assert!(
                            dest_url.ends_with("/docs/FAQ.md#how-do-i-read-the-comment"),
                            "{dest_url} in\n{text}"
                        );
                    }
                    Event::Start(Tag::Image { .. } | Tag::FootnoteDefinition(_)) => {
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
    fn what_changed_stands_before_everything_else() {
        let text = render(&golden("counted-regressed"));
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in\n{text}"));
        let order = [
            "### wirebench",
            "| ✗ instructions",
            "Also worse",
            "**Next:**",
            "[How to read",
            "<details>",
        ];
        assert!(order.map(place).is_sorted(), "{text}");
        assert_eq!(
            text.matches("wirebench accept").count(),
            1,
            "one command for one cause:\n{text}"
        );
        assert!(place(FUNCTIONS) > place("<details>"));
    }

    /// A golden comparison whose server's functions do more, were edited, and were moved.
    fn with_work(name: &str) -> Comparison {
        let function = |name: &str, baseline: f64, candidate: f64, kind: WorkKind| FunctionWorkChange {
            function: name.into(),
            source: Some(Source::at("server.js", 12)),
            baseline,
            candidate,
            kind,
        };
        let mut comparison = golden(name);
        let counted = ComparedSeries {
            id: "count-weather@http@hey".into(),
            scenario: "count-weather".into(),
            verdict: None,
            metrics: Vec::new(),
            work: Some(WorkChange {
                unit: "block".into(),
                functions: vec![
                    function("order", 8.0, 12.0, WorkKind::Changed),
                    function("price", 1.0, 1.0, WorkKind::Edited),
                    function("sum", 0.0, 1.0, WorkKind::Moved),
                ],
            }),
            ..comparison.series[0].clone()
        };
        comparison.series.push(counted);
        comparison
    }

    #[test]
    fn where_a_time_cannot_be_told_the_first_lines_name_the_function_that_does_more() {
        let unclear = with_work("inconclusive");
        assert!(functions::causes(&unclear).is_empty());
        let comment = render(&unclear);
        let said = "Counted: `order` does 4 more blocks per request, 12 instead of 8 (`server.js:12`).";
        assert!(comment.split("\n\n").next().unwrap().contains(said), "{comment}");
        let terminal = terminal::render(&unclear, None);
        let first = terminal.lines().next().unwrap();
        assert!(first.contains("Counted: order does 4 more blocks"), "{terminal}");
        let mut few = with_work("inconclusive");
        let work = few.series.last_mut().unwrap().work.as_mut().unwrap();
        work.functions[0].candidate = 9.0;
        assert!(!render(&few).contains("Counted:"), "1 more of 8");
    }

    #[test]
    fn what_functions_do_is_shown_where_a_timing_got_worse_and_folded_elsewhere() {
        let slower = with_work("regressed");
        let said = "`order` does 4 more blocks per request, 12 instead of 8 (`server.js:12`)";
        let edited = "`price` was edited and executes as many blocks per request";
        let moved = "`sum` is code that was moved, extracted or inlined";
        let comment = render(&slower);
        let named = comment
            .split_once(FUNCTIONS)
            .unwrap()
            .1
            .split("</details>")
            .next()
            .unwrap();
        assert!(
            [said, edited, moved].iter().all(|line| named.contains(line)),
            "{comment}"
        );
        assert!(
            named.contains("a count of work, not a cost: it never gates"),
            "{comment}"
        );
        let first_lines = comment.split("\n\n").next().unwrap();
        assert!(first_lines.contains(said), "{comment}");
        let terminal = terminal::render(&slower, None);
        let first_line = terminal.lines().next().unwrap();
        assert!(
            first_line.contains("order does 4 more blocks per request"),
            "{terminal}"
        );

        let causes = |comparison| -> Vec<String> {
            let causes = functions::causes(comparison).into_iter();
            causes.map(|(source, what)| format!("{} {what}", source.line)).collect()
        };
        let [first, second] = causes(&slower).try_into().unwrap();
        assert_eq!(first, "12 order does 4 more blocks per request, 12 instead of 8");
        assert!(second.starts_with("12 price was edited"), "{second}");

        let equal = with_work("unchanged");
        assert!(causes(&equal).is_empty());
        let comment = render(&equal);
        assert!(!comment.contains("Counted:"), "{comment}");
        let folded = comment
            .split_once("1 function does more or less often per request")
            .unwrap();
        assert!(
            folded.0.ends_with("<details><summary>") && !folded.0.contains("`order`"),
            "{comment}"
        );
        assert!(
            folded.1.contains("does 4 more blocks") && !comment.contains("`price`"),
            "{comment}"
        );
        let terminal = terminal::render(&equal, None);
        assert!(
            terminal.contains("without a slower timing: comparison.md lists them"),
            "{terminal}"
        );
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
        assert!(text.contains("Cut to fit: all of it is in comparison.json"));
        assert!(text.trim_end().ends_with("</details>") && text.contains("To repeat it:"));
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }

    #[test]
    fn names_of_functions_and_paths_of_pictures_are_only_shown_as_what_they_are() {
        let mut comparison = golden("counted-regressed");
        let text = render(&comparison);
        assert!(
            text.contains(
                "flame graph `flames/count-weather@http@hey/instructions-difference.svg` in the run's folder (on GitHub, in its artifact `bench-run`)"
            )
        );
        assert!(
            text.contains("most of it in `server_runtime::waste::spin`, `servers/runtime/src/waste.rs:41`"),
            "{text}"
        );
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
            assert!(!text.contains(&format!("]({path}")), "{text}");
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
