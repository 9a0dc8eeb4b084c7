//! Finds and reads stored runs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::comparisons;
use crate::folders::results;
use crate::outcome::UsageError;
use wirebench_record::run::{Run, SCHEMA};

/// The folder of the run named by its folder or its run.json, or of the newest one.
pub(crate) fn folder_of(root: &Path, run: Option<&Path>) -> anyhow::Result<PathBuf> {
    match run {
        Some(path) if path.is_file() => Ok(path.parent().unwrap_or(Path::new(".")).to_path_buf()),
        Some(path) => Ok(path.to_path_buf()),
        None => newest(root, "run.json", "make one with: wirebench run --profile quick"),
    }
}

/// Reads a run by its file (of any name) or by its folder; without a path, the newest run.
pub(crate) fn read_at(root: &Path, run: Option<&Path>) -> anyhow::Result<Run> {
    match run {
        Some(file) if file.is_file() => read(file),
        other => read(&folder_of(root, other)?.join("run.json")),
    }
}

/// Reads a stored run.
pub(crate) fn read(file: &Path) -> anyhow::Result<Run> {
    let name = file.display();
    let text = fs::read(file).with_context(|| format!("{name}: cannot be read"))?;
    let wrong = || format!("{name}: is not a {SCHEMA} record; it may be cut off, edited, or of a newer wirebench");
    let run: Run = serde_json::from_slice(&text).with_context(wrong)?;
    let schema = &run.schema;
    anyhow::ensure!(schema == SCHEMA, "{name}: has schema {schema}, expected {SCHEMA}");
    Ok(run)
}

/// The comparison of the newest run that has one.
pub(crate) fn newest_comparison(root: &Path) -> anyhow::Result<PathBuf> {
    Ok(newest(root, comparisons::FILE, comparisons::MAKE_ONE)?.join(comparisons::FILE))
}

/// The folders of the user's runs below a folder that have this file. Runs are named by their start time, so
/// results/reference/ is not one.
pub(crate) fn below(folder: &Path, file: &'static str) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_run = |name: OsString| name.to_string_lossy().starts_with(|c: char| c.is_ascii_digit());
    let runs = entries.filter(move |entry| is_run(entry.file_name()));
    runs.map(|entry| entry.path())
        .filter(move |run| run.join(file).is_file())
}

/// The folder of the newest run that has this file; `remedy` is the advice in the error if none has.
fn newest(root: &Path, file: &'static str, remedy: &str) -> anyhow::Result<PathBuf> {
    let results = results(root);
    let missing = || {
        let what = file.trim_end_matches(".json");
        UsageError(format!("no {what} under {}; {remedy}", results.display()))
    };
    Ok(below(&results, file).max().ok_or_else(missing)?)
}

/// The records of one run, given its file or its folder, or of every run one folder below.
///
/// # Errors
/// When there is none.
pub(crate) fn at_or_below(from: &Path) -> anyhow::Result<Vec<PathBuf>> {
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
        let none =
            "holds no run.json, and no folder with one; record a self-test with: wirebench selftest --profile quick";
        return Err(UsageError(format!("{}: {none}", from.display())).into());
    }
    Ok(files)
}
