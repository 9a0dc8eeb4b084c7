//! One row of values in push order → its segments and change points.

use std::collections::HashMap;

use crate::record::accepted::Acceptance;
use crate::record::metric::{Better, Metric};
use crate::record::trend::{Basis, ChangePoint, Direction, Push, Segment, Trace};
use crate::stats::change_point::{self, Detector};

/// The pushes that rows are made of, and what was accepted with each.
#[derive(Debug)]
pub(super) struct Timeline {
    pub(super) pushes: Vec<Push>,
    /// Acceptances that came with a push.
    pub(super) accepted: Vec<(usize, Acceptance)>,
}

/// How rows are judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    /// Acceptances of the project: those that name a commit.
    pub(super) accepted: &'a [Acceptance],
    /// How many of the newest pushes count as recent.
    pub(super) newest: usize,
}

/// A value that may be judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    /// Its push.
    pub(super) place: usize,
    /// Above zero.
    pub(super) value: f64,
    /// Numbers of what must stay the same within a segment: question, then reference, machine or unit.
    pub(super) context: [u32; 2],
}

/// What a row is.
#[derive(Debug, Clone)]
pub(super) struct Row<'a> {
    pub(super) source: &'a str,
    pub(super) series: &'a str,
    pub(super) metric: Option<Metric>,
    pub(super) unit: &'a str,
    pub(super) better: Option<Better>,
    pub(super) basis: Basis,
    pub(super) left_out: usize,
    pub(super) points: Vec<Point>,
}

/// A judged row, and where in its timeline everything lies that the trace names by pushes.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) trace: Trace,
    pub(super) segments: Vec<SegmentPlaces>,
}

/// Places of a segment in its timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentPlaces {
    /// Of its first value.
    pub first: usize,
    /// Of its last value.
    pub last: usize,
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

/// Texts that stand for numbers, so that contexts compare quickly.
#[derive(Debug, Default)]
pub(super) struct Names {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    /// Stands for no text.
    const NONE: u32 = u32::MAX;

    /// The number of a text, given now if it has none yet.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(Self::NONE);
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The number of a text that was given one.
    pub(super) fn find(&self, text: &str) -> u32 {
        self.numbers.get(text).copied().unwrap_or(Self::NONE)
    }

    fn text(&self, number: u32) -> &str {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        self.texts.get(place).map_or("", String::as_str)
    }
}

/// Judges a row. `words` says what the two context numbers are, `names` what they stand for.
pub(super) fn judge(row: &Row, timeline: &Timeline, rules: Rules, words: [&str; 2], names: &Names) -> Judged {
    let (mut segments, mut places) = (Vec::new(), Vec::new());
    let mut previous: Option<[u32; 2]> = None;
    for points in row.points.chunk_by(|one, next| one.context == next.context) {
        let context = points[0].context;
        let broken_by = previous.map(|before| {
            let changes = (0..2).filter(|place| before[*place] != context[*place]);
            let texts = changes.map(|place| {
                let [old, new] = [before, context].map(|numbers| names.text(numbers[place]));
                format!("{} {old} → {new}", words[place])
            });
            texts.collect::<Vec<_>>().join(", ")
        });
        let (segment, found) = segment(row, points, timeline, rules, broken_by);
        segments.push(segment);
        places.push(found);
        previous = Some(context);
    }
    let trace = Trace {
        source: row.source.to_owned(),
        series: row.series.to_owned(),
        metric: row.metric,
        unit: row.unit.to_owned(),
        better: row.better,
        basis: row.basis,
        points: row.points.len(),
        left_out: row.left_out,
        segments,
    };
    Judged {
        trace,
        segments: places,
    }
}

fn segment(
    row: &Row,
    points: &[Point],
    timeline: &Timeline,
    rules: Rules,
    broken_by: Option<String>,
) -> (Segment, SegmentPlaces) {
    let mut detector = Detector::default();
    for point in points {
        detector.push(point.value.ln());
    }
    let push = |place: usize| timeline.pushes[points[place].place].clone();
    let steps = detector.change_points();
    let place = |number: usize| points[number].place;
    let places = SegmentPlaces {
        first: place(0),
        last: place(points.len() - 1),
        steps: steps
            .iter()
            .map(|step| StepPlaces {
                last_before: place(step.last_before),
                first_after: place(step.first_after),
                reported: place(step.reported),
            })
            .collect(),
    };
    let segment = Segment {
        broken_by,
        first: push(0),
        last: push(points.len() - 1),
        points: points.len(),
        level: detector.level().map_or(f64::NAN, f64::exp),
        resolvable_percent: detector.resolvable().map(percent),
        change_points: steps
            .iter()
            .map(|step| described(row, points, step, timeline, rules))
            .collect(),
    };
    (segment, places)
}

fn described(
    row: &Row,
    points: &[Point],
    step: &change_point::ChangePoint,
    timeline: &Timeline,
    rules: Rules,
) -> ChangePoint {
    let place = |number: usize| points[number].place;
    let push = |number: usize| timeline.pushes[place(number)].clone();
    let change = percent(step.change.estimate);
    let direction = match row.better {
        None => Direction::Unknown,
        Some(Better::Lower) if change < 0.0 => Direction::Better,
        Some(Better::Higher) if change > 0.0 => Direction::Better,
        Some(_) => Direction::Worse,
    };
    let range = place(step.last_before) + 1..=place(step.first_after);
    let meant = || {
        let here = |acceptance: &&Acceptance| acceptance.covers(row.series, row.metric, change.abs());
        let named = |acceptance: &&Acceptance| {
            let mut pushes = timeline.pushes[range.clone()].iter();
            pushes.any(|push| acceptance.names(&push.commit))
        };
        let carried = timeline.accepted.iter().filter(|(place, _)| range.contains(place));
        let by_project = rules.accepted.iter().filter(here).find(named);
        let by_run = carried.map(|(_, acceptance)| acceptance).find(here);
        by_project.or(by_run).map(|acceptance| acceptance.entry.reason.clone())
    };
    let accepted = (direction == Direction::Worse).then(meant).flatten();
    ChangePoint {
        last_before: push(step.last_before),
        first_after: push(step.first_after),
        reported: push(step.reported),
        change_percent: change,
        low_percent: percent(step.change.low),
        high_percent: percent(step.change.high),
        direction,
        alert: direction == Direction::Worse && accepted.is_none(),
        accepted,
        recent: place(step.reported) + rules.newest >= timeline.pushes.len(),
    }
}

/// A change of the logarithm in percent.
fn percent(log: f64) -> f64 {
    100.0 * log.exp_m1()
}
