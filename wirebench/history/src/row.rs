//! Judges one row of values in push order: its segments and change points.

use std::collections::HashMap;

use crate::segment;
use wirebench_record::accepted::Acceptance;
use wirebench_record::metric::{Better, Metric};
use wirebench_record::trend::{Basis, Newest, Push, Trace};

/// The pushes of rows, with their acceptances.
#[derive(Debug)]
pub(super) struct Timeline {
    pub(super) pushes: Vec<Push>,
    /// Acceptances that came with a push.
    pub(super) accepted: Vec<(usize, Acceptance)>,
}

/// The parameters of judging.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    /// Acceptances of the project: those that name a commit.
    pub(super) accepted: &'a [Acceptance],
    /// How many of the newest pushes count as recent.
    pub(super) newest: usize,
}

/// A value to judge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    /// Its push.
    pub(super) place: usize,
    /// Not below zero.
    pub(super) value: f64,
    /// What must stay the same within a segment.
    pub(super) context: Context,
    /// The number of the machine kind that measured it: ratios are converted to one kind.
    pub(super) kind: u32,
}

/// The context that must stay equal within a segment, with texts as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Context {
    /// The digest of the series.
    pub(super) question: u32,
    /// Ratios or values.
    pub(super) basis: Basis,
    /// The reference of ratios; the machine, processor or unit of values.
    pub(super) other: u32,
}

/// What a row is.
#[derive(Debug, Clone)]
pub(super) struct Row<'a> {
    pub(super) source: &'a str,
    pub(super) series: &'a str,
    pub(super) metric: Option<Metric>,
    pub(super) unit: &'a str,
    pub(super) better: Option<Better>,
    /// The other cause of a new segment: `machine`, `processor` or `unit`.
    pub(super) breaker: &'a str,
    /// Why none of its values is judged.
    pub(super) not_judged: Option<String>,
    /// Places without a judged value, in order, with the reason, and with the value if it is a number.
    pub(super) left_out: Vec<(usize, Option<f64>, String)>,
    pub(super) points: Vec<Point>,
}

/// A judged row, and where in its timeline everything lies that the trace names by pushes.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) trace: Trace,
    pub(super) segments: Vec<SegmentPlaces>,
    /// Places of wild values that are left out, and the reasons.
    pub(super) wild: Vec<(usize, String)>,
}

/// Places of a segment in its timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentPlaces {
    /// Of its first value.
    pub first: usize,
    /// Of its last value.
    pub last: usize,
    /// What was judged.
    pub basis: Basis,
    /// Of each of its change points.
    pub steps: Vec<StepPlaces>,
}

/// Places of a change point in its timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepPlaces {
    /// Of the last push before it.
    pub last_before: usize,
    /// Of the first push after it.
    pub first_after: usize,
    /// Of the push at which it was first reported.
    pub reported: usize,
}

/// Interned texts, so that contexts compare quickly.
#[derive(Debug, Default)]
pub(super) struct Names {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    /// Stands for no text.
    const NONE: u32 = u32::MAX;

    /// The number of a text; a new one if it has none.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(Self::NONE);
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The number of a known text.
    pub(super) fn find(&self, text: &str) -> u32 {
        self.numbers.get(text).copied().unwrap_or(Self::NONE)
    }

    fn text(&self, number: u32) -> &str {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        self.texts.get(place).map_or("", String::as_str)
    }
}

/// Judges a row. `names` resolves the numbers in its contexts.
pub(super) fn judge(row: &Row, timeline: &Timeline, rules: Rules, names: &Names) -> Judged {
    let (mut segments, mut places, mut wild) = (Vec::new(), Vec::new(), Vec::new());
    let mut previous: Option<Context> = None;
    let judged: &[Point] = if row.not_judged.is_some() { &[] } else { &row.points };
    for points in judged.chunk_by(|one, next| one.context == next.context) {
        let context = points[0].context;
        let broken_by = previous.map(|before| broken_by(before, context, row.breaker, names));
        let found = segment::judge(row, points, timeline, rules, broken_by);
        wild.extend(found.wild);
        if let Some((segment, at)) = found.segment {
            segments.push(segment);
            places.push(at);
            previous = Some(context);
        }
    }
    let trace = Trace {
        source: row.source.to_owned(),
        series: row.series.to_owned(),
        metric: row.metric,
        unit: row.unit.to_owned(),
        better: row.better,
        basis: row.points.last().map_or(Basis::Value, |point| point.context.basis),
        points: judged.len() - wild.len(),
        left_out: row.left_out.len() + wild.len(),
        not_judged: row.not_judged.clone(),
        newest: newest(row, timeline, &wild),
        segments,
    };
    Judged {
        trace,
        segments: places,
        wild,
    }
}

/// What changed between two contexts, as text.
fn broken_by(before: Context, now: Context, breaker: &str, names: &Names) -> String {
    let mut changes = Vec::new();
    let change = |what: &str, old: u32, new: u32| format!("{what} {} → {}", names.text(old), names.text(new));
    if before.question != now.question {
        changes.push(change("question", before.question, now.question));
    }
    match (before.basis, now.basis) {
        (Basis::Value, Basis::Ratio) => {
            changes.push(format!("values → ratios to the reference {}", names.text(now.other)));
        }
        (Basis::Ratio, Basis::Value) => {
            changes.push("ratios to the reference → values: no reference is measured".into());
        }
        (Basis::Ratio, Basis::Ratio) if before.other != now.other => {
            changes.push(change("reference", before.other, now.other));
        }
        (Basis::Value, Basis::Value) if before.other != now.other => {
            changes.push(change(breaker, before.other, now.other));
        }
        _ => {}
    }
    changes.join(", ")
}

/// The newest value, and the reason if it is not judged.
fn newest(row: &Row, timeline: &Timeline, wild: &[(usize, String)]) -> Option<Newest> {
    let point = row.points.last().map(|point| {
        let why = wild.iter().find(|(place, _)| *place == point.place);
        let why = row.not_judged.clone().or_else(|| why.map(|(_, why)| why.clone()));
        (point.place, Some(point.value), why)
    });
    let left_out = row
        .left_out
        .last()
        .map(|(place, value, why)| (*place, *value, Some(why.clone())));
    let (place, value, left_out) = point.into_iter().chain(left_out).max_by_key(|(place, ..)| *place)?;
    Some(Newest {
        at: timeline.pushes.get(place)?.clone(),
        value,
        left_out,
    })
}
