//! A trace and its values → the files from which it is drawn.

use crate::site::gather::{Drawn, Source};
use wirebench_history::follow::TraceValues;
use wirebench_record::site::{
    Break, Buckets, COLUMN, Column, Envelope, Failure, MOST_POINTS, POINTS, Points, PointsFile, Row, Step,
};
use wirebench_record::trend::ChangePoint;
use wirebench_stats::quantile::median;

/// The column, without what comes after the last value of a stopped series, and its points where they are a file of their own.
pub(super) fn column(source: &Source, drawn: &Drawn) -> (Column, Option<PointsFile>) {
    let (trace, values) = (drawn.trace, drawn.values);
    let broken = trace.segments.iter().filter_map(|segment| {
        Some(Break {
            at: segment.places.0,
            why: segment.broken_by.clone()?,
        })
    });
    let breaks: Vec<Break> = broken.collect();
    let points = points(values);
    let count = values.values.iter().filter(|value| value.is_finite()).count();
    let long = count > MOST_POINTS;
    let edges: Vec<usize> = breaks.iter().map(|one| one.at).collect();
    let end = points.from + points.value.deltas.len();
    let column = Column {
        schema: COLUMN.into(),
        series: trace.series.clone(),
        server: drawn.server().to_owned(),
        metric: trace.metric,
        label: drawn.label.to_owned(),
        unit: trace.unit.clone(),
        better: trace.better,
        basis: trace.basis,
        reference: drawn.reference.clone(),
        timeline: source.timeline.id.clone(),
        places: if trace.stopped { end } else { values.values.len() },
        breaks,
        levels: values.levels(trace),
        steps: trace.change_points().map(step).collect(),
        failures: (values.failures.iter().cloned())
            .map(|(at, why)| Failure { at, why })
            .collect(),
        buckets: long.then(|| buckets(stretches(points.from, end, &edges), end, &values.values, &values.ratios)),
        points: (!long).then(|| points.clone()),
    };
    let file = long.then(|| PointsFile {
        schema: POINTS.into(),
        points,
    });
    (column, file)
}

