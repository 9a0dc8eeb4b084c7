//! Comparison → what its page says, in words and pictures, before any markup. The words are those of the comment on a pull
//! request; nothing is judged here.

use std::collections::BTreeMap;

use crate::report::comparison::advice::{self, Advice};
use crate::report::comparison::words::{self, effect, symbol, word};
use crate::report::comparison::{functions, headline, markdown, reasons, sections};
use crate::report::{escape, format};
use crate::site::compare::effects::Axis;
use crate::site::shown::{name, sentence};
use crate::site::svg::Picture;
use wirebench_judge::summary::comparison::{Findings, Row, Standing};
use wirebench_record::comparison::{Comparison, Side};
use wirebench_record::run::short_commit;

/// Notes shown; a record with more was not written by this program.
const NOTES: usize = 10;

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
    pub(in crate::site) axis: Picture,
    pub(in crate::site) tables: Vec<Table>,
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

/// Rows that gate, or those that inform.
#[derive(Debug)]
pub(in crate::site) struct Table {
    pub(in crate::site) title: String,
    pub(in crate::site) rows: Vec<Line>,
}

/// One effect.
#[derive(Debug)]
pub(in crate::site) struct Line {
    pub(in crate::site) class: &'static str,
    pub(in crate::site) verdict: String,
    pub(in crate::site) remark: String,
    pub(in crate::site) series: String,
    pub(in crate::site) metric: &'static str,
    pub(in crate::site) whisker: Option<Picture>,
    pub(in crate::site) change: String,
    pub(in crate::site) values: [String; 2],
    pub(in crate::site) seen: String,
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
    pub(in crate::site) fn of(
        comparison: &Comparison,
        commit_url: &dyn Fn(&str) -> Option<String>,
        flames: &BTreeMap<String, String>,
    ) -> Self {
        let findings = Findings::of(comparison);
        let Advice { text, commands } = advice::of(comparison, &findings, name, sentence);
        let axis = Axis::of(findings.gating.iter().chain(&findings.informative));
        let mut notes: Vec<String> = comparison
            .notes
            .iter()
            .take(NOTES)
            .map(|note| sentence(&reasons::note(note)))
            .collect();
        notes.extend(sections::remarks(comparison, name, sentence).into_iter().take(NOTES));
        Self {
            verdict: headline::verdict(comparison),
            class: class(headline::standing(comparison)),
            summary: headline::summary(comparison, &findings, name, sentence),
            next: text,
            commands,
            sides: [&comparison.baseline, &comparison.candidate].map(|side| SideView::of(side, commit_url)),
            one_run: comparison.paired,
            notes,
            axis: axis.head(),
            tables: tables(&findings, axis),
            explained: findings.explained().map(|row| explained(row, flames)).collect(),
            not_compared: (sections::by_presence(&findings).into_iter())
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

fn tables(findings: &Findings, axis: Axis) -> Vec<Table> {
    let both = [
        ("Gating", &findings.gating),
        ("Informative, does not gate", &findings.informative),
    ];
    (both.into_iter())
        .filter(|(_, rows)| !rows.is_empty())
        .map(|(title, rows)| Table {
            title: format!("{title}: {}", sections::tally(rows)),
            rows: rows.iter().map(|row| line(row, axis)).collect(),
        })
        .collect()
}

fn line(row: &Row, axis: Axis) -> Line {
    let class = class(row.standing);
    let values = row
        .metric
        .map(|metric| sections::values(metric).map(|value| name(&value)));
    Line {
        class,
        verdict: format!("{} {}", symbol(row.standing), word(row.standing)),
        remark: sentence(&words::sentence(row)),
        series: name(&row.series.id),
        metric: row.metric.map_or("–", |metric| metric.metric.label()),
        whisker: row.metric.map(|metric| axis.whisker(metric, class)),
        change: row.metric.map_or("–".into(), effect),
        values: values.unwrap_or_else(|| ["–".into(), "–".into()]),
        seen: row.metric.map_or("–".into(), sections::resolvable),
    }
}

fn explained(row: &Row, flames: &BTreeMap<String, String>) -> Explained {
    let drawn = row.metric.and_then(|metric| metric.flame_graph.as_ref());
    Explained {
        head: functions::head(row, name),
        flame: drawn.and_then(|path| flames.get(path)).cloned(),
        functions: row
            .functions()
            .map(|change| {
                let place = functions::origin(change, name);
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
        facts.extend(sections::spreads(findings).map(|spreads| ("spread c", spreads)));
        facts.extend(sections::dropped(findings).map(|dropped| ("pairs left out", dropped)));
        facts.extend(sections::nulls(findings).map(|nulls| ("check", nulls)));
        facts.push(("seed", comparison.method.seed.to_string()));
        facts.push(("false alarms", sections::false_alarms(comparison)));
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
