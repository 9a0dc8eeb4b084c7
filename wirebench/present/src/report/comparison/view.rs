//! A comparison as it is shown: its sentences and rows, decided once for terminal, Markdown and page.

use crate::report::comparison::advice::{self, Advice};
use crate::report::comparison::rows::Line;
use crate::report::comparison::{facts, functions, headline, reasons};
use crate::report::escape::{Escape, command};
use crate::report::format;
use crate::report::format::size;
use wirebench_judge::summary::comparison::{Findings, Row, Work};
use wirebench_record::comparison::Comparison;
use wirebench_record::limit::JudgedLimit;
use wirebench_record::reason::SeriesReason;

/// The most notes, and the most remarks, that Markdown and page show; this program writes fewer.
const NOTES: usize = 10;

/// A comparison's text and rows; text of the record is escaped for the medium.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// `✗ Regressed`.
    pub(crate) verdict: String,
    /// The reasons for the verdict, and what got worse elsewhere.
    pub(crate) summary: String,
    /// The reasons for the verdict alone.
    pub(crate) reasons: String,
    /// What got worse and does not gate; `None` if nothing did.
    pub(crate) elsewhere: Option<String>,
    pub(crate) next: Advice,
    /// By how much the baseline's program differed from itself in metrics that gate.
    pub(crate) check: Option<String>,
    /// What a reader must know before trusting the comparison.
    pub(crate) notes: Vec<String>,
    /// The same of single series.
    pub(crate) remarks: Vec<String>,
    /// What to know of the counts, such as which cannot be counted in a language; empty if nothing.
    pub(crate) counts: String,
    pub(crate) gating: Vec<Line<'a>>,
    /// The largest worsening that the unchanged gating metrics leave possible; `None` if none.
    pub(crate) unchanged_within: Option<String>,
    pub(crate) limits: &'a [JudgedLimit],
    pub(crate) explained: Vec<Explained<'a>>,
    /// What functions do more or less often where no timing got worse: series, function and change.
    pub(crate) other_work: Vec<[String; 3]>,
    /// The title of that list; `None` if it is empty.
    pub(crate) other_work_title: Option<String>,
    pub(crate) informative: Vec<Line<'a>>,
    /// How many informative rows have each standing.
    pub(crate) informative_tally: String,
    pub(crate) not_compared: Vec<NotCompared>,
    /// How many series are not compared; `None` if all are.
    pub(crate) not_compared_tally: Option<String>,
    /// Baseline and candidate.
    pub(crate) code: String,
    /// Machine and fingerprint.
    pub(crate) machine: String,
    /// The programs that took part.
    pub(crate) tools: Option<String>,
    /// Pairs left out over all metrics; `None` if all were kept.
    pub(crate) dropped: Option<String>,
    pub(crate) spreads: Option<String>,
    /// Seed and false alarms; `None` if nothing was judged.
    pub(crate) method: Option<String>,
    /// Which metrics gate.
    pub(crate) gates: Option<String>,
    /// The command that repeats the measurement.
    pub(crate) repeat: Option<String>,
}

/// The functions that cause a counted change, or that do more or less often.
#[derive(Debug)]
pub(crate) struct Explained<'a> {
    pub(crate) head: String,
    /// Each function's name, then its change and place.
    pub(crate) functions: Vec<[String; 2]>,
    /// The path of the flame graph in the run's folder, not escaped.
    pub(crate) flame_graph: Option<&'a str>,
}

/// A series that is not compared.
#[derive(Debug)]
pub(crate) struct NotCompared {
    /// `added`, `removed`, …
    pub(crate) presence: &'static str,
    pub(crate) series: String,
    pub(crate) reason: Option<String>,
    pub(crate) same_program: bool,
}

