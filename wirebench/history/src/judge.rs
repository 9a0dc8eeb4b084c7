//! Judges one trace: divides it into segments, and finds the change points of each.

use crate::open::mark_open;
use crate::segment;
use crate::standing::STOPPED_AFTER;
use crate::trace::{Context, JudgedTrace, Names, Point, Rules, Timeline, UnjudgedTrace};
use wirebench_record::trend::{Basis, Newest, Trace};

/// Judges a trace. `names` has the texts of the numbers in its contexts.
pub(super) fn judge(unjudged: &UnjudgedTrace, timeline: &Timeline, rules: Rules, names: &Names) -> JudgedTrace {
    let (mut segments, mut places, mut wild) = (Vec::new(), Vec::new(), Vec::new());
    let mut previous: Option<Context> = None;
    let judged: &[Point] = if unjudged.not_judged.is_some() {
        &[]
    } else {
        &unjudged.points
    };
    for points in judged.chunk_by(|one, next| one.context == next.context) {
        let context = points[0].context;
        let broken_by = previous.map(|before| broken_by(before, context, unjudged.compared_on, names));
        let judged = segment::judge(unjudged, points, timeline, rules, broken_by);
        wild.extend(judged.wild);
        if let Some((segment, segment_places)) = judged.segment {
            segments.push(segment);
            places.push(segment_places);
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
    JudgedTrace {
        trace,
        segments: places,
        wild,
    }
}

/// Names the differences between two contexts.
fn broken_by(before: Context, now: Context, compared_on: &str, names: &Names) -> String {
    let mut changes = Vec::new();
    let change = |what: &str, old: u32, new: u32| format!("{what} {} → {}", names.text(old), names.text(new));
    if before.digest != now.digest {
        changes.push(change("question", before.digest, now.digest));
    }
    match (before.basis, now.basis) {
        (Basis::Value, Basis::Ratio) => {
            changes.push(format!(
                "values → ratios to the reference {}",
                names.text(now.compared_on)
            ));
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
