//! Finds the change points of a segment without its wild values, and whether the code or the machines caused them.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::trace::{LeftOut, Point, Timeline, UnjudgedTrace};
use crate::trend::TrendQuery;
use wirebench_record::accepted::Acceptance;
use wirebench_record::metric::{Better, Metric};
use wirebench_record::trend::{Basis, ChangePoint, Direction, SeenNoise, Segment, StepPlaces};
use wirebench_stats::change_point::{self, Detector, WINDOW};
use wirebench_stats::count_step::CountDetector;
use wirebench_stats::machine_mix::convert;
use wirebench_stats::quantile::median;

/// Values on either side of a step that are searched for runs of one commit.
const NEAR: usize = 5;
/// The share of values whose processor may differ before and after a step.
const LARGEST_MIX_CHANGE: f64 = 0.5;

/// What a detector finds in the values of a segment.
struct Detected {
    steps: Vec<change_point::ChangePoint>,
    level: f64,
    resolvable: Option<f64>,
    noise: Option<SeenNoise>,
    /// For each value, whether its processor could be compared with the others.
    comparable: Vec<bool>,
}

/// Judges the points of one context, of which there is at least one: the segment, unless all of its values are left out, and the
/// wild values that are.
pub(super) fn judge(
    unjudged: &UnjudgedTrace,
    points: &[Point],
    timeline: &Timeline,
    query: &TrendQuery,
    broken_by: Option<String>,
) -> (Option<Segment>, LeftOut) {
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
        return (None, wild);
    };
    let push = |point: &Point| timeline.pushes[point.place].clone();
    let detected = if counted {
        detect_in_counts(&points)
    } else {
        detect_in_times(&points)
    };
    let change_points =
        (detected.steps.iter()).map(|step| change_point(unjudged, &points, step, &detected, timeline, query));
    let segment = Segment {
        broken_by,
        basis: first.context.basis,
        first: push(first),
        last: push(last),
        places: (first.place, last.place),
        points: points.len(),
        level: detected.level,
        resolvable_percent: detected.resolvable.map(percent),
        change_points: change_points.collect(),
        noise: detected.noise,
    };
    (Some(segment), wild)
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

/// Detects the steps of timed values. Ratios from several processors are converted to one.
fn detect_in_times(points: &[Point]) -> Detected {
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let mut logs = logarithms(&values);
    let mut comparable = vec![true; logs.len()];
    if points[0].context.basis == Basis::Ratio {
        let processors: Vec<&str> = points.iter().map(|point| point.processor).collect();
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
    for (value, point) in logarithms(&values).into_iter().zip(points) {
        detector.push(value, point.half);
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
    let places = StepPlaces {
        last_before: points[step.last_before].place,
        first_after: points[step.first_after].place,
        reported: points[step.reported].place,
    };
    let push = |place: usize| timeline.pushes[place].clone();
    let change = percent(step.change.estimate);
    let direction = match unjudged.better {
        None => Direction::Unknown,
        Some(Better::Lower) if change < 0.0 => Direction::Better,
        Some(Better::Higher) if change > 0.0 => Direction::Better,
        Some(_) => Direction::Worse,
    };
    let range = places.last_before + 1..=places.first_after;
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
        last_before: push(places.last_before),
        first_after: push(places.first_after),
        reported: push(places.reported),
        places,
        change_percent: change,
        low_percent: percent(step.change.low),
        high_percent: percent(step.change.high),
        direction,
        alert: direction == Direction::Worse && accepted.is_none() && not_code.is_none(),
        accepted,
        not_code,
        // Decided when every segment of the trace is known.
        open: false,
        recent: timeline.commits_from[places.reported] <= query.newest,
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
    let share = |places: Range<usize>, processor: &str| {
        let all = places.len().max(1);
        let measured = points[places].iter().filter(|point| point.processor == processor);
        measured.count() as f64 / all as f64
    };
    let nearby = points[before.start..after.end].iter();
    let processors: BTreeSet<&str> = nearby.map(|point| point.processor).collect();
    let changes = (processors.into_iter())
        .map(|processor| (share(before.clone(), processor) - share(after.clone(), processor)).abs());
    (changes.sum::<f64>() / 2.0 > LARGEST_MIX_CHANGE)
        .then(|| "the mix of machines changed: other processors, and too few pushes on both".into())
}

/// Converts a change of the logarithm to percent.
fn percent(log: f64) -> f64 {
    100.0 * log.exp_m1()
}

// Wild values, a thousand times off the level or zero: one or two are left out, three in a row are a step. A time a thousand times
// below every earlier one is no measurement, however often it occurs.

/// How many times above or below the level a value is wild.
const WILD_FACTOR: f64 = 1000.0;
/// This many wild values in a row are kept.
pub(super) const KEPT_IN_A_ROW: usize = 3;
/// The level is the median of this many values, at most.
const LEVEL_VALUES: usize = 30;
/// The first values are compared with the median of this many values.
const FIRST_VALUES: usize = 7;
/// A level of fewer values is not used.
const LEAST_VALUES: usize = 5;

/// What a value near zero means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NearZero {
    /// A value like any other: a rate, a count or a size may fall to zero.
    Value,
    /// A failure: whatever is done takes time.
    Failure,
}

/// Whether a value is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    /// It is.
    Kept,
    /// It is wild, and not one of three in a row.
    Wild,
    /// It is so near zero that it is no measurement.
    Failure,
}