impl<'a> View<'a> {
    pub(crate) fn of(comparison: &'a Comparison, escape: Escape) -> Self {
        let findings = Findings::of(comparison);
        let paired = |text: Option<String>| text.filter(|_| comparison.paired);
        let host = &comparison.host;
        let notes = comparison.notes.iter();
        let is_of_counts = |reason: &SeriesReason| matches!(reason, SeriesReason::Counts { .. });
        let of_counts = facts::remarks(comparison, escape, is_of_counts);
        let (work, other): (Vec<Work>, Vec<Work>) =
            (findings.work(comparison).into_iter()).partition(|work| work.explains);
        let other_work = other
            .iter()
            .flat_map(|work| other_work(work, escape))
            .collect::<Vec<_>>();
        let explained = work.iter().map(|work| Explained::of_work(work, escape));
        Self {
            verdict: headline::verdict(comparison),
            summary: headline::summary(comparison, &findings, escape),
            reasons: headline::reasons(comparison, &findings, escape),
            elsewhere: headline::elsewhere(comparison, &findings, escape),
            next: advice::of(comparison, &findings, escape),
            check: facts::nulls(&findings),
            notes: notes.map(|note| escape.sentence(&reasons::note(note))).collect(),
            remarks: facts::remarks(comparison, escape, |reason| !is_of_counts(reason)),
            counts: of_counts.join("; "),
            gating: findings.gating.iter().map(|row| Line::of(row, escape)).collect(),
            unchanged_within: (findings.unchanged_at_most_percent().filter(|percent| *percent > 0.0)).map(size),
            limits: &comparison.limits,
            explained: explained
                .chain(findings.explained().map(|row| Explained::of(row, escape)))
                .collect(),
            other_work_title: other_work_title(other_work.len()),
            other_work,
            informative: findings.informative.iter().map(|row| Line::of(row, escape)).collect(),
            informative_tally: facts::tally(&findings.informative),
            not_compared: not_compared(&findings, escape),
            not_compared_tally: facts::not_compared(&findings),
            code: [&comparison.baseline, &comparison.candidate]
                .map(|side| headline::side(side, escape))
                .join(" → "),
            machine: format!(
                "{}, fingerprint {}",
                escape.sentence(&format::machine(host)),
                escape.name(&host.fingerprint)
            ),
            tools: (!comparison.tools.is_empty()).then(|| escape.sentence(&format::tools(&comparison.tools))),
            dropped: paired(facts::dropped(&findings)),
            spreads: paired(facts::spreads(&findings)),
            method: comparison.paired.then(|| {
                let seed = comparison.method.seed;
                format!("seed {seed}; {}", facts::false_alarms(comparison))
            }),
            gates: paired(comparison.method.gates.as_deref().map(|gates| escape.sentence(gates))),
            repeat: command(&comparison.repeat),
        }
    }

    /// The first notes and remarks.
    pub(crate) fn first_notes(&self) -> Vec<&String> {
        let notes = self.notes.iter().take(NOTES);
        notes.chain(self.remarks.iter().take(NOTES)).collect()
    }
}

impl<'a> Explained<'a> {
    fn of(row: &Row<'a>, escape: Escape) -> Self {
        let functions = row.functions().map(|function| {
            let place = functions::origin(function, escape);
            [escape.name(&function.function), functions::change(function) + &place]
        });
        Self {
            head: functions::head(row, escape),
            functions: functions.collect(),
            flame_graph: row.metric.and_then(|metric| metric.flame_graph.as_deref()),
        }
    }

    fn of_work(work: &Work<'a>, escape: Escape) -> Self {
        let functions = work.functions.iter().map(|change| {
            let change_of = functions::work(change, work.unit, escape);
            [escape.name(&change.function), change_of]
        });
        Self {
            head: functions::work_head(work, escape),
            functions: functions.collect(),
            flame_graph: None,
        }
    }
}

/// What functions of a series do more or less often, for a table.
fn other_work(work: &Work, escape: Escape) -> Vec<[String; 3]> {
    let explained = Explained::of_work(work, escape);
    let row = |[function, change]: [String; 2]| [escape.name(&work.series.id), function, change];
    explained.functions.into_iter().map(row).collect()
}

fn other_work_title(functions: usize) -> Option<String> {
    let what = match functions {
        0 => return None,
        1 => "1 function does".to_owned(),
        many => format!("{many} functions do"),
    };
    Some(format!(
        "{what} more or less often per request, without a slower timing"
    ))
}

fn not_compared(findings: &Findings, escape: Escape) -> Vec<NotCompared> {
    let all = facts::by_presence(findings).into_iter();
    let all = all.flat_map(|(presence, series)| series.iter().map(move |series| (presence, *series)));
    all.map(|(presence, series)| NotCompared {
        presence,
        series: escape.name(&series.id),
        reason: series.reason.as_ref().map(|why| escape.sentence(&reasons::series(why))),
        same_program: series.same_program,
    })
    .collect()
}
