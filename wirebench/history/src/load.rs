//! Reads the input of a trend: summaries, run files that are in no summary, and imports.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::error::HistoryError;
use crate::files::{json_files, months, read, read_month};
use crate::import::{check, distinct_names};
use crate::index::summarise;
use crate::summarise::Columns;
use wirebench_record::history::{Month, StoredRun, StoredSeries};
use wirebench_record::imported::{self, Imported};
use wirebench_record::run::Run;

/// The month of provisional runs, which are in no history.
const PROVISIONAL: &str = "";

/// The runs of a history in commit order.
#[derive(Debug)]
pub(super) struct StoredRuns {
    months: Vec<Month>,
    /// The month of each run and its index there, in commit order; each run once.
    pub(super) order: Vec<(usize, usize)>,
}

/// What is followed beside the files of a history.
#[derive(Debug, Default)]
pub struct Beside {
    /// Runs that are in no history.
    pub runs: Vec<Run>,
    /// Imports that are in no history, with their files. Each is named after its file.
    pub imported: Vec<(PathBuf, Imported)>,
}

/// The input of a trend.
#[derive(Debug)]
pub(super) struct TrendInput {
    pub(super) stored: StoredRuns,
    /// Imports by name.
    pub(super) imported: Vec<(String, Imported)>,
    /// Skipped files, with the reason.
    pub(super) skipped: Vec<String>,
    /// Runs that are in no summary.
    pub(super) not_indexed: usize,
}

impl StoredRuns {
    /// Every run in commit order.
    pub(super) fn runs(&self) -> impl Iterator<Item = &StoredRun> {
        self.order
            .iter()
            .map(|(month, place)| &self.months[*month].runs[*place])
    }

    /// Every series: its id, and its columns by month.
    pub(super) fn series(&self) -> BTreeMap<&str, Vec<Option<&StoredSeries>>> {
        let mut found: BTreeMap<&str, Vec<Option<&StoredSeries>>> = BTreeMap::new();
        for (number, month) in self.months.iter().enumerate() {
            for series in &month.series {
                let months = found.entry(&series.id).or_insert_with(|| vec![None; self.months.len()]);
                months[number] = Some(series);
            }
        }
        found
    }

    /// The places of provisional runs.
    pub(super) fn provisional(&self) -> Vec<usize> {
        let order = self.order.iter().enumerate();
        let provisional = order.filter(|(_, (month, _))| self.months[*month].month == PROVISIONAL);
        provisional.map(|(place, _)| place).collect()
    }

    fn of(months: Vec<Month>) -> Self {
        let mut first: HashMap<&str, Option<Timestamp>> = HashMap::new();
        for run in months.iter().flat_map(|month| &month.runs) {
            let started = run.started_at.parse().ok();
            let known = first.entry(&run.commit).or_insert(started);
            *known = (*known).min(started);
        }
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        for (number, month) in months.iter().enumerate() {
            for (place, run) in month.runs.iter().enumerate() {
                // A run that is in two files counts once.
                if seen.insert(run.id.as_str()) {
                    order.push((key(run, first[run.commit.as_str()]), (number, place)));
                }
            }
        }
        order.sort();
        let order = order.into_iter().map(|(_, place)| place).collect();
        Self { months, order }
    }
}

/// The key of commit order: the time of the commit, then the start of its first run, as the commits of a rebase have one time, then
/// the start of the run. A run without a commit time is placed by its start.
fn key(run: &StoredRun, first: Option<Timestamp>) -> impl Ord + use<> {
    let started: Option<Timestamp> = run.started_at.parse().ok();
    let committed: Option<Timestamp> = run.committed_at.as_ref().and_then(|time| time.parse().ok());
    (
        committed.or(started),
        first,
        run.commit.clone(),
        started,
        run.id.clone(),
    )
}

impl TrendInput {
    /// True if there is no file, not even a broken one.
    pub(super) fn is_empty(&self) -> bool {
        self.stored.months.is_empty() && self.imported.is_empty() && self.skipped.is_empty()
    }
}

