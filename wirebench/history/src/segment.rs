//! Finds the steps of a segment, and whether the code or the machines caused them.

use crate::row::{Point, Row, Rules, SegmentPlaces, StepPlaces, Timeline};
use crate::wild::{BELIEVED, believed, logarithms};
use wirebench_record::accepted::Acceptance;
use wirebench_record::metric::{Better, Metric};
use wirebench_record::trend::{Basis, ChangePoint, Direction, SeenNoise, Segment};
use wirebench_stats::change_point::{self, Detector, WINDOW};
use wirebench_stats::count_step::CountDetector;
use wirebench_stats::mix::centred;

/// Values on either side of a step in which runs of one commit are looked for.
const NEAR: usize = 5;
/// By how much the shares of kinds of machines may differ before and after a step.
const MIX: f64 = 0.5;

/// What a segment says.
pub(super) struct Found {
    /// With its places; none when none of its values is believed.
    pub(super) segment: Option<(Segment, SegmentPlaces)>,
    /// Places of wild values that are left out, and the reasons.
    pub(super) wild: Vec<(usize, String)>,
}

/// What the values of a segment say by themselves.
struct Followed {
    steps: Vec<change_point::ChangePoint>,
    level: f64,
    resolvable: Option<f64>,
    noise: Option<SeenNoise>,
    /// Of each value, whether its kind of machine could be set against the others.
    comparable: Vec<bool>,
}

/// Judges the points of one context, of which there is at least one.
pub(super) fn judge(
    row: &Row,
    points: &[Point],
    timeline: &Timeline,
    rules: Rules,
    broken_by: Option<String>,
) -> Found {
    let counted = row.metric.is_some_and(Metric::is_counted);
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    // A count is exact: none of its values is taken for a mistake.
    let sound = if counted {
        vec![true; values.len()]
    } else {
        believed(&values)
    };
    let wild = points.iter().zip(&sound).filter(|(_, sound)| !**sound);
    let wild = wild.map(|(point, _)| {
        let why = format!("a thousand times off, and alone: left out unless {BELIEVED} in a row are");
        (point.place, why)
    });
    let wild: Vec<(usize, String)> = wild.collect();
    let points: Vec<Point> = points
        .iter()
        .zip(&sound)
        .filter(|(_, sound)| **sound)
        .map(|(point, _)| *point)
        .collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Found { segment: None, wild };
    };
    let push = |point: &Point| timeline.pushes[point.place].clone();
    let followed = if counted { counts(&points) } else { timed(&points) };
    let places = SegmentPlaces {
        first: first.place,
        last: last.place,
        basis: first.context.basis,
        steps: followed.steps.iter().map(|step| step_places(&points, step)).collect(),
    };
    let described = followed
        .steps
        .iter()
        .map(|step| described(row, &points, step, &followed, timeline, rules));
    let segment = Segment {
        broken_by,
        basis: first.context.basis,
        first: push(first),
        last: push(last),
        points: points.len(),
        level: followed.level,
        resolvable_percent: followed.resolvable.map(percent),
        change_points: described.collect(),
        noise: followed.noise,
    };
    Found {
        segment: Some((segment, places)),
        wild,
    }
}

fn step_places(points: &[Point], step: &change_point::ChangePoint) -> StepPlaces {
    StepPlaces {
        last_before: points[step.last_before].place,
        first_after: points[step.first_after].place,
        reported: points[step.reported].place,
    }
}

/// Follows timed values. Ratios of machines of several kinds are brought to one.
fn timed(points: &[Point]) -> Followed {
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let mut logs = logarithms(&values);
    let mut comparable = vec![true; logs.len()];
    if points[0].context.basis == Basis::Ratio {
        let kinds: Vec<u32> = points.iter().map(|point| point.kind).collect();
        let found = centred(&logs, &kinds);
        (logs, comparable) = (found.values, found.comparable);
    }
    let mut detector = Detector::default();
    for value in logs {
        detector.push(value);
    }
    Followed {
        steps: detector.change_points(),
        level: level(detector.level(), &values),
        resolvable: detector.resolvable(),
        noise: seen(&detector),
        comparable,
    }
}

fn counts(points: &[Point]) -> Followed {
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let mut detector = CountDetector::default();
    for value in logarithms(&values) {
        detector.push(value);
    }
    Followed {
        steps: detector.change_points(),
        level: level(detector.level(), &values),
        resolvable: Some(detector.least()),
        noise: None,
        comparable: vec![true; values.len()],
    }
}

/// A level in the values' own unit. What lies below the smallest value above zero stands for zero.
fn level(log: Option<f64>, values: &[f64]) -> f64 {
    let smallest = values
        .iter()
        .copied()
        .filter(|value| *value > 0.0)
        .fold(f64::INFINITY, f64::min);
    match log.map(f64::exp) {
        Some(level) if level >= smallest / 2.0 => level,
        Some(_) => 0.0,
        None => f64::NAN,
    }
}

/// The noise in percent, from as many values as say what steps can be seen.
fn seen(detector: &Detector) -> Option<SeenNoise> {
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

fn described(
    row: &Row,
    points: &[Point],
    step: &change_point::ChangePoint,
    followed: &Followed,
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
    let not_code = same_commit(points, step, timeline).or_else(|| mix_changed(points, step, &followed.comparable));
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
        recent: place(step.reported) + rules.newest >= timeline.pushes.len(),
    }
}

/// A commit that has values on both levels did not change between them.
fn same_commit(points: &[Point], step: &change_point::ChangePoint, timeline: &Timeline) -> Option<String> {
    let commit = |point: &Point| timeline.pushes[point.place].commit.as_str();
    let before = &points[(step.last_before + 1).saturating_sub(NEAR)..=step.last_before];
    let after = &points[step.first_after..points.len().min(step.first_after + NEAR)];
    let both = before
        .iter()
        .any(|early| after.iter().any(|late| commit(early) == commit(late)));
    both.then(|| "same commit: the machine".into())
}

/// A step at which the mix of machines changed, whose kinds could not be set against each other.
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
    let share = |places: std::ops::Range<usize>, kind: u32| {
        let all = places.len().max(1);
        let of_kind = points[places].iter().filter(|point| point.kind == kind).count();
        fraction(of_kind, all)
    };
    let mut kinds: Vec<u32> = points[before.start..after.end].iter().map(|point| point.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let moved: f64 = kinds
        .iter()
        .map(|kind| (share(before.clone(), *kind) - share(after.clone(), *kind)).abs())
        .sum();
    (moved / 2.0 > MIX).then(|| "the mix of machines changed: other processors, and too few pushes on both".into())
}

#[expect(clippy::cast_precision_loss, reason = "counts of at most some thousands")]
fn fraction(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// A change of the logarithm in percent.
fn percent(log: f64) -> f64 {
    100.0 * log.exp_m1()
}
