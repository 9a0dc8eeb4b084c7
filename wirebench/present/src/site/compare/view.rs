//! Comparison → the view model of its page. The words are those of the comment on a pull request; nothing is judged here.

use std::collections::BTreeMap;

use crate::report::comparison::advice::{self, Advice};
use crate::report::comparison::cells::{self, effect};
use crate::report::comparison::verdict::{symbol, word};
use crate::report::comparison::{facts, functions, headline, markdown, reasons};
use crate::report::escape::Escape;
use crate::report::{escape, format};
use crate::site::compare::colour::class;
use crate::site::compare::picture;
use crate::site::shown::{name, sentence};
use crate::site::svg::Picture;
use wirebench_judge::summary::comparison::{Findings, Row, RowStatus};
use wirebench_record::comparison::{Comparison, Side};
use wirebench_record::run::short_commit;

/// Escapes for the site, whose templates escape HTML themselves.
const HTML: Escape = Escape::new(name, sentence);
/// Notes shown; a record with more was not written by this program.
const NOTES: usize = 10;
/// Changed rows that are seen at once; the others are folded.
const OPEN: usize = 7;

/// Everything on the page but its frame.
#[derive(Debug)]
pub(crate) struct View {
    /// `✗ Regressed`.
    pub(crate) verdict: String,
    pub(crate) class: &'static str,
    pub(crate) summary: String,
    pub(crate) next: String,
    pub(crate) commands: Vec<String>,
    /// Baseline and candidate.
    pub(crate) sides: [SideView; 2],
    pub(crate) one_run: bool,
    /// Notes and remarks to read before trusting the verdict.
    pub(crate) notes: Vec<String>,
    /// How many effects have each status.
    pub(crate) strip: Vec<Count>,
    /// Every effect in one picture.
    pub(crate) picture: Option<Picture>,
    /// Effects that changed or may have changed, the worst first.
    pub(crate) changed: Vec<Line>,
    /// Effects that did not change.
    pub(crate) unchanged: Vec<Line>,
    pub(crate) explained: Vec<Explained>,
    /// Series without a comparison: how (only on one side, …), which, and why.
    pub(crate) not_compared: Vec<[String; 3]>,
    pub(crate) method: Vec<(&'static str, String)>,
    pub(crate) repeat: Option<String>,
    pub(crate) markdown: String,
}

/// The code of one side.
#[derive(Debug)]
pub(crate) struct SideView {
    pub(crate) called: String,
    pub(crate) commit: String,
    pub(crate) url: Option<String>,
    pub(crate) modified: bool,
}

/// How many effects have one status.
#[derive(Debug)]
pub(crate) struct Count {
    pub(crate) class: &'static str,
    pub(crate) number: usize,
    pub(crate) word: String,
}

/// One effect.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) class: &'static str,
    pub(crate) verdict: String,
    pub(crate) remark: String,
    pub(crate) series: String,
    /// The page of the series, where it has one.
    pub(crate) href: Option<String>,
    pub(crate) metric: &'static str,
    /// Whether the overall verdict is drawn from it.
    pub(crate) gates: bool,
    pub(crate) change: String,
    pub(crate) values: [String; 2],
    pub(crate) seen: String,
}

/// Where commits and series are shown.
#[derive(Clone, Copy)]
pub(crate) struct Links<'a> {
    /// The address of a commit.
    pub(crate) commit: &'a dyn Fn(&str) -> Option<String>,
    /// The page of a series, from the comparison's page.
    pub(crate) series: &'a dyn Fn(&str) -> Option<String>,
}

impl Links<'_> {
    /// No links, for a page that stands alone.
    pub(crate) const NONE: Self = Self {
        commit: &|_| None,
        series: &|_| None,
    };
}

impl Line {
    /// Whether there is a value of either side to show.
    pub(crate) fn has_values(&self) -> bool {
        self.values.iter().any(|value| value != "–")
    }
}

/// The functions that carry a counted change.
#[derive(Debug)]
pub(crate) struct Explained {
    pub(crate) head: String,
    /// The differential flame graph, where it was copied to.
    pub(crate) flame: Option<String>,
    /// Name and change.
    pub(crate) functions: Vec<(String, String)>,
}

impl View {
    pub(crate) fn of(comparison: &Comparison, links: Links, flames: &BTreeMap<String, String>) -> Self {
        let findings = Findings::of(comparison);
        let Advice { text, commands } = advice::of(comparison, &findings, HTML);
        let all: Vec<&Row> = findings.gating.iter().chain(&findings.informative).collect();
        let lines = |same: bool| -> Vec<Line> {
            let rows = all.iter().filter(|row| (row.status == RowStatus::Unchanged) == same);
            let mut lines: Vec<Line> = rows.map(|row| line(row, links)).collect();
            // A remark that several rows in a row share is shown once.
            for place in (1..lines.len()).rev() {
                if lines[place].remark == lines[place - 1].remark {
                    lines[place].remark.clear();
                }
            }
            lines
        };
        let strip = strip(&all);
        let counts: Vec<String> = strip.iter().map(|one| format!("{} {}", one.number, one.word)).collect();
        let alt = format!(
            "Every effect with its 95 % interval, a row for each metric: {}.",
            counts.join(", ")
        );
        let mut notes: Vec<String> = comparison
            .notes
            .iter()
            .take(NOTES)
            .map(|note| sentence(&reasons::note(note)))
            .collect();
        notes.extend(facts::remarks(comparison, HTML).into_iter().take(NOTES));
        Self {
            verdict: headline::verdict(comparison),
            class: class(headline::status(comparison)),
            summary: headline::summary(comparison, &findings, HTML),
            next: text,
            commands,
            sides: [&comparison.baseline, &comparison.candidate].map(|side| SideView::of(side, links.commit)),
            one_run: comparison.paired,
            notes,
            picture: picture::draw(&all, &alt),
            strip,
            changed: lines(false),
            unchanged: lines(true),
            explained: findings.explained().map(|row| explained(row, flames)).collect(),
            not_compared: (facts::by_presence(&findings).into_iter())
                .flat_map(|(how, all)| all.iter().map(move |series| (how, *series)))
                .map(|(how, series)| {
                    let why = series
                        .reason
                        .as_ref()
                        .map_or("–".into(), |why| sentence(&reasons::series(why)));
                    [how.to_owned(), name(&series.id), why]
                })
                .collect(),
            method: method(comparison, &findings),
            repeat: escape::command(&comparison.repeat),
            markdown: markdown::render(comparison),
        }
    }

