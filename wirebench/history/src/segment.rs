//! Finds the change points of a segment, and whether the code or the machines caused them.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::trace::{Point, SegmentPlaces, StepPlaces, Timeline, UnjudgedTrace};
use crate::trend::TrendQuery;
use crate::wild::{Judged, KEPT_IN_A_ROW, judged, logarithms, smallest_above_zero};
use wirebench_record::accepted::Acceptance;
use wirebench_record::metric::{Better, Metric};
use wirebench_record::trend::{Basis, ChangePoint, Direction, SeenNoise, Segment};
use wirebench_stats::change_point::{self, Detector, WINDOW};
use wirebench_stats::count_step::CountDetector;
use wirebench_stats::machine_mix::convert;

/// Values on either side of a step that are searched for runs of one commit.
const NEAR: usize = 5;
/// The share of values whose processor may differ before and after a step.
const LARGEST_MIX_CHANGE: f64 = 0.5;

/// The result of judging a segment.
pub(super) struct JudgedSegment {
    /// `None` if all of its values are left out.
    pub(super) segment: Option<(Segment, SegmentPlaces)>,
    /// Places of wild values that are left out, and the reasons.
    pub(super) wild: Vec<(usize, String)>,
}

/// What a detector finds in the values of a segment.
struct Detected {
    steps: Vec<change_point::ChangePoint>,
    level: f64,
    resolvable: Option<f64>,
    noise: Option<SeenNoise>,
    /// For each value, whether its processor could be compared with the others.
    comparable: Vec<bool>,
}

/// Judges the points of one context, of which there is at least one.
pub(super) fn judge(
    unjudged: &UnjudgedTrace,
    points: &[Point],
    timeline: &Timeline,
    query: &TrendQuery,
    broken_by: Option<String>,
) -> JudgedSegment {
    let counted = unjudged.metric.is_some_and(Metric::is_counted);
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    // Counts are exact: none of them is a measurement error.
    let judged = if counted {
        vec![Judged::Kept; values.len()]
    } else {
        judged(&values, unjudged.near_zero)
    };
    let wild = points.iter().zip(&judged);
    let wild = wild
        .filter_map(|(point, judged)| Some((point.place, left_out_because(*judged)?)))
        .collect();
    let points = points
        .iter()
        .zip(&judged)
        .filter(|(_, judged)| **judged == Judged::Kept);
    let points: Vec<Point> = points.map(|(point, _)| *point).collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return JudgedSegment { segment: None, wild };
    };
    let push = |point: &Point| timeline.pushes[point.place].clone();
    let detected = if counted {
        detect_in_counts(&points)
    } else {
        detect_in_times(&points)
    };
    let places = SegmentPlaces {
        first: first.place,
        last: last.place,
        basis: first.context.basis,
        steps: detected.steps.iter().map(|step| step_places(&points, step)).collect(),
    };
    let change_points =
        (detected.steps.iter()).map(|step| change_point(unjudged, &points, step, &detected, timeline, query));
    let segment = Segment {
        broken_by,
        basis: first.context.basis,
        first: push(first),
        last: push(last),
        points: points.len(),
        level: detected.level,
        resolvable_percent: detected.resolvable.map(percent),
        change_points: change_points.collect(),
        noise: detected.noise,
    };
    JudgedSegment {
        segment: Some((segment, places)),
        wild,
    }
}

fn left_out_because(judged: Judged) -> Option<String> {
    match judged {
        Judged::Kept => None,
        Judged::Wild => Some(format!(
            "a thousand times off, and alone: left out unless {KEPT_IN_A_ROW} in a row are"
        )),
        Judged::Failure => Some("zero, or a thousand times below every earlier value: no measurement".into()),
    }
}

fn step_places(points: &[Point], step: &change_point::ChangePoint) -> StepPlaces {
    StepPlaces {
        last_before: points[step.last_before].place,
        first_after: points[step.first_after].place,
        reported: points[step.reported].place,
    }
}

/// Detects the steps of timed values. Ratios from several processors are converted to one.
fn detect_in_times(points: &[Point]) -> Detected {
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let mut logs = logarithms(&values);
    let mut comparable = vec![true; logs.len()];
    if points[0].context.basis == Basis::Ratio {
        let processors: Vec<u32> = points.iter().map(|point| point.processor).collect();
        let converted = convert(&logs, &processors);
        (logs, comparable) = (converted.values, converted.comparable);
    }
    let mut detector = Detector::default();
    for value in logs {
        detector.push(value);
    }
    Detected {
        steps: detector.change_points(),
        level: level(detector.level(), &values),
        resolvable: detector.resolvable(),
        noise: noise(&detector),
        comparable,
    }
}

fn detect_in_counts(points: &[Point]) -> Detected {
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let mut detector = CountDetector::default();
    for value in logarithms(&values) {
        detector.push(value);
    }
    Detected {
        steps: detector.change_points(),
        level: level(detector.level(), &values),
        resolvable: Some(detector.least()),
        noise: None,
        comparable: vec![true; values.len()],
    }
}

