//! Copies a history from object storage into a folder: all files, or only the files that a trend needs.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use crate::bucket::Bucket;
use crate::error::StoreError;
use wirebench_history::copies::{FileKind, keep_copy, month_in};

/// Which files are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All files.
    Everything,
    /// Summaries, and runs that are in no summary: enough for a trend.
    Trend,
}

/// The result of copying.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Files that were copied.
    pub copied: usize,
    /// Files that the folder already had, with the same length.
    pub there: usize,
    /// Objects under the prefix that are no files of a history.
    pub ignored: usize,
}

impl Bucket {
    /// Copies a history into a folder, which is created if it does not exist. Summaries are replaced; other files with the same
    /// length are left.
    ///
    /// # Errors
    /// If the prefix holds no history, an object cannot be read, or a file of the folder has other content: that file is kept.
    pub fn fetch(&self, folder: &Path, wanted: Wanted) -> Result<Fetched, StoreError> {
        let mut fetched = Fetched::default();
        let (mut summaries, mut others, mut is_history) = (Vec::new(), Vec::new(), false);
        for (path, bytes) in self.list()? {
            let Some(kind) = FileKind::of(&path) else {
                fetched.ignored += 1;
                continue;
            };
            is_history |= kind != FileKind::Facts;
            match kind {
                FileKind::Month => summaries.push(path),
                kind => others.push((kind, path, bytes)),
            }
        }
        if !is_history {
            return Err(StoreError::Empty {
                address: self.address().to_string(),
            });
        }
        let summarised = self.fetch_summaries(folder, &summaries)?;
        let mut missing = Vec::new();
        for (kind, path, bytes) in others {
            if wanted == Wanted::Trend && is_summarised(&kind, &path, &summarised) {
                continue;
            }
            if std::fs::metadata(folder.join(&path)).is_ok_and(|metadata| metadata.len() == bytes) {
                fetched.there += 1;
            } else {
                missing.push(path);
            }
        }
        fetched.copied = summaries.len() + missing.len();
        self.copy(folder, &missing)?;
        Ok(fetched)
    }

    /// The names of all run files. Each begins with the short id of its commit.
    ///
    /// # Errors
    /// If the bucket cannot be listed.
    pub fn runs(&self) -> Result<Vec<String>, StoreError> {
        let paths = self.list()?.into_keys();
        let runs = paths.filter(|path| matches!(FileKind::of(path), Some(FileKind::Run(_))));
        Ok(runs.map(|path| name_of(&path).to_owned()).collect())
    }

    /// Copies files by their paths below the history's folder; files that are not in the bucket are left out.
    ///
    /// # Errors
    /// If one cannot be read, or a file of the folder has other content.
    pub fn copy(&self, folder: &Path, paths: &[String]) -> Result<(), StoreError> {
        self.read(paths, |path, content| {
            keep_copy(folder, path, &content.bytes)?;
            Ok(())
        })
    }

    /// Copies summaries; returns the names of the run files in each. A broken summary has no names.
    fn fetch_summaries(&self, folder: &Path, paths: &[String]) -> Result<NamesByMonth, StoreError> {
        let mut names = NamesByMonth::new();
        self.read(paths, |path, content| {
            keep_copy(folder, path, &content.bytes)?;
            if let Some(month) = month_in(&content.bytes) {
                let files = month.runs.into_iter().map(|run| run.file);
                names.entry(month.month).or_default().extend(files);
            }
            Ok(())
        })?;
        Ok(names)
    }
}

/// The names of run files by month.
type NamesByMonth = BTreeMap<String, HashSet<String>>;

fn is_summarised(kind: &FileKind, path: &str, summarised: &NamesByMonth) -> bool {
    let FileKind::Run(month) = kind else { return false };
    summarised.get(month).is_some_and(|names| names.contains(name_of(path)))
}

/// The last part of a path.
pub(crate) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
