//! Copies a history from object storage into a folder, as far as it is needed.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use crate::bucket::Bucket;
use crate::error::StoreError;
use wirebench_history::copies::{FileKind, keep_copy, month_in};

/// Which files are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All.
    Everything,
    /// Summaries, and runs that are in none: enough for a trend.
    Trend,
}

/// What was copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Files that were copied.
    pub copied: usize,
    /// Files that the folder had already, with the same length.
    pub there: usize,
    /// Objects under the prefix that are no files of a history.
    pub ignored: usize,
}

impl Bucket {
    /// Copies a history into a folder, which is made when missing. Summaries are replaced; other files that are there with the
    /// same length are left.
    ///
    /// # Errors
    /// When the prefix holds no history, an object cannot be read, or a file of the folder has other content: that file is kept.
    pub fn fetch(&self, folder: &Path, wanted: Wanted) -> Result<Fetched, StoreError> {
        let listed = self.list()?;
        let (files, others): (Vec<_>, Vec<_>) = listed
            .into_iter()
            .map(|(path, bytes)| (FileKind::of(&path), path, bytes))
            .partition(|(kind, ..)| kind.is_some());
        let is_history = files.iter().any(|(kind, ..)| *kind != Some(FileKind::Facts));
        if !is_history {
            return Err(StoreError::Empty {
                address: self.address().to_string(),
            });
        }
        let (summaries, rest): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|(kind, ..)| *kind == Some(FileKind::Month));
        let summaries: Vec<String> = summaries.into_iter().map(|(_, path, _)| path).collect();
        let summarised = self.summaries(folder, &summaries)?;
        let mut done = Fetched {
            copied: summaries.len(),
            ignored: others.len(),
            ..Fetched::default()
        };
        let mut missing = Vec::new();
        for (kind, path, bytes) in rest {
            if wanted == Wanted::Trend && is_summarised(kind.as_ref(), &path, &summarised) {
                continue;
            }
            if std::fs::metadata(folder.join(&path)).is_ok_and(|about| about.len() == bytes) {
                done.there += 1;
            } else {
                missing.push(path);
            }
        }
        done.copied += missing.len();
        self.copy(folder, &missing)?;
        Ok(done)
    }

    /// The names of all run files. Each begins with the short id of its commit.
    ///
    /// # Errors
    /// When the bucket cannot be listed.
    pub fn runs(&self) -> Result<Vec<String>, StoreError> {
        let of_runs = |(path, _): (String, u64)| match FileKind::of(&path) {
            Some(FileKind::Run(_)) => path.rsplit('/').next().map(ToOwned::to_owned),
            _ => None,
        };
        Ok(self.list()?.into_iter().filter_map(of_runs).collect())
    }

    /// Copies files by their paths below the history's folder; those that are not in the bucket are left out.
    ///
    /// # Errors
    /// When one cannot be read, or a file of the folder has other content.
    pub fn copy(&self, folder: &Path, paths: &[String]) -> Result<(), StoreError> {
        self.read(paths, |path, content| {
            keep_copy(folder, path, &content.bytes)?;
            Ok(())
        })
    }

    /// Copies summaries; returns the names of the run files in each, by month. A broken one holds none.
    fn summaries(&self, folder: &Path, paths: &[String]) -> Result<Names, StoreError> {
        let mut found = Names::new();
        self.read(paths, |path, content| {
            keep_copy(folder, path, &content.bytes)?;
            if let Some(month) = month_in(&content.bytes) {
                let names = month.runs.into_iter().map(|run| run.file);
                found.entry(month.month).or_default().extend(names);
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Names of run files by month.
type Names = BTreeMap<String, HashSet<String>>;

fn is_summarised(kind: Option<&FileKind>, path: &str, summarised: &Names) -> bool {
    let Some(FileKind::Run(month)) = kind else { return false };
    let name = path.rsplit('/').next().unwrap_or_default();
    summarised.get(month).is_some_and(|names| names.contains(name))
}