    /// Whether a flame graph can be shown.
    pub(crate) fn has_flames(&self) -> bool {
        self.explained.iter().any(|part| part.flame.is_some())
    }

    /// The changed rows that are seen at once.
    pub(crate) fn first_changed(&self) -> &[Line] {
        &self.changed[..self.changed.len().min(OPEN)]
    }

    /// The changed rows that are folded.
    pub(crate) fn more_changed(&self) -> &[Line] {
        &self.changed[self.changed.len().min(OPEN)..]
    }

    /// `main → HEAD`.
    pub(super) fn sides(&self) -> String {
        let [baseline, candidate] = &self.sides;
        format!("{} → {}", baseline.called, candidate.called)
    }
}

impl SideView {
    fn of(side: &Side, commit_url: &dyn Fn(&str) -> Option<String>) -> Self {
        let revision = &side.revision;
        let commit = revision.commit.as_deref();
        let short = commit.map_or("no commit".into(), |commit| name(short_commit(commit)));
        Self {
            called: revision.name.as_deref().map_or_else(|| short.clone(), name),
            url: commit.and_then(commit_url),
            commit: short,
            modified: revision.modified == Some(true),
        }
    }
}

/// The reason for a verdict, where verdict and numbers do not show it already.
fn remark(row: &Row) -> String {
    match row.status {
        RowStatus::Accepted => row
            .metric
            .and_then(|metric| metric.accepted.as_deref())
            .map_or_else(String::new, |why| format!("meant: {}", sentence(why))),
        RowStatus::Regressed | RowStatus::Improved if row.metric.is_some() => String::new(),
        _ => sentence(&reasons::row(row)),
    }
}

/// How many effects have each status, the worst first.
fn strip(rows: &[&Row]) -> Vec<Count> {
    let ways = [
        (RowStatus::Regressed, "worse"),
        (RowStatus::Invalid, "cannot be judged"),
        (RowStatus::Inconclusive, "unsure"),
        (RowStatus::Accepted, "worse and accepted"),
        (RowStatus::Improved, "better"),
        (RowStatus::Unchanged, "unchanged"),
        (RowStatus::NotJudged, "shown, not judged"),
    ];
    let count = |(status, word): (RowStatus, &str)| Count {
        class: class(status),
        number: rows.iter().filter(|row| row.status == status).count(),
        word: word.to_owned(),
    };
    ways.into_iter().map(count).filter(|count| count.number > 0).collect()
}

fn line(row: &Row, links: Links) -> Line {
    let class = class(row.status);
    let values = row.metric.map(|metric| cells::values(metric).map(|value| name(&value)));
    Line {
        class,
        verdict: format!("{} {}", symbol(row.status), word(row.status)),
        remark: remark(row),
        series: name(&row.series.id),
        href: (links.series)(&row.series.id).map(|page| match row.metric {
            Some(metric) => format!("{page}?metric={}", metric.metric.name()),
            None => page,
        }),
        metric: row.metric.map_or("–", |metric| metric.metric.label()),
        gates: row.metric.is_none_or(|metric| metric.primary),
        change: row.metric.map_or("–".into(), effect),
        values: values.unwrap_or_else(|| ["–".into(), "–".into()]),
        seen: match row.metric.map(cells::resolvable) {
            Some(seen) if seen == "any" => "any change".into(),
            seen => seen.unwrap_or_else(|| "–".into()),
        },
    }
}

fn explained(row: &Row, flames: &BTreeMap<String, String>) -> Explained {
    let drawn = row.metric.and_then(|metric| metric.flame_graph.as_ref());
    Explained {
        head: functions::head(row, HTML),
        flame: drawn.and_then(|path| flames.get(path)).cloned(),
        functions: row
            .functions()
            .map(|change| {
                let place = functions::origin(change, HTML);
                (name(&change.function), functions::change(change) + &place)
            })
            .collect(),
    }
}

fn method(comparison: &Comparison, findings: &Findings) -> Vec<(&'static str, String)> {
    let host = &comparison.host;
    let mut facts = vec![
        ("machine", format::machine(host)),
        ("fingerprint", name(&host.fingerprint)),
    ];
    if !comparison.tools.is_empty() {
        facts.push(("programs", format::tools(&comparison.tools)));
    }
    if comparison.paired {
        facts.extend(facts::spreads(findings).map(|spreads| ("spread c", spreads)));
        facts.extend(facts::dropped(findings).map(|dropped| ("pairs left out", dropped)));
        facts.extend(facts::nulls(findings).map(|nulls| ("check", nulls)));
        facts.push(("seed", comparison.method.seed.to_string()));
        facts.push(("false alarms", facts::false_alarms(comparison)));
        facts.extend(
            comparison
                .method
                .gates
                .as_deref()
                .map(|gates| ("gates", sentence(gates))),
        );
    }
    facts
}
