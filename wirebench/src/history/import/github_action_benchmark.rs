//! The data file of the GitHub action github-action-benchmark: `window.BENCHMARK_DATA = {…}`, or the same object as JSON.
//!
//! The assignment is cut off and the rest read as JSON; nothing is executed. Of a commit only its id and time are kept.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::history::import::check::check;
use crate::record::imported::{Imported, ImportedRun, ImportedSeries, SCHEMA, Suite, UnitFrom};

/// Values of one file, at most: a thousand runs of five hundred benchmarks.
const MOST_VALUES: usize = 500_000;
/// Suites, and runs of all of them, at most.
const MOST_RUNS: usize = 20_000;

/// Why a text is not imported; says where in bytes.
#[derive(Debug, thiserror::Error)]
pub enum NotImported {
    /// It ends in the middle.
    #[error("is cut off: it ends at byte {at} in the middle of the data; fetch it again")]
    CutOff {
        /// Length of the text, bytes.
        at: usize,
    },
    /// It is not JSON, or not of this format.
    #[error("byte {at}: {message}; expected window.BENCHMARK_DATA = {{\"entries\": …}}, or that object as JSON")]
    OtherFormat {
        /// Where that was found, from the start of the file.
        at: usize,
        /// What was found.
        message: String,
    },
    /// It holds more than any history that was kept by hand.
    #[error("holds more than {most} {what}; leave out old runs or benchmarks that nobody looks at, and import that")]
    TooMuch {
        /// Runs, or values.
        what: &'static str,
        /// How many are read.
        most: usize,
    },
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    entries: Entries<'a>,
}

/// Suites in the file's order, and more than one of a name.
struct Entries<'a>(Vec<(String, Vec<Run<'a>>)>);

#[derive(Deserialize)]
struct Run<'a> {
    #[serde(borrow)]
    commit: Commit<'a>,
    #[serde(default)]
    date: Option<f64>,
    #[serde(default, borrow)]
    tool: Option<Cow<'a, str>>,
    #[serde(borrow)]
    benches: Vec<Bench<'a>>,
}

#[derive(Deserialize)]
struct Commit<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(default, borrow)]
    timestamp: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Bench<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    value: &'a RawValue,
    #[serde(default, borrow)]
    unit: Option<Cow<'a, str>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Suites;
        impl<'de> Visitor<'de> for Suites {
            type Value = Entries<'de>;

            fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
                to.write_str("suites by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut suites = Vec::new();
                while let Some(suite) = map.next_entry()? {
                    suites.push(suite);
                }
                Ok(Entries(suites))
            }
        }
        from.deserialize_map(Suites)
    }
}

/// Reads a data file.
///
/// # Errors
/// When it is cut off or not of this format; says at which byte.
pub fn parse(text: &str) -> Result<Imported, NotImported> {
    let start = object(text)?;
    let data = text[start..].trim_end().trim_end_matches(';');
    let file: File = serde_json::from_str(data).map_err(|error| refused(text, start, data, &error))?;
    within_bounds(&file)?;
    Ok(Imported {
        schema: SCHEMA.into(),
        format: "github-action-benchmark".into(),
        sha256: Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect(),
        suites: file
            .entries
            .0
            .into_iter()
            .map(|(name, runs)| suite(name, runs))
            .collect(),
    })
}

/// A series has a place for every run of its suite, whether the run has it or not: places are counted, not only values.
fn within_bounds(file: &File) -> Result<(), NotImported> {
    let (mut all_runs, mut places) = (0_usize, 0_usize);
    for (_, runs) in &file.entries.0 {
        let mut most: HashMap<&str, usize> = HashMap::new();
        for run in runs {
            let mut here: HashMap<&str, usize> = HashMap::new();
            for bench in &run.benches {
                *here.entry(&*bench.name).or_default() += 1;
            }
            for (name, count) in here {
                let most = most.entry(name).or_default();
                *most = count.max(*most);
            }
        }
        let series: usize = most.values().sum();
        all_runs = all_runs.saturating_add(runs.len().max(1));
        places = places.saturating_add(series.saturating_mul(runs.len()));
    }
    for (what, found, most) in [("runs", all_runs, MOST_RUNS), ("values", places, MOST_VALUES)] {
        if found > most {
            return Err(NotImported::TooMuch { what, most });
        }
    }
    Ok(())
}

/// Where the object begins.
fn object(text: &str) -> Result<usize, NotImported> {
    let body = text.trim_start_matches('\u{feff}').trim_start();
    let value = match body.strip_prefix("window.BENCHMARK_DATA") {
        Some(rest) => rest.trim_start().strip_prefix('=').unwrap_or(rest).trim_start(),
        None => body,
    };
    let at = text.len() - value.len();
    match value.chars().next() {
        Some('{') => Ok(at),
        Some(other) => Err(NotImported::OtherFormat {
            at,
            message: format!("found {other:?} where an object begins"),
        }),
        None => Err(NotImported::CutOff { at: text.len() }),
    }
}

fn refused(text: &str, start: usize, data: &str, error: &serde_json::Error) -> NotImported {
    if error.is_eof() {
        return NotImported::CutOff { at: text.len() };
    }
    let before: usize = data
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default().to_owned();
    NotImported::OtherFormat {
        at: start + before + error.column(),
        message,
    }
}

fn suite(name: String, runs: Vec<Run>) -> Suite {
    let mut suite = Suite {
        name,
        runs: Vec::with_capacity(runs.len()),
        series: Vec::new(),
        flags: Vec::new(),
    };
    let mut places: HashMap<(String, u32), usize> = HashMap::new();
    let count = runs.len();
    for (here, run) in runs.into_iter().enumerate() {
        let mut seen: HashMap<String, u32> = HashMap::new();
        for bench in run.benches {
            let occurrence = seen.entry(bench.name.clone().into_owned()).or_default();
            *occurrence += 1;
            let next = suite.series.len();
            let place = *places
                .entry((bench.name.clone().into_owned(), *occurrence))
                .or_insert(next);
            if place == next {
                suite.series.push(ImportedSeries {
                    name: bench.name.into_owned(),
                    occurrence: *occurrence,
                    better: None,
                    better_because: String::new(),
                    units: Vec::new(),
                    values: vec![None; count],
                    unsound: Vec::new(),
                });
            }
            let series = &mut suite.series[place];
            series.values[here] = Some(bench.value.to_owned());
            let unit = bench.unit.unwrap_or_default();
            if series.units.last().is_none_or(|last| last.unit != unit) {
                series.units.push(UnitFrom {
                    from: here,
                    unit: unit.into_owned(),
                });
            }
        }
        suite.runs.push(ImportedRun {
            commit: run.commit.id.into_owned(),
            committed_at: run.commit.timestamp.map(Cow::into_owned),
            measured_at_ms: run.date.map(|ms| ms as i64),
            tool: run.tool.map(Cow::into_owned),
        });
    }
    check(&mut suite);
    suite
}