/// Converts the logarithm of a level to the values' own unit. A level far below the smallest value above zero is zero: see
/// [`logarithms`].
fn level(log: Option<f64>, values: &[f64]) -> f64 {
    match log.map(f64::exp) {
        Some(level) if level >= smallest_above_zero(values) / 2.0 => level,
        Some(_) => 0.0,
        None => f64::NAN,
    }
}

/// The noise in percent; `None` if there are too few values to say which steps can be seen.
fn noise(detector: &Detector) -> Option<SeenNoise> {
    detector.resolvable()?;
    let noise = detector.noise()?;
    Some(SeenNoise {
        spread_percent: percent(noise.spread),
        autocorrelation: noise.autocorrelation,
        drift_percent: percent(100.0 * noise.slope),
        outliers_percent: 100.0 * noise.outliers,
        returns: detector.returns(),
    })
}

fn change_point(
    unjudged: &UnjudgedTrace,
    points: &[Point],
    step: &change_point::ChangePoint,
    detected: &Detected,
    timeline: &Timeline,
    query: &TrendQuery,
) -> ChangePoint {
    let place = |number: usize| points[number].place;
    let push = |number: usize| timeline.pushes[place(number)].clone();
    let change = percent(step.change.estimate);
    let direction = match unjudged.better {
        None => Direction::Unknown,
        Some(Better::Lower) if change < 0.0 => Direction::Better,
        Some(Better::Higher) if change > 0.0 => Direction::Better,
        Some(_) => Direction::Worse,
    };
    let range = place(step.last_before) + 1..=place(step.first_after);
    let accepted_because = || {
        let covers = |acceptance: &&Acceptance| acceptance.covers(unjudged.series, unjudged.metric, change.abs());
        let names_push = |acceptance: &&Acceptance| {
            let mut pushes = timeline.pushes[range.clone()].iter();
            pushes.any(|push| acceptance.names(&push.commit))
        };
        let of_runs = timeline.accepted.iter().filter(|(place, _)| range.contains(place));
        let by_project = query.accepted.iter().filter(covers).find(names_push);
        let by_run = of_runs.map(|(_, acceptance)| acceptance).find(covers);
        by_project.or(by_run).map(|acceptance| acceptance.entry.reason.clone())
    };
    let accepted = (direction == Direction::Worse).then(accepted_because).flatten();
    let not_code = same_commit(points, step, timeline).or_else(|| mix_changed(points, step, &detected.comparable));
    ChangePoint {
        last_before: push(step.last_before),
        first_after: push(step.first_after),
        reported: push(step.reported),
        change_percent: change,
        low_percent: percent(step.change.low),
        high_percent: percent(step.change.high),
        direction,
        alert: direction == Direction::Worse && accepted.is_none() && not_code.is_none(),
        accepted,
        not_code,
        // Decided when every segment of the trace is known.
        open: false,
        recent: timeline.commits_from[place(step.reported)] <= query.newest,
    }
}

/// Why the code is not to blame: one commit was measured on both levels.
fn same_commit(points: &[Point], step: &change_point::ChangePoint, timeline: &Timeline) -> Option<String> {
    let commit = |point: &Point| timeline.pushes[point.place].commit.as_str();
    let before = &points[(step.last_before + 1).saturating_sub(NEAR)..=step.last_before];
    let after = &points[step.first_after..points.len().min(step.first_after + NEAR)];
    let both = before
        .iter()
        .any(|early| after.iter().any(|late| commit(early) == commit(late)));
    both.then(|| "same commit: the machine".into())
}

/// Why the code is not to blame: the mix of processors changed, and they could not be compared with each other.
fn mix_changed(points: &[Point], step: &change_point::ChangePoint, comparable: &[bool]) -> Option<String> {
    let before = (step.last_before + 1).saturating_sub(WINDOW)..step.last_before + 1;
    let after = step.first_after..points.len().min(step.first_after + WINDOW);
    if comparable[before.clone()]
        .iter()
        .chain(&comparable[after.clone()])
        .all(|known| *known)
    {
        return None;
    }
    let share = |places: Range<usize>, processor: u32| {
        let all = places.len().max(1);
        let measured = points[places].iter().filter(|point| point.processor == processor);
        fraction(measured.count(), all)
    };
    let nearby = points[before.start..after.end].iter();
    let processors: BTreeSet<u32> = nearby.map(|point| point.processor).collect();
    let changes = (processors.into_iter())
        .map(|processor| (share(before.clone(), processor) - share(after.clone(), processor)).abs());
    (changes.sum::<f64>() / 2.0 > LARGEST_MIX_CHANGE)
        .then(|| "the mix of machines changed: other processors, and too few pushes on both".into())
}

fn fraction(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// Converts a change of the logarithm to percent.
fn percent(log: f64) -> f64 {
    100.0 * log.exp_m1()
}