/// Reads a history, and adds what is given beside it.
///
/// # Errors
/// If the folder cannot be read. A broken file is no error: it is skipped and named.
pub(super) fn load(history: Option<&Path>, beside: Beside) -> Result<TrendInput, HistoryError> {
    let mut skipped = Vec::new();
    let (mut stored, mut imported, mut not_indexed) = (Vec::new(), Vec::new(), 0);
    if let Some(history) = history {
        stored = summaries(history, &mut skipped)?;
        not_indexed = add_run_files(history, &mut stored, &mut skipped)?;
        imported = imports(history, &mut skipped)?;
    }
    if !beside.runs.is_empty() {
        let mut columns = Columns::of(PROVISIONAL);
        for run in &beside.runs {
            columns.add("", None, run);
        }
        stored.push(columns.finish());
    }
    let (files, further): (Vec<PathBuf>, Vec<Imported>) = beside.imported.into_iter().unzip();
    let names = distinct_names(&files, imported.iter().map(|(name, _)| name.as_str()));
    imported.extend(names.into_iter().zip(further));
    Ok(TrendInput {
        stored: StoredRuns::of(stored),
        imported,
        skipped,
        not_indexed,
    })
}

/// Reads the summaries.
fn summaries(history: &Path, skipped: &mut Vec<String>) -> Result<Vec<Month>, HistoryError> {
    let files = json_files(&history.join("months"))?;
    let read_all = files.par_iter().map(|file| read_month(file).and_then(check_lengths));
    let mut summaries = Vec::new();
    for summary in read_all.collect::<Vec<_>>() {
        match summary {
            Ok(month) => summaries.push(month),
            Err(error) => skipped.push(format!("{error}; write it anew with: wirebench history index DIR")),
        }
    }
    Ok(summaries)
}

/// Reads the run files that are in no summary, and adds them as further months. Returns how many there are.
fn add_run_files(history: &Path, stored: &mut Vec<Month>, skipped: &mut Vec<String>) -> Result<usize, HistoryError> {
    let mut added = 0;
    for mut files in months(history)? {
        let summaries = stored.iter().filter(|month| month.month == files.month);
        let known: HashSet<&str> = summaries
            .flat_map(|month| month.runs.iter().map(|run| run.file.as_str()))
            .collect();
        files.names.retain(|name| !known.contains(name.as_str()));
        let (rest, broken) = summarise(&files);
        added += rest.runs.len();
        skipped.extend(broken);
        stored.push(rest);
    }
    Ok(added)
}

/// Reads the imports, by name.
fn imports(history: &Path, skipped: &mut Vec<String>) -> Result<Vec<(String, Imported)>, HistoryError> {
    let mut imports = Vec::new();
    for file in json_files(&history.join("imported"))? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match read(&file, imported::SCHEMA, |imported: &Imported| &imported.schema) {
            Ok(mut imported) => {
                // Imports of older versions are checked by today's rules.
                imported.suites.iter_mut().for_each(check);
                imports.push((name, imported));
            }
            Err(error) => skipped.push(error.to_string()),
        }
    }
    Ok(imports)
}

/// Checks that the columns of a summary have a place for each run; an edited file may lack places.
fn check_lengths(month: Month) -> Result<Month, HistoryError> {
    let runs = month.runs.len();
    let optional = |column: &[f64]| column.is_empty() || column.len() == runs;
    let mut metrics = month.series.iter().flat_map(|series| &series.metrics);
    if metrics.all(|one| one.values.len() == runs && optional(&one.ratios) && optional(&one.half_permille)) {
        return Ok(month);
    }
    let file = Path::new("months").join(format!("{}.json", month.month));
    let message = "has columns of other lengths than it has runs";
    Err(HistoryError::broken(&file, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn commits_of_one_time_stand_as_first_measured_and_a_late_run_beside_its_commit() {
        let run = |commit: &str, hour: u32| {
            let started = format!("2026-11-25T{hour:02}:00:00Z");
            json!({
                "file": format!("{commit}-20261125T{hour:02}0000Z-00000a.json"), "id": format!("20261125T{hour:02}0000Z-00000a"),
                "commit": commit.repeat(40), "committed_at": "2026-11-22T00:04:08Z", "started_at": started,
                "host": "a", "cpu_model": null, "reference": null
            })
        };
        let runs = [
            run("c", 1),
            run("a", 2),
            run("b", 3),
            run("b", 5),
            run("c", 6),
            run("a", 7),
        ];
        let month = json!({"schema": "wirebench.history-month/v1", "month": "2026-11", "runs": runs, "series": []});
        let stored = StoredRuns::of(vec![from_value(month).unwrap()]);
        let order: String = stored.runs().map(|run| &run.commit[..1]).collect();
        assert_eq!(order, "ccaabb");
    }
}
