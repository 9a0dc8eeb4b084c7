//! A history with every value, for charts.

use std::fs;
use std::path::Path;

use crate::error::HistoryError;
use crate::files::read;
use crate::import::rows::{self, ImportedRow};
use crate::load::{Stored, load};
use crate::row::{Judged, SegmentPlaces};
use crate::trend::{Question, described, of_runs, timeline};
use wirebench_record::history::{Facts, StoredMetric, StoredRun, StoredSeries};
use wirebench_record::run::Run;
use wirebench_record::trend::{Basis, Push, Trace, Trend};

/// The name of the timeline of a history's own runs; imported suites have other names.
pub const RUNS: &str = "runs";

/// Everything there is to draw.
#[derive(Debug)]
pub struct Followed {
    /// Facts about the whole history.
    pub facts: Facts,
    /// What it says.
    pub trend: Trend,
    /// The pushes of every source: the history's runs first, if there are any, then imported suites.
    pub lines: Vec<Line>,
    /// The values of every trace of the trend, in the same order.
    pub rows: Vec<Values>,
}

/// The pushes of one source, in commit order.
#[derive(Debug)]
pub struct Line {
    /// `runs`, or `imported/NAME: SUITE`: the source of its traces.
    pub source: String,
    /// `owner/name` on GitHub of an imported history, where it names one.
    pub repository: Option<String>,
    /// Its pushes.
    pub pushes: Vec<Push>,
    /// The stored facts of each run; empty for an imported suite.
    pub runs: Vec<StoredRun>,
    /// Places of runs that are in no history.
    pub provisional: Vec<usize>,
    /// Names of imported series without any judged value.
    pub without: Vec<String>,
}

/// The values of one trace.
#[derive(Debug)]
pub struct Values {
    /// Its line, by number.
    pub line: usize,
    /// Value of each place of its line; NaN where there is none.
    pub values: Vec<f64>,
    /// The ratio to the reference at each place; empty if its newest segment is judged by values.
    pub ratios: Vec<f64>,
    /// Half of the 95 % interval of the judged value, in thousandths, at each place; empty if no place has one.
    pub half_permille: Vec<f64>,
    /// Places without a value, and why.
    pub failures: Vec<(usize, String)>,
    /// Where its segments lie.
    pub segments: Vec<SegmentPlaces>,
}

/// Follows every selected series through a history, and through runs that are in no history.
///
/// # Errors
/// When the folder cannot be read. Broken files are skipped and named in the trend; an empty folder has no traces.
pub fn follow(history: Option<&Path>, beside: &[Run], question: &Question) -> Result<Followed, HistoryError> {
    let mut loaded = load(history, beside)?;
    let (mut traces, mut values, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    if loaded.stored.len() > 0 {
        let timeline = timeline(&loaded.stored);
        let rows = of_runs(&loaded.stored, &timeline, question, |judged, columns| {
            with_values(judged, columns, &loaded.stored)
        });
        for (judged, row) in rows {
            traces.push((judged.trace, judged.segments));
            values.push(row);
        }
        lines.push(Line {
            source: RUNS.into(),
            repository: None,
            pushes: timeline.pushes,
            runs: loaded.stored.runs().cloned().collect(),
            provisional: loaded.stored.beside(),
            without: Vec::new(),
        });
    }
    for (name, imported) in &loaded.imported {
        for suite in &imported.suites {
            let found = rows::of_suite(name, suite, question.rules(), |series| question.wants(series));
            for row in found.rows {
                let places = found.timeline.pushes.len();
                let (trace, row) = imported_values(row, lines.len(), places);
                traces.push((trace, row.segments.clone()));
                values.push(row);
            }
            lines.push(Line {
                source: found.source,
                repository: imported.repository.clone(),
                pushes: found.timeline.pushes,
                runs: Vec::new(),
                provisional: Vec::new(),
                without: found.without,
            });
        }
    }
    let facts = history.map_or_else(Facts::default, |folder| facts(folder, &mut loaded.skipped));
    Ok(Followed {
        facts,
        trend: described(traces, question, loaded.stored.len(), loaded.skipped),
        lines,
        rows: values,
    })
}

/// Reads `history.json`; a broken file is reported and ignored.
fn facts(history: &Path, skipped: &mut Vec<String>) -> Facts {
    let file = history.join("history.json");
    if !fs::exists(&file).unwrap_or(false) {
        return Facts::default();
    }
    read(&file).unwrap_or_else(|error| {
        skipped.push(error.to_string());
        Facts::default()
    })
}

fn with_values(
    judged: Judged,
    columns: &[Option<(&StoredSeries, &StoredMetric)>],
    stored: &Stored,
) -> (Judged, Values) {
    let spread = |of: fn(&StoredMetric) -> &[f64]| -> Vec<f64> {
        let at = |(month, inside): &(usize, usize)| -> f64 {
            let column = columns[*month].map(|(_, column)| of(column));
            column
                .and_then(|column| column.get(*inside))
                .copied()
                .unwrap_or(f64::NAN)
        };
        let row: Vec<f64> = stored.order().iter().map(at).collect();
        if row.iter().all(|value| value.is_nan()) {
            return Vec::new();
        }
        row
    };
    let values = spread(|column| &column.values);
    let ratios = match judged.trace.basis {
        Basis::Ratio => spread(|column| &column.ratios),
        Basis::Value => Vec::new(),
    };
    let failures = stored
        .order()
        .iter()
        .enumerate()
        .filter_map(|(place, (month, inside))| {
            let (series, _) = columns[*month]?;
            let failure = series.failures.iter().find(|failure| failure.at == *inside)?;
            Some((place, failure.why.clone()))
        });
    let row = Values {
        line: 0,
        failures: with_wild(failures.collect(), &judged.wild),
        values,
        ratios,
        half_permille: spread(|column| &column.half_permille),
        segments: judged.segments.clone(),
    };
    (judged, row)
}

/// The reasons by place, including those of wild values.
fn with_wild(mut reasons: Vec<(usize, String)>, wild: &[(usize, String)]) -> Vec<(usize, String)> {
    reasons.extend(wild.iter().cloned());
    reasons.sort_by_key(|(place, _)| *place);
    reasons
}

fn imported_values(row: ImportedRow, line: usize, places: usize) -> (Trace, Values) {
    let mut values = vec![f64::NAN; places];
    for (place, value) in row.values {
        values[place] = value;
    }
    let unsound = row.unsound.into_iter().map(|(place, written)| {
        let why = format!("{} is kept and not judged", shortened(&written));
        (place, why)
    });
    let values = Values {
        line,
        values,
        ratios: Vec::new(),
        half_permille: Vec::new(),
        failures: with_wild(unsound.collect(), &row.judged.wild),
        segments: row.judged.segments,
    };
    (row.judged.trace, values)
}

/// Shortens a text to one line.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_owned();
    }
    text.chars().take(39).chain(['…']).collect()
}
