//! Judges one trace: divides it into segments, and finds the change points of each.

use crate::segment;
use crate::standing::STOPPED_AFTER;
use crate::trace::{Context, JudgedTrace, Point, Timeline, UnjudgedTrace};
use crate::trend::TrendQuery;
use wirebench_record::trend::{Basis, ChangePoint, Newest, Segment, Trace};

/// Judges a trace.
pub(super) fn judge(unjudged: &UnjudgedTrace, timeline: &Timeline, query: &TrendQuery) -> JudgedTrace {
    let (mut segments, mut wild) = (Vec::new(), Vec::new());
    let mut previous: Option<Context> = None;
    let judged: &[Point] = if unjudged.not_judged.is_some() {
        &[]
    } else {
        &unjudged.points
    };
    for points in judged.chunk_by(|one, next| one.context == next.context) {
        let context = points[0].context;
        let broken_by = previous.map(|before| broken_by(before, context, unjudged.compared_on));
        let judged = segment::judge(unjudged, points, timeline, query, broken_by);
        wild.extend(judged.wild);
        if let Some(segment) = judged.segment {
            segments.push(segment);
            previous = Some(context);
        }
    }
    mark_open(&mut segments);
    let last_place =
        (unjudged.points.last().map(|point| point.place)).max(unjudged.left_out.last().map(|(place, ..)| *place));
    // The commit at that place is one of those that are counted from it.
    let stopped = last_place.is_some_and(|place| timeline.commits_from[place] > STOPPED_AFTER);
    let trace = Trace {
        source: unjudged.source.to_owned(),
        series: unjudged.series.to_owned(),
        metric: unjudged.metric,
        unit: unjudged.unit.to_owned(),
        better: unjudged.better,
        basis: unjudged.points.last().map_or(Basis::Value, |point| point.context.basis),
        points: judged.len() - wild.len(),
        left_out: unjudged.left_out.len() + wild.len(),
        not_judged: unjudged.not_judged.clone(),
        stopped,
        newest: newest(unjudged, timeline, &wild),
        segments,
    };
    JudgedTrace { trace, wild }
}

/// Names the differences between two contexts.
fn broken_by(before: Context, now: Context, compared_on: &str) -> String {
    let mut changes = Vec::new();
    let change = |what: &str, old: &str, new: &str| format!("{what} {old} → {new}");
    if before.digest != now.digest {
        changes.push(change("question", before.digest, now.digest));
    }
    match (before.basis, now.basis) {
        (Basis::Value, Basis::Ratio) => {
            changes.push(format!("values → ratios to the reference {}", now.compared_on));
        }
        (Basis::Ratio, Basis::Value) => {
            changes.push("ratios to the reference → values: no reference is measured".into());
        }
        (Basis::Ratio, Basis::Ratio) if before.compared_on != now.compared_on => {
            changes.push(change("reference", before.compared_on, now.compared_on));
        }
        (Basis::Value, Basis::Value) if before.compared_on != now.compared_on => {
            changes.push(change(compared_on, before.compared_on, now.compared_on));
        }
        _ => {}
    }
    changes.join(", ")
}

/// The newest value, with the reason if it is not judged.
fn newest(unjudged: &UnjudgedTrace, timeline: &Timeline, wild: &[(usize, String)]) -> Option<Newest> {
    let point = unjudged.points.last().map(|point| {
        let wild = wild.iter().find(|(place, _)| *place == point.place);
        let reason = unjudged
            .not_judged
            .clone()
            .or_else(|| wild.map(|(_, reason)| reason.clone()));
        (point.place, Some(point.value), reason)
    });
    let left_out = unjudged.left_out.last().cloned();
    let left_out = left_out.map(|(place, value, reason)| (place, value, Some(reason)));
    let (place, value, left_out) = point.into_iter().chain(left_out).max_by_key(|(place, ..)| *place)?;
    Some(Newest {
        at: timeline.pushes.get(place)?.clone(),
        value,
        left_out,
    })
}

// Decides which regressions are open: alerts whose worsening was not taken back. Every report of a history uses this decision.

/// Marks the open steps of a trace: alerts whose worsening was not taken back. A break between segments closes none: it only
/// hides whether the level returned.
pub(super) fn mark_open(segments: &mut [Segment]) {
    let steps: Vec<&ChangePoint> = (segments.iter()).flat_map(|segment| &segment.change_points).collect();
    let is_open = |(place, step): (usize, &&ChangePoint)| step.alert && !is_taken_back(step, &steps[place + 1..]);
    let open: Vec<bool> = steps.iter().enumerate().map(is_open).collect();
    let change_points = segments.iter_mut().flat_map(|segment| &mut segment.change_points);
    for (change_point, open) in change_points.zip(open) {
        change_point.open = open;
    }
}

fn is_taken_back(step: &ChangePoint, later: &[&ChangePoint]) -> bool {
    let log = |step: &ChangePoint| (step.change_percent / 100.0).ln_1p();
    // The level returned, whatever moved it.
    let any = later.iter().map(|later| log(later));
    // The code took the step back, although a slower machine or an accepted worsening hides it.
    let code = (later.iter()).filter(|later| later.not_code.is_none() && later.accepted.is_none());
    returns(log(step), any) || returns(log(step), code.map(|later| log(later)))
}

