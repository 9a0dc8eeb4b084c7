//! Finds and reads stored runs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::{UsageError, results, stored};
use wirebench_record::run::{Run, SCHEMA};

/// The folder of the run named by its folder or its run.json, or of the newest one.
pub(super) fn folder_of(root: &Path, run: Option<&Path>) -> anyhow::Result<PathBuf> {
    match run {
        Some(path) if path.is_file() => Ok(path.parent().unwrap_or(Path::new(".")).to_path_buf()),
        Some(path) => Ok(path.to_path_buf()),
        None => newest(root, "run.json", "make one with: wirebench run --profile quick"),
    }
}

/// Reads a run by its file (of any name) or by its folder; without a path, the newest run.
pub(super) fn read_at(root: &Path, run: Option<&Path>) -> anyhow::Result<Run> {
    match run {
        Some(file) if file.is_file() => read(file),
        other => read(&folder_of(root, other)?.join("run.json")),
    }
}

/// Reads a stored run.
pub(super) fn read(file: &Path) -> anyhow::Result<Run> {
    let text = fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    let run: Run = serde_json::from_slice(&text).with_context(|| {
        format!(
            "{}: is not a {SCHEMA} record; it may be cut off, edited, or of a newer wirebench",
            file.display()
        )
    })?;
    anyhow::ensure!(
        run.schema == SCHEMA,
        "{}: has schema {}, expected {SCHEMA}",
        file.display(),
        run.schema
    );
    Ok(run)
}

/// The comparison of the newest run that has one.
pub(super) fn newest_comparison(root: &Path) -> anyhow::Result<PathBuf> {
    Ok(newest(root, stored::FILE, stored::MAKE)?.join(stored::FILE))
}

/// True if a folder is a run of the user and has this file. Runs are named by their start time, so results/reference/
/// is not one.
pub(super) fn is_run(folder: &Path, holding: &str) -> bool {
    let named_by_time = folder
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(|c: char| c.is_ascii_digit()));
    named_by_time && folder.join(holding).is_file()
}

/// The folder of the newest run that has this file; `otherwise` is the advice in the error if none has.
fn newest(root: &Path, holding: &str, otherwise: &str) -> anyhow::Result<PathBuf> {
    let results = results(root);
    let folders = fs::read_dir(&results)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let missing = || {
        let what = holding.trim_end_matches(".json");
        UsageError(format!("no {what} under {}; {otherwise}", results.display()))
    };
    Ok(folders
        .filter(|folder| is_run(folder, holding))
        .max()
        .ok_or_else(missing)?)
}

/// The records of one run, given its file or its folder, or of every run one folder below.
///
/// # Errors
/// When there is none.
pub(super) fn at_or_below(from: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if from.is_file() {
        return Ok(vec![from.to_path_buf()]);
    }
    let own = from.join("run.json");
    if own.is_file() {
        return Ok(vec![own]);
    }
    let entries = fs::read_dir(from).with_context(|| format!("{}: cannot be read", from.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join("run.json")).collect();
    files.retain(|file| file.is_file());
    files.sort();
    if files.is_empty() {
        let message = format!(
            "{}: holds no run.json, and no folder with one; record a self-test with: wirebench selftest --profile quick",
            from.display()
        );
        return Err(UsageError(message).into());
    }
    Ok(files)
}
