//! Comparison → what its page says, in words and pictures, before any markup. The words are those of the comment on a pull
//! request; nothing is judged here.

use std::collections::BTreeMap;

use crate::report::comparison::advice::{self, Advice};
use crate::report::comparison::cells::{self, effect};
use crate::report::comparison::verdict::{symbol, word};
use crate::report::comparison::{facts, functions, headline, markdown, reasons};
use crate::report::escape::Escape;
use crate::report::{escape, format};
use crate::site::compare::picture;
use crate::site::shown::{name, sentence};
use crate::site::svg::Picture;
use wirebench_judge::summary::comparison::{Findings, Row, Standing};
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
pub(in crate::site) struct View {
    /// `✗ Regressed`.
    pub(in crate::site) verdict: String,
    pub(in crate::site) class: &'static str,
    pub(in crate::site) summary: String,
    pub(in crate::site) next: String,
    pub(in crate::site) commands: Vec<String>,
    /// Baseline and candidate.
    pub(in crate::site) sides: [SideView; 2],
    pub(in crate::site) one_run: bool,
    /// What to know before trusting it.
    pub(in crate::site) notes: Vec<String>,
    /// How many effects are worse, better, open and unchanged: class, number and word.
    pub(in crate::site) strip: Vec<Count>,
    /// Every effect in one picture.
    pub(in crate::site) picture: Option<Picture>,
    /// What changed or may have, the most alarming first.
    pub(in crate::site) changed: Vec<Line>,
    /// What did not.
    pub(in crate::site) unchanged: Vec<Line>,
    pub(in crate::site) explained: Vec<Explained>,
    /// How, which and why.
    pub(in crate::site) not_compared: Vec<[String; 3]>,
    pub(in crate::site) method: Vec<(&'static str, String)>,
    pub(in crate::site) repeat: Option<String>,
    pub(in crate::site) markdown: String,
}

/// The code of one side.
#[derive(Debug)]
pub(in crate::site) struct SideView {
    pub(in crate::site) called: String,
    pub(in crate::site) commit: String,
    pub(in crate::site) url: Option<String>,
    pub(in crate::site) modified: bool,
}

/// How many effects stand alike.
#[derive(Debug)]
pub(in crate::site) struct Count {
    pub(in crate::site) class: &'static str,
    pub(in crate::site) number: usize,
    pub(in crate::site) word: String,
}

/// One effect.
#[derive(Debug)]
pub(in crate::site) struct Line {
    pub(in crate::site) class: &'static str,
    pub(in crate::site) verdict: String,
    pub(in crate::site) remark: String,
    pub(in crate::site) series: String,
    /// The page of the series, where it has one.
    pub(in crate::site) href: Option<String>,
    pub(in crate::site) metric: &'static str,
    /// Whether the overall verdict is drawn from it.
    pub(in crate::site) gates: bool,
    pub(in crate::site) change: String,
    pub(in crate::site) values: [String; 2],
    pub(in crate::site) seen: String,
}

/// Where commits and series are shown.
#[derive(Clone, Copy)]
pub(in crate::site) struct Links<'a> {
    /// The address of a commit.
    pub(in crate::site) commit: &'a dyn Fn(&str) -> Option<String>,
    /// The page of a series, from the comparison's page.
    pub(in crate::site) series: &'a dyn Fn(&str) -> Option<String>,
}

impl Links<'_> {
    /// None at all: what is shown stands alone.
    pub(in crate::site) const NONE: Self = Self {
        commit: &|_| None,
        series: &|_| None,
    };
}

impl Line {
    /// Whether there is a value of either side to show.
    pub(in crate::site) fn has_values(&self) -> bool {
        self.values.iter().any(|value| value != "–")
    }
}

/// The functions that carry a counted change.
#[derive(Debug)]
pub(in crate::site) struct Explained {
    pub(in crate::site) head: String,
    /// The differential flame graph, where it was copied to.
    pub(in crate::site) flame: Option<String>,
    /// Name and change.
    pub(in crate::site) functions: Vec<(String, String)>,
}

impl View {
    pub(in crate::site) fn of(comparison: &Comparison, links: Links, flames: &BTreeMap<String, String>) -> Self {
        let findings = Findings::of(comparison);
        let Advice { text, commands } = advice::of(comparison, &findings, HTML);
        let all: Vec<&Row> = findings.gating.iter().chain(&findings.informative).collect();
        let lines = |same: bool| -> Vec<Line> {
            let rows = all.iter().filter(|row| (row.standing == Standing::Unchanged) == same);
            let mut lines: Vec<Line> = rows.map(|row| line(row, links)).collect();
            // What rows one below the other share is said once.
            for place in (1..lines.len()).rev() {
                if lines[place].remark == lines[place - 1].remark {
                    lines[place].remark.clear();
                }
            }
            lines
        };
        let strip = strip(&all);
        let told: Vec<String> = strip.iter().map(|one| format!("{} {}", one.number, one.word)).collect();
        let alt = format!(
            "Every effect with its 95 % interval, a row for each metric: {}.",
            told.join(", ")
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
            class: class(headline::standing(comparison)),
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
    pub(in crate::site) fn has_flames(&self) -> bool {
        self.explained.iter().any(|part| part.flame.is_some())
    }

    /// The changed rows that are seen at once.
    pub(in crate::site) fn first_changed(&self) -> &[Line] {
        &self.changed[..self.changed.len().min(OPEN)]
    }

    /// The changed rows that are folded.
    pub(in crate::site) fn more_changed(&self) -> &[Line] {
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

/// The class that gives a standing its colour; its word and shape stand beside it always.
pub(in crate::site) const fn class(standing: Standing) -> &'static str {
    match standing {
        Standing::Regressed => "worse",
        Standing::Improved => "better",
        Standing::Invalid | Standing::Inconclusive => "open",
        Standing::Accepted | Standing::Unchanged | Standing::NotJudged => "noise",
    }
}

/// What its verdict and its numbers do not say already.
fn remark(row: &Row) -> String {
    match row.standing {
        Standing::Accepted => row
            .metric
            .and_then(|metric| metric.accepted.as_deref())
            .map_or_else(String::new, |why| format!("meant: {}", sentence(why))),
        Standing::Regressed | Standing::Improved if row.metric.is_some() => String::new(),
        _ => sentence(&reasons::row(row)),
    }
}

/// How many effects stand in each way, the most alarming first.
fn strip(rows: &[&Row]) -> Vec<Count> {
    let ways = [
        (Standing::Regressed, "worse"),
        (Standing::Invalid, "cannot be judged"),
        (Standing::Inconclusive, "unsure"),
        (Standing::Accepted, "worse and accepted"),
        (Standing::Improved, "better"),
        (Standing::Unchanged, "unchanged"),
        (Standing::NotJudged, "shown, not judged"),
    ];
    let count = |(standing, word): (Standing, &str)| Count {
        class: class(standing),
        number: rows.iter().filter(|row| row.standing == standing).count(),
        word: word.to_owned(),
    };
    ways.into_iter().map(count).filter(|count| count.number > 0).collect()
}

fn line(row: &Row, links: Links) -> Line {
    let class = class(row.standing);
    let values = row.metric.map(|metric| cells::values(metric).map(|value| name(&value)));
    Line {
        class,
        verdict: format!("{} {}", symbol(row.standing), word(row.standing)),
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