/// For each value, which must not be below zero, whether it is judged.
pub(super) fn judged(values: &[f64], near_zero: NearZero) -> Vec<Judged> {
    let mut judged = vec![Judged::Kept; values.len()];
    let mut lowest = f64::INFINITY;
    // The values of the current level, and the places of the wild values since.
    let (mut level, mut wild): (Vec<f64>, Vec<usize>) = (Vec::new(), Vec::new());
    for (place, value) in values.iter().enumerate() {
        let newest = &level[level.len().saturating_sub(LEVEL_VALUES)..];
        let compared_with = if newest.len() < LEAST_VALUES {
            &values[..values.len().min(FIRST_VALUES)]
        } else {
            newest
        };
        let median = median(compared_with).unwrap_or(*value);
        if wild_side(*value, median) == 0 {
            wild.clear();
            level.push(*value);
            lowest = lowest.min(*value);
            continue;
        }
        // A way back to a level that was measured before is no failure: hence every earlier value, not the newest level.
        if near_zero == NearZero::Failure && value * WILD_FACTOR < lowest.min(median) {
            judged[place] = Judged::Failure;
            continue;
        }
        if wild.last().is_some_and(|last| wild_side(*value, values[*last]) != 0) {
            wild.clear();
        }
        wild.push(place);
        judged[place] = Judged::Wild;
        if wild.len() == KEPT_IN_A_ROW {
            level = wild.iter().map(|place| values[*place]).collect();
            // The new level is used at once.
            level.resize(LEAST_VALUES, *value);
            for place in wild.drain(..) {
                judged[place] = Judged::Kept;
                lowest = lowest.min(values[place]);
            }
        }
    }
    judged
}

/// 1 if a value is wildly above a level, −1 if it is wildly below, else 0. Zero is wildly below everything but zero.
fn wild_side(value: f64, level: f64) -> i8 {
    if value > level * WILD_FACTOR {
        1
    } else if value * WILD_FACTOR < level {
        -1
    } else {
        0
    }
}

/// The logarithms of values, which must not be below zero. Zero counts as a thousandth of the smallest value above zero.
pub(super) fn logarithms(values: &[f64]) -> Vec<f64> {
    let smallest = smallest_above_zero(values);
    let floor = if smallest.is_finite() {
        smallest / WILD_FACTOR
    } else {
        1.0
    };
    values.iter().map(|value| value.max(floor).ln()).collect()
}

/// The smallest value above zero; infinite if there is none.
pub(super) fn smallest_above_zero(values: &[f64]) -> f64 {
    let above_zero = values.iter().copied().filter(|value| *value > 0.0);
    above_zero.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(values: &[f64]) -> Vec<usize> {
        let judged = judged(values, NearZero::Value);
        (0..values.len())
            .filter(|place| judged[*place] != Judged::Kept)
            .collect()
    }

    fn failures(values: &[f64]) -> Vec<usize> {
        let judged = judged(values, NearZero::Failure);
        (0..values.len())
            .filter(|place| judged[*place] == Judged::Failure)
            .collect()
    }

    #[test]
    fn a_time_that_falls_to_nearly_nothing_is_a_failure_and_a_way_back_is_none() {
        let with = |value: f64| [vec![10.0; 8], vec![value; 6]].concat();
        for nothing in [0.0, 0.009] {
            assert_eq!(failures(&with(nothing)), [8, 9, 10, 11, 12, 13], "{nothing}");
            assert_eq!(left_out(&with(nothing)), [0; 0], "{nothing}");
        }
        assert_eq!(failures(&with(0.02)), [0; 0]);
        let there_and_back = [vec![10.0; 8], vec![20_000.0; 8], vec![10.0; 8]].concat();
        assert_eq!(failures(&there_and_back), [0; 0]);
        assert_eq!(left_out(&there_and_back), [0; 0]);
        // A clock too coarse for what it measures: its zeros are all that is known.
        assert_eq!(failures(&[vec![0.0; 8], vec![1.0; 8], vec![0.0; 8]].concat()), [0; 0]);
    }

    #[test]
    fn one_or_two_wild_values_are_left_out_and_three_are_a_step() {
        let mut row = vec![10.0; 8];
        row.extend([12_000.0, 10.0, 0.0, 0.0, 11.0]);
        assert_eq!(left_out(&row), [8, 10, 11]);
        row.extend([0.0, 0.0, 0.0, 0.0, 9.0]);
        // The way back is wild too, until it lasts.
        assert_eq!(left_out(&row), [8, 10, 11, 17]);
        row.extend([9.0, 9.0]);
        assert_eq!(left_out(&row), [8, 10, 11]);
    }

    #[test]
    fn wild_values_on_both_sides_do_not_add_up() {
        let row = [10.0, 10.0, 10.0, 10.0, 10.0, 1e6, 0.0, 1e6, 10.0];
        assert_eq!(left_out(&row), [5, 6, 7]);
    }

    #[test]
    fn a_row_may_begin_wildly_and_may_be_all_zero() {
        assert_eq!(left_out(&[1e9, 10.0, 10.0, 11.0, 10.0, 9.0]), [0]);
        assert_eq!(left_out(&[0.0; 5]), [0; 0]);
        assert_eq!(left_out(&[]), [0; 0]);
    }

    #[test]
    fn zero_has_a_logarithm_far_below_the_others() {
        let found = logarithms(&[0.0, 1.0, 1000.0]);
        assert!((found[1] - found[0] - 1000.0f64.ln()).abs() < 1e-9);
        assert_eq!(logarithms(&[0.0, 0.0]), [0.0, 0.0]);
    }
}
