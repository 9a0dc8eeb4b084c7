//! A comparison as it is shown: its sentences and rows, decided once for terminal, Markdown and page.

use crate::report::comparison::advice::{self, Advice};
use crate::report::comparison::rows::Line;
use crate::report::comparison::{facts, functions, headline, reasons};
use crate::report::escape::Escape;
use crate::report::format;
use crate::report::run_view::host;
use wirebench_judge::summary::comparison::{Findings, Row, Work};
use wirebench_record::comparison::{ComparedSeries, Comparison};
use wirebench_record::reason::SeriesReason;

/// The most notes, and the most remarks, that Markdown and page show; this program writes fewer.
const NOTES: usize = 10;

/// A comparison's text and rows; text of the record is escaped for the medium.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) comparison: &'a Comparison,
    pub(crate) findings: Findings<'a>,
    /// `✗ Regressed`.
    pub(crate) verdict: String,
    pub(crate) next: Advice,
    /// What a reader must know before trusting the comparison.
    pub(crate) notes: Vec<String>,
    /// The same of single series.
    pub(crate) remarks: Vec<String>,
    /// What to know of the counts, such as which cannot be counted in a language; empty if nothing.
    pub(crate) counts: String,
    pub(crate) gating: Vec<Line<'a>>,
    pub(crate) explained: Vec<Explained<'a>>,
    /// What functions do more or less often where no timing got worse: series, function and change.
    pub(crate) other_work: Vec<[String; 3]>,
    pub(crate) informative: Vec<Line<'a>>,
    /// The series that are not compared, each after the reason: `added`, `removed`, …
    pub(crate) not_compared: Vec<(&'static str, &'a ComparedSeries)>,
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

impl<'a> View<'a> {
    pub(crate) fn of(comparison: &'a Comparison, escape: Escape) -> Self {
        let findings = Findings::of(comparison);
        let paired = |text: Option<String>| text.filter(|_| comparison.paired);
        let notes = comparison.notes.iter();
        let is_of_counts = |reason: &SeriesReason| matches!(reason, SeriesReason::Counts { .. });
        let of_counts = facts::remarks(comparison, escape, is_of_counts);
        let (work, other): (Vec<Work>, Vec<Work>) =
            (findings.work(comparison).into_iter()).partition(|work| work.explains);
        let other_work = other.iter().flat_map(|work| {
            let functions = Explained::of_work(work, escape).functions.into_iter();
            functions.map(|[function, change]| [escape.name(&work.series.id), function, change])
        });
        let explained = work.iter().map(|work| Explained::of_work(work, escape));
        Self {
            verdict: headline::verdict(comparison),
            next: advice::of(comparison, &findings, escape),
            notes: notes.map(|note| escape.sentence(&reasons::note(note))).collect(),
            remarks: facts::remarks(comparison, escape, |reason| !is_of_counts(reason)),
            counts: of_counts.join("; "),
            gating: findings.gating.iter().map(|row| Line::of(row, escape)).collect(),
            explained: explained
                .chain(findings.explained().map(|row| Explained::of(row, escape)))
                .collect(),
            other_work: other_work.collect(),
            informative: findings.informative.iter().map(|row| Line::of(row, escape)).collect(),
            not_compared: facts::not_compared(&findings),
            code: [&comparison.baseline, &comparison.candidate]
                .map(|side| headline::side(side, escape))
                .join(" → "),
            machine: host(&comparison.host, escape),
            tools: (!comparison.tools.is_empty()).then(|| escape.sentence(&format::tools(&comparison.tools))),
            dropped: paired(facts::dropped(&findings)),
            spreads: paired(facts::spreads(&findings)),
            method: comparison.paired.then(|| {
                let seed = comparison.method.seed;
                format!("seed {seed}; {}", facts::false_alarms(comparison))
            }),
            gates: paired(comparison.method.gates.as_deref().map(|gates| escape.sentence(gates))),
            comparison,
            findings,
        }
    }

    /// The first notes and remarks.
    pub(crate) fn first_notes(&self) -> Vec<&String> {
        let notes = self.notes.iter().take(NOTES);
        notes.chain(self.remarks.iter().take(NOTES)).collect()
    }

    /// The title of the list of other work; `None` if it is empty.
    pub(crate) fn other_work_title(&self) -> Option<String> {
        let what = match self.other_work.len() {
            0 => return None,
            1 => "1 function does".to_owned(),
            many => format!("{many} functions do"),
        };
        Some(format!(
            "{what} more or less often per request, without a slower timing"
        ))
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
