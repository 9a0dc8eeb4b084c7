//! Turns imported suites into rows of values to judge.

use jiff::Timestamp;
use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::import::check::sound_values;
use crate::import::direction::proper;
use crate::import::unit::scale;
use crate::row::{Context, Judged, Names, Point, Row, Rules, Timeline, judge};
use wirebench_record::imported::{ImportedRun, ImportedSeries, Suite};
use wirebench_record::trend::{Basis, Push};

/// A series with a larger share of refused values is not judged.
const MOST_REFUSED_PERCENT: usize = 20;

/// The rows of a suite.
#[derive(Debug)]
pub(crate) struct SuiteRows {
    /// `imported/NAME: SUITE`.
    pub(crate) source: String,
    /// Its runs, in commit order.
    pub(crate) timeline: Timeline,
    /// Its series with at least one judged value.
    pub(crate) rows: Vec<ImportedRow>,
    /// Names of those that have none.
    pub(crate) without: Vec<String>,
}

/// A judged series of a suite.
#[derive(Debug)]
pub(crate) struct ImportedRow {
    pub(crate) judged: Judged,
    /// Its values, with their places.
    pub(crate) values: Vec<(usize, f64)>,
    /// Values that are not judged, as text, with their places.
    pub(crate) unsound: Vec<(usize, String)>,
}

/// Judges the selected series of a suite.
pub(crate) fn of_suite(name: &str, suite: &Suite, rules: Rules, wanted: impl Fn(&str) -> bool) -> SuiteRows {
    let order = order(&suite.runs);
    let timeline = Timeline {
        pushes: order.iter().map(|run| push(&suite.runs[*run])).collect(),
        accepted: Vec::new(),
    };
    let source = format!("imported/{name}: {}", suite.name);
    let chosen: Vec<&ImportedSeries> = suite
        .series
        .iter()
        .filter(|series| series.occurrence == 1 && wanted(&series.name))
        .collect();
    let found = chosen
        .par_iter()
        .map(|series| trace(&source, suite, series, &order, &timeline, rules).ok_or_else(|| series.name.clone()))
        .collect::<Vec<_>>();
    let (mut rows, mut without) = (Vec::new(), Vec::new());
    for one in found {
        match one {
            Ok(row) => rows.push(row),
            Err(name) => without.push(name),
        }
    }
    SuiteRows {
        source,
        timeline,
        rows,
        without,
    }
}

/// Places of the runs in commit order; a run without a commit's time is placed by when it was measured.
fn order(runs: &[ImportedRun]) -> Vec<usize> {
    let key = |place: &usize| {
        let run = &runs[*place];
        let measured = run.measured_at_ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let committed = run.committed_at.as_ref().and_then(|time| time.parse().ok());
        (committed.or(measured), measured)
    };
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_cached_key(key);
    order
}

fn push(run: &ImportedRun) -> Push {
    let measured = run.measured_at_ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    Push {
        run: None,
        commit: run.commit.clone(),
        at: run
            .committed_at
            .clone()
            .or_else(|| measured.map(|time| time.to_string())),
        message: run.message.clone(),
        author: run.author.clone(),
    }
}

fn trace(
    source: &str,
    suite: &Suite,
    series: &ImportedSeries,
    order: &[usize],
    timeline: &Timeline,
    rules: Rules,
) -> Option<ImportedRow> {
    let mut values: Vec<Option<f64>> = vec![None; suite.runs.len()];
    for (place, value) in sound_values(series) {
        values[place] = Some(value);
    }
    let mut names = Names::default();
    let units = units(series, &mut names);
    let newest = units.last().map_or(1.0, |unit| unit.factor);
    let (mut points, mut unsound, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for (place, run) in order.iter().enumerate() {
        let Some(written) = &series.values[*run] else { continue };
        let Some(value) = values[*run] else {
            unsound.push((place, written.get().to_owned()));
            left_out.push((place, None, format!("{} is no value that can be judged", written.get())));
            continue;
        };
        let unit = units.partition_point(|unit| unit.from <= *run).saturating_sub(1);
        let unit = units.get(unit);
        points.push(Point {
            place,
            value: unit.map_or(value, |unit| value * (unit.factor / newest)),
            context: Context {
                question: 0,
                basis: Basis::Value,
                other: unit.map_or(0, |unit| unit.of),
            },
            kind: 0,
        });
    }
    let unit = series.units.last().map_or("", |from| proper(&from.unit));
    let row = Row {
        source,
        series: &series.name,
        metric: None,
        unit,
        better: series.better,
        breaker: "unit",
        not_judged: refused(unsound.len(), points.len() + unsound.len()),
        left_out,
        points,
    };
    (!row.points.is_empty()).then(|| ImportedRow {
        judged: judge(&row, timeline, rules, &names),
        values: row.points.iter().map(|point| (point.place, point.value)).collect(),
        unsound,
    })
}

/// A unit of a series: the place where it begins, and its dimension.
struct Unit {
    from: usize,
    of: u32,
    factor: f64,
}

/// The units of a series; convertible units share the number of the first one.
fn units(series: &ImportedSeries, names: &mut Names) -> Vec<Unit> {
    let mut known: Vec<(String, u32)> = Vec::new();
    let mut found = Vec::with_capacity(series.units.len());
    for from in &series.units {
        let scale = scale(&from.unit);
        let number = known.iter().find(|(of, _)| *of == scale.of).map(|(_, number)| *number);
        let of = number.unwrap_or_else(|| names.number(proper(&from.unit)));
        known.push((scale.of, of));
        found.push(Unit {
            from: from.from,
            of,
            factor: scale.factor,
        });
    }
    found
}

/// Why a series is not judged at all: too many refused values.
fn refused(unsound: usize, all: usize) -> Option<String> {
    let too_many = 100 * unsound > MOST_REFUSED_PERCENT * all;
    too_many.then(|| format!("not judged: {unsound} of {all} values are refused, more than {MOST_REFUSED_PERCENT} %"))
}
