//! Reads the input of a trend: the summaries, and the run files that are in no summary.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::error::HistoryError;
use crate::files::{MonthFiles, json_files, months, read};
use crate::import::check;
use crate::index::summarised;
use crate::summarise::Columns;
use wirebench_record::history::{Month, StoredRun, StoredSeries};
use wirebench_record::imported::{Fault, Imported, Suite};
use wirebench_record::run::Run;

/// The month of runs that are in no history.
const BESIDE: &str = "";

/// The runs of a history in commit order.
#[derive(Debug)]
pub(super) struct Stored {
    months: Vec<Month>,
    /// Month and index in it, in commit order; each run once.
    order: Vec<(usize, usize)>,
}

/// The input of a trend.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) stored: Stored,
    /// By name.
    pub(super) imported: Vec<(String, Imported)>,
    /// Skipped files, with the reason.
    pub(super) skipped: Vec<String>,
    /// Runs that are in no summary.
    pub(super) not_indexed: usize,
}

impl Stored {
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

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

    /// Places of the runs that are in no history.
    pub(super) fn beside(&self) -> Vec<usize> {
        let months = self.order.iter().map(|(month, _)| &self.months[*month].month);
        let beside = months.enumerate().filter(|(_, month)| *month == BESIDE);
        beside.map(|(place, _)| place).collect()
    }

    /// Month and place of each run, in commit order.
    pub(super) fn order(&self) -> &[(usize, usize)] {
        &self.order
    }

    fn of(months: Vec<Month>) -> Self {
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        for (number, month) in months.iter().enumerate() {
            for (place, run) in month.runs.iter().enumerate() {
                // The same run in two files, under two names, is one point.
                if seen.insert(run.id.as_str()) {
                    order.push((key(run), (number, place)));
                }
            }
        }
        order.sort();
        let order = order.into_iter().map(|(_, place)| place).collect();
        Self { months, order }
    }
}

/// Commit order: when the commit was made, then when the run started. A run that does not know its commit's time is placed
/// by its start.
fn key(run: &StoredRun) -> (Option<Timestamp>, Option<Timestamp>, String) {
    let started = run.started_at.parse().ok();
    let committed = run.committed_at.as_ref().and_then(|time| time.parse().ok());
    (committed.or(started), started, run.id.clone())
}

impl Loaded {
    /// True if it is empty and has no broken file either.
    pub(super) fn is_empty(&self) -> bool {
        self.stored.months.is_empty() && self.imported.is_empty() && self.skipped.is_empty()
    }
}

/// Reads a history, and runs that are in no history.
///
/// # Errors
/// When the folder cannot be read. A broken file is no error: it is skipped and named.
pub(super) fn load(history: Option<&Path>, beside: &[Run]) -> Result<Loaded, HistoryError> {
    let (summaries, run_files, imports) = match history {
        Some(history) => files(history)?,
        None => Default::default(),
    };
    let mut skipped = Vec::new();
    let mut months: Vec<Month> = Vec::new();
    for read in summaries.par_iter().map(|file| read::<Month>(file)).collect::<Vec<_>>() {
        match read.and_then(sound) {
            Ok(month) => months.push(month),
            Err(error) => skipped.push(format!("{error}; write it anew with: wirebench history index DIR")),
        }
    }
    let mut not_indexed = 0;
    for mut files in run_files {
        let known: HashSet<&str> = months
            .iter()
            .filter(|month| month.month == files.month)
            .flat_map(|month| month.runs.iter().map(|run| run.file.as_str()))
            .collect();
        files.names.retain(|name| !known.contains(name.as_str()));
        let (rest, broken) = summarised(&files);
        not_indexed += rest.runs.len();
        skipped.extend(broken);
        months.push(rest);
    }
    if !beside.is_empty() {
        let mut columns = Columns::of(BESIDE);
        for run in beside {
            columns.add("", run);
        }
        months.push(columns.finish());
    }
    let mut imported = Vec::new();
    for file in imports {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match read::<Imported>(&file) {
            Ok(mut content) => {
                // Judges it by the current rules if it was imported under older ones.
                content
                    .suites
                    .iter_mut()
                    .filter(|suite| is_dated(suite))
                    .for_each(check);
                imported.push((name, content));
            }
            Err(error) => skipped.push(error.to_string()),
        }
    }
    Ok(Loaded {
        stored: Stored::of(months),
        imported,
        skipped,
        not_indexed,
    })
}

/// A history's summaries, run files by month, and imports.
type Files = (Vec<PathBuf>, Vec<MonthFiles>, Vec<PathBuf>);

fn files(history: &Path) -> Result<Files, HistoryError> {
    let summaries = json_files(&history.join("months"))?;
    let imports = json_files(&history.join("imported"))?;
    Ok((summaries, months(history)?, imports))
}

/// True if a suite has faults under older rules, by which zeros and wild values were refused and units did not win over
/// tools.
fn is_dated(suite: &Suite) -> bool {
    let once = [Fault::Zero, Fault::Absurd, Fault::Contradiction, Fault::UnitChange];
    suite.flags.iter().any(|flag| once.contains(&flag.fault))
}

/// Checks that a summary's columns have as many places as it has runs, which a hand-edited one may not.
fn sound(month: Month) -> Result<Month, HistoryError> {
    let places = month.runs.len();
    let fits = |column: &[f64], may_be_empty: bool| column.len() == places || (may_be_empty && column.is_empty());
    let whole = month.series.iter().flat_map(|series| &series.metrics);
    if whole
        .into_iter()
        .all(|column| fits(&column.values, false) && fits(&column.ratios, true) && fits(&column.half_permille, true))
    {
        return Ok(month);
    }
    let file = Path::new("months").join(format!("{}.json", month.month));
    Err(HistoryError::broken(
        &file,
        "has columns of other lengths than it has runs",
    ))
}