fn step(step: &ChangePoint) -> Step {
    Step {
        last_before: step.places.last_before,
        first_after: step.places.first_after,
        reported: step.places.reported,
        change_percent: step.change_percent,
        low_percent: step.low_percent,
        high_percent: step.high_percent,
        direction: step.direction,
        accepted: step.accepted.clone(),
        alert: step.alert,
    }
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

// Numbers as the distances between integers: small in a file, and quick to read.

/// Values to four digits or more, NaN as null.
pub(super) fn row(values: &[f64]) -> Row {
    let scale = scale(values);
    let mut before = 0_i64;
    let deltas = values.iter().map(|value| {
        let scaled = value / scale;
        let now = scaled.is_finite().then(|| scaled.round() as i64)?;
        let delta = now - before;
        before = now;
        Some(delta)
    });
    Row {
        deltas: deltas.collect(),
        scale,
    }
}

/// The power of ten by which all but the smallest hundredth of the values keep four digits.
fn scale(values: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = values
        .iter()
        .map(|value| value.abs())
        .filter(|size| size.is_finite() && *size > 0.0)
        .collect();
    sizes.sort_by(f64::total_cmp);
    // Integers above 2^53 would not come out of JSON as they went in.
    let (Some(small), Some(large)) = (sizes.get(sizes.len() / 100), sizes.last()) else {
        return 1.0;
    };
    let four_digits = small.log10().floor() - 3.0;
    let safe = large.log10().floor() - 14.0;
    10_f64.powi(four_digits.max(safe) as i32)
}

// A long row summarised: the smallest, middle and largest of each of some hundred stretches.

/// Stretches of a timeline, about as many as may be drawn, none across a break. `from` is the first place that has a value,
/// `end` the first after the last one, `breaks` are places at which a new stretch begins.
pub(super) fn stretches(from: usize, end: usize, breaks: &[usize]) -> Vec<usize> {
    let length = (end - from).div_ceil(MOST_POINTS).max(1);
    let mut edges: Vec<usize> = breaks.iter().copied().filter(|at| (from..end).contains(at)).collect();
    edges.insert(0, from);
    edges.push(end);
    let parts = edges.windows(2).flat_map(|part| (part[0]..part[1]).step_by(length));
    let mut parts: Vec<usize> = parts.collect();
    parts.dedup();
    parts
}

/// The buckets of a row and, when there are ratios, of these.
pub(super) fn buckets(from: Vec<usize>, end: usize, values: &[f64], ratios: &[f64]) -> Buckets {
    Buckets {
        value: envelope(&from, end, values),
        ratio: (!ratios.is_empty()).then(|| envelope(&from, end, ratios)),
        from,
    }
}

fn envelope(from: &[usize], end: usize, values: &[f64]) -> Envelope {
    let ends = from.iter().skip(1).copied().chain([end]);
    let stretches: Vec<Vec<f64>> = from
        .iter()
        .zip(ends)
        .map(|(start, end)| {
            values[*start..end]
                .iter()
                .copied()
                .filter(|value| value.is_finite())
                .collect()
        })
        .collect();
    let of = |pick: fn(&[f64]) -> Option<f64>| {
        let picked = stretches.iter().map(|stretch| pick(stretch).unwrap_or(f64::NAN));
        row(&picked.collect::<Vec<f64>>())
    };
    Envelope {
        min: of(|stretch| stretch.iter().copied().min_by(f64::total_cmp)),
        middle: of(median),
        max: of(|stretch| stretch.iter().copied().max_by(f64::total_cmp)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The values of a row, as the scripts decode them.
    pub(super) fn decoded(row: &Row) -> Vec<f64> {
        let mut sum = 0;
        let value = |delta: &Option<i64>| {
            delta.map_or(f64::NAN, |delta| {
                sum += delta;
                sum as f64 * row.scale
            })
        };
        row.deltas.iter().map(value).collect()
    }

    #[test]
    fn gaps_stay_gaps_and_do_not_shift_what_follows() {
        let found = row(&[f64::NAN, 1000.0, f64::NAN, 1001.0]);
        assert_eq!(found.deltas, [None, Some(1000), None, Some(1)]);
        assert_eq!(found.scale, 1.0);
        assert_eq!(row(&[]).deltas, []);
        assert_eq!(row(&[0.0, 0.0]).deltas, [Some(0), Some(0)]);
    }

    proptest! {
        #[test]
        fn four_digits_come_back(values in prop::collection::vec(prop_oneof![1e-3..1e9, Just(f64::NAN)], 1..50)) {
            let found = decoded(&row(&values));
            let smallest = values.iter().copied().filter(|value| value.is_finite()).fold(f64::INFINITY, f64::min);
            for (was, is) in values.iter().zip(&found) {
                prop_assert_eq!(was.is_nan(), is.is_nan());
                if !was.is_nan() {
                    prop_assert!((was - is).abs() <= 0.0006 * smallest, "{} became {}", was, is);
                }
            }
        }
    }
}

#[cfg(test)]
mod buckets_tests {
    use super::tests::decoded;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_peak_never_disappears_and_no_bucket_crosses_a_break() {
        let mut values = vec![100.0; 10_000];
        (values[5_003], values[7]) = (900.0, f64::NAN);
        let from = stretches(0, 10_000, &[5_004]);
        assert!(from.contains(&5_004), "{from:?}");
        assert!(from.len() <= MOST_POINTS + 1);
        let found = buckets(from.clone(), 10_000, &values, &[]);
        let peak = from.iter().rposition(|start| *start <= 5_003).unwrap();
        assert_eq!(decoded(&found.value.max)[peak], 900.0);
        assert_eq!(decoded(&found.value.max)[peak + 1], 100.0);
        assert_eq!(decoded(&found.value.min)[0], 100.0);
    }

    proptest! {
        #[test]
        fn stretches_cover_every_place_once(from in 0_usize..50, length in 1_usize..5_000, breaks in prop::collection::btree_set(0_usize..5_050, 0..5)) {
            let end = from + length;
            let breaks: Vec<usize> = breaks.into_iter().collect();
            let found = stretches(from, end, &breaks);
            prop_assert_eq!(found[0], from);
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(*found.last().unwrap() < end);
            prop_assert!(found.len() <= MOST_POINTS + breaks.len() + 1);
        }
    }
}
