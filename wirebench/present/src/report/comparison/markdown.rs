//! `comparison.md`, the job summary and the comment on a pull request: verdict, the gating rows that changed, what got worse
//! elsewhere, the next step; the rest is folded.

use askama::Template;

use crate::report::comparison::headline;
use crate::report::comparison::rows::{self, Line};
use crate::report::comparison::view::{Explained, NotCompared, View};
use crate::report::cut;
use crate::report::escape::{MARKDOWN, code};
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

/// The text after the table of what changed.
#[derive(Template)]
#[template(path = "comparison_next.md")]
struct Next<'a> {
    view: &'a View<'a>,
    /// Who measured it; of a comment only.
    origin: &'a str,
}

/// The text after the folded tables.
#[derive(Template)]
#[template(path = "comparison_foot.md")]
struct Foot<'a> {
    view: &'a View<'a>,
    runs: String,
    repeat: Option<&'a String>,
    is_paired: bool,
}

/// The comparison as Markdown, at most [`LIMIT`] bytes; tables that would be too long are cut and say so.
pub fn render(comparison: &Comparison) -> String {
    within(comparison, LIMIT, None)
}

/// The same in at most `limit` bytes. A comment names its `origin`, and leaves out what the run's own summary has: pairs, and
/// without news every table.
pub(super) fn within(comparison: &Comparison, limit: usize, origin: Option<&str>) -> String {
    let view = View::of(comparison, MARKDOWN);
    let next = Next {
        view: &view,
        origin: origin.unwrap_or_default(),
    };
    let foot = Foot {
        view: &view,
        runs: runs(comparison),
        repeat: view.repeat.as_ref().filter(|line| line.len() <= COMMAND),
        is_paired: comparison.paired,
    };
    let head = format!("### wirebench: {}\n{}\n\n", view.verdict, view.reasons);
    let (next, foot) = (text_of(&next), text_of(&foot));
    let mut room = limit.saturating_sub(head.len() + next.len() + foot.len());
    let notable = notable(&view).map(|table| cut::within(&table.markdown(), room * VISIBLE_PERCENT / 100, REST) + "\n");
    let table = notable.unwrap_or_default();
    room = room.saturating_sub(table.len());
    let folded = match origin {
        None if comparison.paired => folded(&view) + &pairs(&view),
        Some(_) if !headline::has_news(comparison) => String::new(),
        _ => folded(&view),
    };
    head + &table + &next + &cut::within(&folded, room, REST) + &foot
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

/// The fold of functions: by what they cost where that is counted, else by what they do more often.
const FUNCTIONS: &str = "Functions behind the change";

/// The gating rows that a reader has to look at: all but the unchanged.
fn notable(view: &View) -> Option<Table> {
    let is_notable = |line: &&Line| line.row.status != RowStatus::Unchanged;
    let notable = rows::table(view.gating.iter().filter(is_notable));
    (!notable.is_empty()).then_some(notable)
}

/// A text that unfolds when its title is clicked.
fn fold(title: &str, content: &str) -> String {
    format!("<details><summary>{title}</summary>\n{content}\n</details>\n\n")
}

fn fold_table(title: &str, explanation: &str, table: &Table) -> String {
    fold(title, &format!("\n{explanation}{}", table.markdown()))
}

/// The folded tables and lists.
fn folded(view: &View) -> String {
    let mut out = String::new();
    if !view.limits.is_empty() {
        let title = format!("Limits: {}", limits::tally(view.limits));
        out += &fold_table(&title, LIMITS, &limits::table(view.limits));
    }
    if !view.explained.is_empty() {
        let lists: String = view.explained.iter().take(EXPLAINED).map(functions).collect();
        out += &fold(FUNCTIONS, &lists);
    }
    let is_unchanged = |line: &&Line| line.row.status == RowStatus::Unchanged;
    let unchanged: Vec<&Line> = view.gating.iter().filter(is_unchanged).collect();
    if !unchanged.is_empty() {
        let within = view.unchanged_within.as_ref();
        let within = within.map_or_else(String::new, |most| format!(", none worse by more than {most}"));
        let title = format!("{} unchanged{within}", plural(unchanged.len(), "gating metric"));
        out += &fold_table(&title, "", &rows::table(unchanged));
    }
    if let Some(title) = &view.other_work_title {
        let columns = [text("series"), text("function"), text("a count of work, not a cost")];
        out += &fold_table(title, "", &Table::new(columns, view.other_work.iter().cloned()));
    }
    if !view.informative.is_empty() {
        let title = format!("Informative metrics, which do not gate: {}", view.informative_tally);
        out += &fold_table(&title, "", &rows::table(&view.informative));
    }
    if let Some(tally) = &view.not_compared_tally {
        out += &fold_table(&format!("Not compared: {tally}"), "", &not_compared(&view.not_compared));
    }
    out
}

/// The pairs and the spread of each timed metric.
fn pairs(view: &View) -> String {
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
    let table = Table::new(columns, view.gating.iter().chain(&view.informative).filter_map(row));
    if table.is_empty() {
        return String::new();
    }
    let dropped = view.dropped.as_deref().unwrap_or("none");
    let title = format!("Pairs and spread; outliers left out over all metrics: {dropped}");
    fold_table(&title, PAIRS, &table)
}

const LIMITS: &str =
    "Absolute bounds of the scenarios, judged on the candidate's rounds and on this machine alone.\n\n";
const PAIRS: &str = "A pair is left out when one of its rounds is far from its neighbours, without looking at which side it is. \
                     Many more on one side than on the other may hide a change that is slow only now and then.\n\n";

fn not_compared(all: &[NotCompared]) -> Table {
    let row = |one: &NotCompared| {
        let reason = one.reason.as_deref().unwrap_or("–");
        [one.presence, &one.series, reason].map(str::to_owned)
    };
    Table::new([text(""), text("series"), text("why")], all.iter().map(row))
}

/// The functions that cause a change, as a list under its heading.
fn functions(explained: &Explained) -> String {
    let flame_graph = explained.flame_graph.map_or_else(String::new, |path| {
        // A relative link leads nowhere in a job summary.
        let picture = code(path);
        format!("; flame graph {picture} in the run's folder (on GitHub, in its artifact `bench-run`)")
    });
    let functions = explained.functions.iter();
    let items: String = functions
        .map(|[function, change]| format!("- {function} {change}\n"))
        .collect();
    format!("\n{}{flame_graph}:\n\n{items}", explained.head)
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