/// True if at some point the sum of later changes took back half of a change or more.
fn returns(change: f64, later: impl Iterator<Item = f64>) -> bool {
    let mut sum = 0.0;
    later.into_iter().any(|step| {
        sum += step;
        sum * change < 0.0 && sum.abs() >= change.abs() / 2.0
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;
    use wirebench_record::trend::{Direction, Push, StepPlaces};

    const NONE: [usize; 0] = [];

    /// A push of which only the commit is known.
    pub(crate) fn push() -> Push {
        Push {
            run: None,
            commit: "abcdef1".into(),
            at: None,
            message: None,
            author: None,
        }
    }

    /// A step of that size that nothing else is known of.
    pub(crate) fn step(percent: f64) -> ChangePoint {
        ChangePoint {
            last_before: push(),
            first_after: push(),
            reported: push(),
            places: StepPlaces::default(),
            change_percent: percent,
            low_percent: percent - 1.0,
            high_percent: percent + 1.0,
            direction: Direction::Unknown,
            accepted: None,
            not_code: None,
            alert: false,
            open: false,
            recent: false,
        }
    }

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Kind {
        Code,
        Machine,
        Accepted,
    }

    /// A segment of a metric that is better lower, with these steps in percent.
    fn segment(steps: &[(f64, Kind)]) -> Segment {
        let change_point = |(percent, kind): &(f64, Kind)| ChangePoint {
            direction: if *percent > 0.0 {
                Direction::Worse
            } else {
                Direction::Better
            },
            accepted: (*kind == Kind::Accepted).then(|| "meant".into()),
            not_code: (*kind == Kind::Machine).then(|| "the machine".into()),
            alert: *percent > 0.0 && *kind == Kind::Code,
            ..step(*percent)
        };
        Segment {
            broken_by: None,
            basis: Basis::Value,
            noise: None,
            first: push(),
            last: push(),
            places: (0, 99),
            points: 100,
            level: 1.0,
            resolvable_percent: None,
            change_points: steps.iter().map(change_point).collect(),
        }
    }

    /// The places of the open steps.
    fn open(segments: &[&[(f64, Kind)]]) -> Vec<usize> {
        let mut segments: Vec<Segment> = segments.iter().map(|steps| segment(steps)).collect();
        mark_open(&mut segments);
        let change_points = segments.iter().flat_map(|segment| &segment.change_points);
        let open = change_points.enumerate().filter(|(_, point)| point.open);
        open.map(|(place, _)| place).collect()
    }

    fn code(steps: &[f64]) -> Vec<usize> {
        let steps: Vec<_> = steps.iter().map(|percent| (*percent, Kind::Code)).collect();
        open(&[&steps])
    }

    #[test]
    fn half_of_a_step_taken_back_closes_it_and_a_new_step_opens_again() {
        assert_eq!(code(&[10.0]), [0]);
        assert_eq!(code(&[10.0, -3.0]), [0]);
        assert_eq!(code(&[10.0, -6.0]), NONE);
        assert_eq!(code(&[10.0, -3.0, -3.0]), NONE);
        assert_eq!(code(&[10.0, -9.1, 10.0]), [2]);
        assert_eq!(code(&[10.0, 100.0, -50.0]), [0]);
        assert_eq!(code(&[-50.0, 10.0]), [1]);
    }

    #[test]
    fn a_break_closes_nothing_and_a_step_back_after_it_does() {
        let (worse, better) = ([(10.0, Kind::Code)], [(-9.0, Kind::Code)]);
        assert_eq!(open(&[&worse, &[]]), [0]);
        assert_eq!(open(&[&worse, &better]), NONE);
    }

    #[test]
    fn machines_and_acceptances_open_nothing_and_do_not_hide_a_fix() {
        use Kind::{Accepted, Code, Machine};
        assert_eq!(open(&[&[(10.0, Machine), (10.0, Accepted)]]), NONE);
        assert_eq!(open(&[&[(10.0, Code), (30.0, Machine), (-9.0, Code)]]), NONE);
        assert_eq!(open(&[&[(10.0, Code), (30.0, Accepted), (-9.0, Code)]]), NONE);
        // The level is back: nobody sees a regression in it.
        assert_eq!(open(&[&[(10.0, Code), (-9.0, Machine)]]), NONE);
    }

    proptest! {
        #[test]
        fn later_worsenings_never_close_a_step(steps in prop::collection::vec(3.0..200.0f64, 1..12)) {
            prop_assert_eq!(code(&steps), (0..steps.len()).collect::<Vec<_>>());
        }

        #[test]
        fn a_step_back_below_every_earlier_level_closes_everything(
            steps in prop::collection::vec(prop_oneof![-60.0..-3.0f64, 3.0..200.0f64], 0..12)
        ) {
            let back = steps.into_iter().chain([-99.99999]).collect::<Vec<_>>();
            prop_assert_eq!(code(&back), Vec::<usize>::new());
        }
    }
}
