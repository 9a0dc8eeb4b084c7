//! The data file of the GitHub action github-action-benchmark: `window.BENCHMARK_DATA = {…}`, or the same object as JSON.
//!
//! The assignment is removed and the rest parsed as JSON; nothing is executed. The id, the time, the author's name and the
//! first line of the message of each commit are kept.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::import::check::check;
use wirebench_record::imported::{Imported, ImportedRun, ImportedSeries, SCHEMA, Suite, UnitFrom};
use wirebench_record::names::is_repository;

/// The most values of a file: a thousand runs of five hundred benchmarks.
const MOST_VALUES: usize = 500_000;
/// The most characters of a message or a name that are kept.
const LONGEST_LINE: usize = 200;
/// The most runs of a file, in all suites; an empty suite counts as one.
const MOST_RUNS: usize = 20_000;
/// The most bytes of a name, a unit, a commit, a time, a tool and a value: they are kept as they are written.
const LONGEST_TEXT: usize = 1000;
/// The most bytes of a file: ten times a file of [`MOST_VALUES`] values of the usual length.
pub const LARGEST_FILE: u64 = 256 << 20;

/// Why a text is not imported, as a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotImported(String);

impl NotImported {
    /// The text ends at this byte, in the middle of the data.
    fn cut_off(at: usize) -> Self {
        Self(format!(
            "is cut off: it ends at byte {at} in the middle of the data; fetch it again"
        ))
    }

    /// It is not JSON, or not of this format, from this byte on.
    fn other_format(at: usize, message: &str) -> Self {
        Self(format!(
            "byte {at}: {message}; expected window.BENCHMARK_DATA = {{\"entries\": …}}, or that object as JSON"
        ))
    }
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(rename = "repoUrl")]
    repo_url: Option<String>,
    #[serde(borrow, deserialize_with = "entries")]
    entries: Vec<(String, Vec<Run<'a>>)>,
}

#[derive(Deserialize)]
struct Run<'a> {
    #[serde(borrow)]
    commit: Commit<'a>,
    date: Option<f64>,
    tool: Option<String>,
    #[serde(borrow)]
    benches: Vec<Bench<'a>>,
}

#[derive(Deserialize)]
struct Commit<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    timestamp: Option<String>,
    message: Option<String>,
    author: Option<Author>,
}

#[derive(Deserialize)]
struct Author {
    name: Option<String>,
}

#[derive(Deserialize)]
struct Bench<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    value: &'a RawValue,
    unit: Option<String>,
}

/// Reads the suites in the file's order; names may repeat.
fn entries<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, Vec<Run<'de>>)>, D::Error> {
    struct Suites;
    impl<'de> Visitor<'de> for Suites {
        type Value = Vec<(String, Vec<Run<'de>>)>;

        fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
            to.write_str("suites by name")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            std::iter::from_fn(|| map.next_entry().transpose()).collect()
        }
    }
    from.deserialize_map(Suites)
}

/// Reads a data file.
///
/// # Errors
/// When it is incomplete or has another format; the error has the byte position.
pub fn parse(text: &str) -> Result<Imported, NotImported> {
    let start = object(text)?;
    let data = text[start..].trim_end().trim_end_matches(';');
    let file: File = serde_json::from_str(data).map_err(|error| error_of(text, start, data, &error))?;
    within_bounds(&file)?;
    if file.entries.iter().all(|(_, runs)| runs.is_empty()) {
        let message = "holds no runs: its \"entries\" are empty, so there is nothing to import; is it the file that the benchmark's job writes?";
        return Err(NotImported(message.to_owned()));
    }
    Ok(Imported {
        schema: SCHEMA.into(),
        format: "github-action-benchmark".into(),
        repository: file.repo_url.as_deref().and_then(repository),
        sha256: Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect(),
        suites: (file.entries.into_iter())
            .map(|(name, runs)| suite(name, runs))
            .collect(),
    })
}

/// The `owner/name` of a repository's address on GitHub.
fn repository(url: &str) -> Option<String> {
    let path = url.trim().strip_prefix("https://github.com/")?.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    is_repository(path).then(|| path.to_owned())
}

/// The first line of a text, without invisible characters; `None` if nothing is left.
fn line(text: &str) -> Option<String> {
    let first = text.trim().lines().next().unwrap_or_default();
    let visible: String = first.chars().filter(|c| !c.is_control()).take(LONGEST_LINE).collect();
    (!visible.is_empty()).then_some(visible)
}

