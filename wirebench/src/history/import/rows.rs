//! Imported suites → rows of values that can be judged.

use jiff::Timestamp;

use crate::history::import::check::sound_values;
use crate::history::import::direction::proper;
use crate::history::load::side_by_side;
use crate::history::row::{Judged, Names, Point, Row, Rules, Timeline, judge};
use crate::record::imported::{ImportedRun, ImportedSeries, Suite};
use crate::record::trend::{Basis, Push};

/// What a suite says.
#[derive(Debug)]
pub(in crate::history) struct SuiteRows {
    /// `imported/NAME: SUITE`.
    pub(in crate::history) source: String,
    /// Its runs, in commit order.
    pub(in crate::history) timeline: Timeline,
    /// Its series that have a value which may be judged.
    pub(in crate::history) rows: Vec<ImportedRow>,
    /// Names of those that have none.
    pub(in crate::history) without: Vec<String>,
}

/// A judged series of a suite.
#[derive(Debug)]
pub(in crate::history) struct ImportedRow {
    pub(in crate::history) judged: Judged,
    /// Its values, with their places.
    pub(in crate::history) values: Vec<(usize, f64)>,
    /// Values that are not judged, as they were written, with their places.
    pub(in crate::history) unsound: Vec<(usize, String)>,
}

/// Judges the series of a suite that are wanted.
pub(in crate::history) fn of_suite(
    name: &str,
    suite: &Suite,
    rules: Rules,
    wanted: impl Fn(&str) -> bool,
) -> SuiteRows {
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
    let found = side_by_side(&chosen, |series| {
        trace(&source, suite, series, &order, &timeline, rules).ok_or_else(|| series.name.clone())
    });
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
    let units: Vec<(usize, u32)> = series
        .units
        .iter()
        .map(|from| (from.from, names.number(proper(&from.unit))))
        .collect();
    let (mut points, mut unsound) = (Vec::new(), Vec::new());
    for (place, run) in order.iter().enumerate() {
        if let Some(written) = series.values[*run].as_ref().filter(|_| values[*run].is_none()) {
            unsound.push((place, written.get().to_owned()));
        }
        if let Some(value) = values[*run] {
            let unit = units.partition_point(|(from, _)| from <= run).saturating_sub(1);
            let context = [0, units.get(unit).map_or(0, |(_, unit)| *unit)];
            points.push(Point { place, value, context });
        }
    }
    let present = series.values.iter().flatten().count();
    let unit = series.units.last().map_or("", |from| proper(&from.unit));
    let row = Row {
        source,
        series: &series.name,
        metric: None,
        unit,
        better: series.better,
        basis: Basis::Value,
        left_out: present - points.len(),
        points,
    };
    (!row.points.is_empty()).then(|| ImportedRow {
        judged: judge(&row, timeline, rules, ["", "unit"], &names),
        values: row.points.iter().map(|point| (point.place, point.value)).collect(),
        unsound,
    })
}
