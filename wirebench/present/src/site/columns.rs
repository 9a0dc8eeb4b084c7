//! A trace and its values → the files from which it is drawn.

use crate::site::buckets::{buckets, stretches};
use crate::site::encode::row;
use crate::site::gather::{Drawn, Series, Source};
use wirebench_history::follow::TraceValues;
use wirebench_record::site::{Break, COLUMN, Column, Failure, MOST_POINTS, POINTS, Points, PointsFile, Step};
use wirebench_record::trend::Trace;

/// The column, without what comes after the last value of a stopped series, and its points where they are a file of their own.
pub(super) fn column(source: &Source, series: &Series, drawn: &Drawn) -> (Column, Option<PointsFile>) {
    let (trace, values) = (drawn.trace, drawn.values);
    let breaks: Vec<Break> = breaks(trace, values);
    let points = points(values);
    let count = values.values.iter().filter(|value| value.is_finite()).count();
    let long = count > MOST_POINTS;
    let edges: Vec<usize> = breaks.iter().map(|one| one.at).collect();
    let end = points.from + points.value.deltas.len();
    let from = || stretches(points.from, end, &edges);
    let column = Column {
        schema: COLUMN.into(),
        series: trace.series.clone(),
        server: series.server.to_owned(),
        metric: trace.metric,
        label: drawn.label.to_owned(),
        unit: trace.unit.clone(),
        better: trace.better,
        basis: trace.basis,
        reference: drawn.reference.clone(),
        timeline: source.timeline.id.clone(),
        places: if trace.stopped { end } else { values.values.len() },
        breaks,
        levels: values.levels(),
        steps: steps(trace, values),
        failures: failures(values),
        buckets: long.then(|| buckets(from(), end, &values.values, &values.ratios)),
        points: (!long).then(|| points.clone()),
    };
    let file = long.then(|| PointsFile {
        schema: POINTS.into(),
        points,
    });
    (column, file)
}

fn breaks(trace: &Trace, values: &TraceValues) -> Vec<Break> {
    let segments = trace.segments.iter().zip(&values.segments);
    let broken = segments.filter_map(|(segment, places)| {
        Some(Break {
            at: places.first,
            why: segment.broken_by.clone()?,
        })
    });
    broken.collect()
}

fn steps(trace: &Trace, values: &TraceValues) -> Vec<Step> {
    let segments = trace.segments.iter().zip(&values.segments);
    let found = segments.flat_map(|(segment, places)| {
        let steps = segment.change_points.iter().zip(&places.steps);
        steps.map(|(step, at)| Step {
            last_before: at.last_before,
            first_after: at.first_after,
            reported: at.reported,
            change_percent: step.change_percent,
            low_percent: step.low_percent,
            high_percent: step.high_percent,
            direction: step.direction,
            accepted: step.accepted.clone(),
            alert: step.alert,
        })
    });
    found.collect()
}

fn failures(values: &TraceValues) -> Vec<Failure> {
    let failure = |(at, why): &(usize, String)| Failure {
        at: *at,
        why: why.clone(),
    };
    values.failures.iter().map(failure).collect()
}

/// From the first place that has a value to the last one.
fn points(values: &TraceValues) -> Points {
    let known = |value: &f64| value.is_finite();
    let from = values.values.iter().position(known).unwrap_or(0);
    let end = values.values.iter().rposition(known).map_or(from, |last| last + 1);
    let halves = values.half_permille.get(from..end).unwrap_or_default();
    Points {
        from,
        value: row(&values.values[from..end]),
        ratio: values.ratios.get(from..end).map(row),
        half_permille: halves.iter().map(|half| thousandths(*half)).collect(),
    }
}

#[expect(clippy::cast_sign_loss, reason = "bounded to what a script can draw")]
fn thousandths(half: f64) -> Option<u32> {
    half.is_finite().then(|| half.clamp(0.0, 1e6).round() as u32)
}
