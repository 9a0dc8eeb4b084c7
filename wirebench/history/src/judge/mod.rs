//! Judges one trace: divides it into segments, and finds the change points of each.

#[cfg(test)]
pub(super) mod tests;

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
        let (segment, of_segment) = segment::judge(unjudged, points, timeline, query, broken_by);
        wild.extend(of_segment);
        if let Some(segment) = segment {
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
    (trace, wild)
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
