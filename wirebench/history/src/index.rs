//! Monthly summaries: written anew for the months whose set of run files has changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::error::HistoryError;
use crate::files::{MonthFiles, json_line, month_file, months, read, read_month, replace};
use crate::summarise::Columns;
use wirebench_record::history::{Month, StoredRun};
use wirebench_record::run::{self, Run};

/// The result of indexing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Indexed {
    /// Months whose summary was written, `yyyy-mm`, with the number of their runs.
    pub written: Vec<(String, usize)>,
    /// Months whose summary was current.
    pub current: usize,
    /// Run files that were skipped, with the reason.
    pub skipped: Vec<String>,
}

/// Brings the summaries of a history up to date.
///
/// # Errors
/// If a folder cannot be read or a summary cannot be written. A broken run file is no error: it is skipped and named.
pub fn index(history: &Path) -> Result<Indexed, HistoryError> {
    let mut done = Indexed::default();
    for files in &months(history)? {
        let current = read_month(&month_file(history, &files.month)).ok();
        if current.as_ref().is_some_and(|month| is_current(month, files)) {
            done.current += 1;
            continue;
        }
        let (month, skipped) = summarise(files);
        done.skipped.extend(skipped);
        let file = month_file(history, &files.month);
        replace(&file, &json_line(&file, &month)?)?;
        done.written.push((files.month.clone(), month.runs.len()));
    }
    Ok(done)
}

/// True if a summary is up to date with the run files of its month: none was added, removed or changed in length (files are
/// never changed, but may be truncated).
fn is_current(month: &Month, files: &MonthFiles) -> bool {
    let names: BTreeSet<&String> = month.runs.iter().map(|run| &run.file).collect();
    let has_length = |run: &StoredRun| {
        let length = || length(&files.folder.join(&run.file));
        run.bytes.is_none_or(|bytes| length() == Some(bytes))
    };
    names.into_iter().eq(&files.names) && month.runs.iter().all(has_length)
}

fn length(file: &Path) -> Option<u64> {
    fs::metadata(file).ok().map(|metadata| metadata.len())
}

/// Summarises the run files of a month. Returns why files were skipped, too.
pub(super) fn summarise(files: &MonthFiles) -> (Month, Vec<String>) {
    let (mut columns, mut skipped) = (Columns::of(&files.month), Vec::new());
    for name in &files.names {
        let file = files.folder.join(name);
        match read(&file, run::SCHEMA, |run: &Run| &run.schema) {
            Ok(run) => columns.add(name, length(&file), &run),
            Err(error) => skipped.push(error.to_string()),
        }
    }
    (columns.finish(), skipped)
}
