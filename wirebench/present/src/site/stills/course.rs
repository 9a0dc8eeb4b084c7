//! What of a column is drawn at first, from its first to its last value: `shape`, `extent` and `room` of
//! `site/assets/chart/view.js` for the whole course.

use crate::site::encode::decoded;
use wirebench_record::site::{Buckets, Column, Points};
use wirebench_record::trend::Basis;

/// A chart shows at least so many places.
const FEWEST: usize = 5;

/// What is drawn of a column. Values of ratios are percent against the reference.
#[derive(Debug)]
pub(super) struct Course {
    /// First and last place.
    pub(super) range: (usize, usize),
    /// Whether it is drawn as percent against a reference.
    pub(super) percent: bool,
    pub(super) shape: Shape,
}

#[derive(Debug)]
pub(super) enum Shape {
    /// Values one by one, those of all places of the range.
    Points(Vec<Point>),
    Stretches(Vec<Stretch>),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) place: usize,
    /// NaN if there is none.
    pub(super) value: f64,
    /// Half of its 95 % interval; 0 if it is not known.
    pub(super) half: f64,
}

/// Smallest, middle and largest of several values; NaN if there is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) from: usize,
    /// Its last place.
    pub(super) to: usize,
    pub(super) low: f64,
    pub(super) middle: f64,
    pub(super) high: f64,
}

impl Course {
    pub(super) fn of(column: &Column) -> Self {
        let percent = column.basis == Basis::Ratio;
        let stretches = column
            .buckets
            .as_ref()
            .map(|all| stretches(all, column.places, percent));
        let lived = match (&column.points, &stretches) {
            (Some(points), _) => {
                ends(&decoded(&points.value)).map(|(first, last)| (points.from + first, points.from + last))
            }
            (None, Some(all)) => {
                let middles: Vec<f64> = all.iter().map(|one| one.middle).collect();
                ends(&middles).map(|(first, last)| (all[first].from, all[last].to))
            }
            (None, None) => None,
        };
        let range = range(lived, column);
        let shape = match (&column.points, stretches) {
            (None, Some(all)) => Shape::Stretches(all),
            (points, _) => Shape::Points(points.as_ref().map_or_else(Vec::new, |all| values(all, range, percent))),
        };
        Self { range, percent, shape }
    }

    /// Smallest and largest value drawn, with the ends of intervals; `None` if there is no value.
    pub(super) fn extent(&self) -> Option<(f64, f64)> {
        let sides: Vec<f64> = match &self.shape {
            Shape::Points(all) => all
                .iter()
                .flat_map(|one| [one.value - one.half, one.value + one.half])
                .collect(),
            Shape::Stretches(all) => all.iter().flat_map(|one| [one.low, one.high]).collect(),
        };
        let known = || sides.iter().copied().filter(|side| side.is_finite());
        Some((known().min_by(f64::total_cmp)?, known().max_by(f64::total_cmp)?))
    }

    /// The ends of the axis of values: the extent with some air.
    pub(super) fn room(&self) -> (f64, f64) {
        let Some((low, high)) = self.extent() else {
            return (0.0, 1.0);
        };
        let air = [(high - low) * 0.06, high.abs() * 0.01]
            .into_iter()
            .find(|air| *air > 0.0)
            .unwrap_or(1.0);
        (low - air, high + air)
    }
}

/// The places of the first and the last number.
fn ends(values: &[f64]) -> Option<(usize, usize)> {
    let known = |value: &f64| value.is_finite();
    Some((values.iter().position(known)?, values.iter().rposition(known)?))
}

/// From the first to the last place that has a value or a reason why not.
fn range(lived: Option<(usize, usize)>, column: &Column) -> (usize, usize) {
    let last = column.places.saturating_sub(1);
    let known = || {
        let failed = column.failures.iter().map(|failure| failure.at);
        lived.into_iter().flat_map(|(first, last)| [first, last]).chain(failed)
    };
    let (from, to) = (known().min().unwrap_or(0), known().max().unwrap_or(last));
    let width = FEWEST.max(to - from + 1).min(column.places).max(1);
    let from = from.min(column.places.saturating_sub(width));
    (from, from + width - 1)
}

fn values(points: &Points, (from, to): (usize, usize), percent: bool) -> Vec<Point> {
    let row = if percent {
        points.ratio.as_ref()
    } else {
        Some(&points.value)
    };
    let row = row.map(decoded).unwrap_or_default();
    let point = |place: usize| {
        let at = place.checked_sub(points.from);
        let value = at.and_then(|at| row.get(at)).copied().unwrap_or(f64::NAN);
        let permille = at
            .and_then(|at| points.half_permille.get(at).copied().flatten())
            .unwrap_or(0);
        Point {
            place,
            value: shown(value, percent),
            half: if value.is_finite() {
                shown_size(value * f64::from(permille) / 1000.0, percent)
            } else {
                0.0
            },
        }
    };
    (from..=to).map(point).collect()
}

fn stretches(buckets: &Buckets, places: usize, percent: bool) -> Vec<Stretch> {
    let Some(envelope) = (if percent {
        buckets.ratio.as_ref()
    } else {
        Some(&buckets.value)
    }) else {
        return Vec::new();
    };
    let ends = buckets.from.iter().skip(1).copied().chain([places]);
    let rows = [&envelope.min, &envelope.middle, &envelope.max].map(decoded);
    let number = |row: &[f64], at: usize| shown(row.get(at).copied().unwrap_or(f64::NAN), percent);
    let stretch = |(at, (from, end)): (usize, (&usize, usize))| Stretch {
        from: *from,
        to: end.saturating_sub(1),
        low: number(&rows[0], at),
        middle: number(&rows[1], at),
        high: number(&rows[2], at),
    };
    buckets.from.iter().zip(ends).enumerate().map(stretch).collect()
}

/// A value as it is drawn: of a ratio what it differs by, percent.
pub(super) fn shown(value: f64, percent: bool) -> f64 {
    if percent { (value - 1.0) * 100.0 } else { value }
}

fn shown_size(size: f64, percent: bool) -> f64 {
    if percent { size * 100.0 } else { size }
}
