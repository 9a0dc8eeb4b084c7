//! `wirebench report`: a stored run, again.

use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::command::{Outcome, UsageError, prepare, results};
use crate::record::run::{Run, SCHEMA};
use crate::report::{charts, markdown, terminal};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A run's folder or its run.json; without it, the newest run under results/.
    run: Option<PathBuf>,
}

pub(super) fn execute(root: &Path, args: &Args) -> anyhow::Result<Outcome> {
    let folder = folder_of(root, args.run.as_deref())?;
    let run = read(&folder.join("run.json"))?;
    write(root, &run, &folder)?;
    print(&run, &folder);
    Ok(Outcome::Done)
}

/// The folder of the run named by its folder or its run.json, or of the newest one.
pub(super) fn folder_of(root: &Path, run: Option<&Path>) -> anyhow::Result<PathBuf> {
    match run {
        Some(path) if path.is_file() => Ok(path.parent().unwrap_or(Path::new(".")).to_path_buf()),
        Some(path) => Ok(path.to_path_buf()),
        None => newest(&results(root)),
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

fn newest(results: &Path) -> anyhow::Result<PathBuf> {
    let folders = fs::read_dir(results)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    // Runs are named by their start time; results/reference/ is not one of the user's runs.
    let run = |path: &PathBuf| {
        let named_by_time = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(|c: char| c.is_ascii_digit()));
        named_by_time && path.join("run.json").is_file()
    };
    let missing = || {
        UsageError(format!(
            "no run under {}; make one with: wirebench run --profile quick",
            results.display()
        ))
    };
    Ok(folders.filter(run).max().ok_or_else(missing)?)
}

/// Writes report.md and the charts beside run.json.
pub(super) fn write(root: &Path, run: &Run, folder: &Path) -> anyhow::Result<()> {
    let charts = match prepare::gnuplot(root) {
        Some((gnuplot, _)) => charts::draw(run, &gnuplot, &folder.join("charts"))?,
        None => {
            eprintln!(
                "warning: gnuplot is not installed: the report has no charts; run: {}",
                prepare::INSTALL
            );
            Vec::new()
        }
    };
    let file = folder.join("report.md");
    fs::write(&file, markdown::render(run, &charts)).with_context(|| format!("{}: cannot be written", file.display()))
}

/// Prints the table on stdout and where everything lies on stderr.
pub(super) fn print(run: &Run, folder: &Path) {
    let width = std::io::stdout()
        .is_terminal()
        .then(|| comfy_table::Table::new().width())
        .flatten();
    print!("{}", terminal::render(run, width));
    eprintln!("\nrecord   {}", folder.join("run.json").display());
    eprintln!("report   {}", folder.join("report.md").display());
}