/// Checks the limits. A series takes up a value in every run of its suite, also where it has no value.
fn within_bounds(file: &File) -> Result<(), NotImported> {
    let (mut all_runs, mut all_values) = (0_usize, 0_usize);
    for (name, runs) in &file.entries {
        check_length("the name of a suite", name)?;
        runs.iter().try_for_each(check_lengths)?;
        let mut occurrences: HashMap<&str, usize> = HashMap::new();
        for run in runs {
            let mut in_run: HashMap<&str, usize> = HashMap::new();
            for bench in &run.benches {
                *in_run.entry(&*bench.name).or_default() += 1;
            }
            for (name, count) in in_run {
                let most = occurrences.entry(name).or_default();
                *most = count.max(*most);
            }
        }
        let series: usize = occurrences.values().sum();
        all_runs = all_runs.saturating_add(runs.len().max(1));
        all_values = all_values.saturating_add(series.saturating_mul(runs.len()));
    }
    for (what, count, most) in [("runs", all_runs, MOST_RUNS), ("values", all_values, MOST_VALUES)] {
        if count > most {
            return Err(NotImported(format!(
                "holds more than {most} {what}; leave out old runs or benchmarks that nobody looks at, and import that"
            )));
        }
    }
    Ok(())
}

/// Checks the length of every text of a run that is kept as it is written.
fn check_lengths(run: &Run) -> Result<(), NotImported> {
    check_length("the id of a commit", &run.commit.id)?;
    check_length(
        "the time of a commit",
        run.commit.timestamp.as_deref().unwrap_or_default(),
    )?;
    check_length("the name of a tool", run.tool.as_deref().unwrap_or_default())?;
    for bench in &run.benches {
        check_length("the name of a benchmark", &bench.name)?;
        check_length("a unit", bench.unit.as_deref().unwrap_or_default())?;
        check_length("a value", bench.value.get())?;
    }
    Ok(())
}

fn check_length(what: &'static str, text: &str) -> Result<(), NotImported> {
    if text.len() <= LONGEST_TEXT {
        return Ok(());
    }
    let (length, begin) = (text.len(), text.chars().take(40).collect::<String>());
    Err(NotImported(format!(
        "holds {what} of {length} bytes, which begins with {begin:?}; {LONGEST_TEXT} bytes at most are imported"
    )))
}

/// The position of the object in the text.
fn object(text: &str) -> Result<usize, NotImported> {
    let body = text.trim_start_matches('\u{feff}').trim_start();
    let value = match body.strip_prefix("window.BENCHMARK_DATA") {
        Some(rest) => rest.trim_start().strip_prefix('=').unwrap_or(rest).trim_start(),
        None => body,
    };
    let at = text.len() - value.len();
    match value.chars().next() {
        Some('{') => Ok(at),
        Some(other) => Err(NotImported::other_format(
            at,
            &format!("found {other:?} where an object begins"),
        )),
        None => Err(NotImported::cut_off(text.len())),
    }
}

/// The error of the file, whose object begins at `start`, for an error in that object.
fn error_of(text: &str, start: usize, data: &str, error: &serde_json::Error) -> NotImported {
    if error.is_eof() {
        return NotImported::cut_off(text.len());
    }
    let lines_before = data.split_inclusive('\n').take(error.line().saturating_sub(1));
    let at = lines_before.map(str::len).sum::<usize>() + error.column();
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    NotImported::other_format(start + at, message)
}

fn suite(name: String, runs: Vec<Run>) -> Suite {
    let mut suite = Suite {
        name,
        runs: Vec::with_capacity(runs.len()),
        series: Vec::new(),
    };
    let mut indices: HashMap<(String, u32), usize> = HashMap::new();
    let count = runs.len();
    for (here, run) in runs.into_iter().enumerate() {
        let mut occurrences: HashMap<String, u32> = HashMap::new();
        for bench in run.benches {
            let name = bench.name.into_owned();
            let occurrence = occurrences.entry(name.clone()).or_default();
            *occurrence += 1;
            let next = suite.series.len();
            let index = *indices.entry((name.clone(), *occurrence)).or_insert(next);
            if index == next {
                suite.series.push(ImportedSeries {
                    name,
                    occurrence: *occurrence,
                    better: None,
                    better_because: String::new(),
                    units: Vec::new(),
                    values: vec![None; count],
                    unsound: Vec::new(),
                });
            }
            let series = &mut suite.series[index];
            series.values[here] = Some(bench.value.to_owned());
            let unit = bench.unit.unwrap_or_default();
            if series.units.last().is_none_or(|last| last.unit != unit) {
                series.units.push(UnitFrom { from: here, unit });
            }
        }
        suite.runs.push(ImportedRun {
            commit: run.commit.id.into_owned(),
            committed_at: run.commit.timestamp,
            measured_at_ms: run.date.map(|ms| ms as i64),
            tool: run.tool,
            message: run.commit.message.as_deref().and_then(line),
            author: run.commit.author.and_then(|author| line(author.name.as_deref()?)),
        });
    }
    check(&mut suite);
    suite
}
