//! Judges imported suites: a trace for each series.

use jiff::Timestamp;
use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::follow::{TraceValues, with_wild};
use crate::import::check::sound;
use crate::import::unit::{is_time, scale, trimmed};
use crate::judge::judge;
use crate::segment::NearZero;
use crate::trace::{Context, Point, Timeline, UnjudgedTrace};
use crate::trend::TrendQuery;
use wirebench_record::imported::{ImportedRun, ImportedSeries, Suite, UnitFrom};
use wirebench_record::metric::Better;
use wirebench_record::trend::{Basis, Push, Trace};

/// A series with a larger share of invalid values is not judged.
const MOST_REFUSED_PERCENT: usize = 20;

/// Judges the selected series of a suite: its runs in commit order, and each series that has a valid value. `source` is
/// `imported/NAME: SUITE`.
pub(crate) fn of_suite(source: &str, suite: &Suite, query: &TrendQuery) -> (Vec<Push>, Vec<(Trace, TraceValues)>) {
    let order = commit_order(&suite.runs);
    let timeline = Timeline::new(order.iter().map(|run| push(&suite.runs[*run])).collect(), Vec::new());
    let series: Vec<&ImportedSeries> = suite
        .series
        .iter()
        .filter(|series| series.occurrence == 1 && query.selects(&series.name))
        .collect();
    let judged = (series.par_iter()).map(|series| judge_series(source, series, &order, &timeline, query));
    let traces = judged.collect::<Vec<_>>().into_iter().flatten().collect();
    (timeline.pushes, traces)
}

/// The indices of the runs in commit order. A run without a commit time is placed by the time of measuring.
fn commit_order(runs: &[ImportedRun]) -> Vec<usize> {
    let key = |index: &usize| {
        let run = &runs[*index];
        let measured = measured_at(run);
        let committed = run.committed_at.as_ref().and_then(|time| time.parse().ok());
        (committed.or(measured), measured)
    };
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_cached_key(key);
    order
}

fn measured_at(run: &ImportedRun) -> Option<Timestamp> {
    Timestamp::from_millisecond(run.measured_at_ms?).ok()
}

fn push(run: &ImportedRun) -> Push {
    let committed_at = run.committed_at.clone();
    Push {
        run: None,
        commit: run.commit.clone(),
        at: committed_at.or_else(|| measured_at(run).map(|time| time.to_string())),
        message: run.message.clone(),
        author: run.author.clone(),
    }
}

/// Judges a series; `None` if it has no valid value.
fn judge_series(
    source: &str,
    series: &ImportedSeries,
    order: &[usize],
    timeline: &Timeline,
    query: &TrendQuery,
) -> Option<(Trace, TraceValues)> {
    let mut values = vec![f64::NAN; order.len()];
    let units = units(series);
    let newest = units.last().map_or(1.0, |unit| unit.factor);
    let (mut points, mut failures, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for (place, run) in order.iter().enumerate() {
        let Some(written) = &series.values[*run] else { continue };
        let Some(value) = sound(written) else {
            failures.push((place, format!("{} is kept and not judged", shortened(written.get()))));
            left_out.push((place, None, format!("{} is no value that can be judged", written.get())));
            continue;
        };
        let unit = units.partition_point(|unit| unit.from <= *run).saturating_sub(1);
        let unit = units.get(unit);
        values[place] = unit.map_or(value, |unit| value * (unit.factor / newest));
        points.push(Point {
            place,
            value: values[place],
            half: None,
            context: Context {
                digest: "",
                basis: Basis::Value,
                compared_on: unit.map_or("", |unit| unit.name),
            },
            processor: "",
        });
    }
    let unit = series.units.last().map_or("", |from| trimmed(&from.unit));
    let unjudged = UnjudgedTrace {
        source,
        series: &series.name,
        metric: None,
        unit,
        better: series.better,
        compared_on: "unit",
        near_zero: if series.better == Some(Better::Lower) && is_time(unit) {
            NearZero::Failure
        } else {
            NearZero::Value
        },
        not_judged: too_many_refused(failures.len(), points.len() + failures.len()),
        left_out,
        points,
    };
    if unjudged.points.is_empty() {
        return None;
    }
    let (trace, wild) = judge(&unjudged, timeline, query);
    let values = TraceValues {
        values,
        failures: with_wild(failures, wild),
        ..TraceValues::default()
    };
    Some((trace, values))
}

/// Shortens a text to 40 characters.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_owned();
    }
    text.chars().take(39).chain(['…']).collect()
}

/// A unit of a series.
struct Unit<'a> {
    /// The index of its first run.
    from: usize,
    /// Its name; convertible units share that of the first one.
    name: &'a str,
    /// Its size in base units.
    factor: f64,
}

fn units(series: &ImportedSeries) -> Vec<Unit<'_>> {
    let mut by_dimension: Vec<(String, &str)> = Vec::new();
    let mut units = Vec::with_capacity(series.units.len());
    for UnitFrom { from, unit } in &series.units {
        let scale = scale(unit);
        let known = by_dimension.iter().find(|(dimension, _)| *dimension == scale.dimension);
        let name = known.map_or_else(|| trimmed(unit), |(_, name)| name);
        by_dimension.push((scale.dimension, name));
        units.push(Unit {
            from: *from,
            name,
            factor: scale.factor,
        });
    }
    units
}

/// Why a series is not judged at all: too many of its values are invalid.
fn too_many_refused(refused: usize, all: usize) -> Option<String> {
    let too_many = 100 * refused > MOST_REFUSED_PERCENT * all;
    too_many.then(|| format!("not judged: {refused} of {all} values are refused, more than {MOST_REFUSED_PERCENT} %"))
}
