//! `wirebench summary`: writes a run's results into a workflow: job summary, outputs of the step, warnings on the lines
//! that a change made slower, and the comparison for the second stage.

mod changed;
mod outputs;
mod warnings;

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::folders::Root;
use crate::outcome::Outcome;
use crate::{comparisons, runs};
use wirebench_present::report::{comparison, cut, markdown};
use wirebench_record::comparison::Comparison;
use wirebench_record::run::Run;

/// Bytes of a job's summary; GitHub shows up to 1 MiB for each step.
const LIMIT: usize = 256 * 1024;

/// Writes a run's results into a workflow: job summary, outputs, warnings at the changed lines.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench summary                               the newest run under results/
  wirebench summary results/20261121T091544Z-00002a --artifact _artifact

In a workflow, the Markdown goes to the job's summary, and verdict=, run= and report= to the step's outputs. verdict is \
regressed, invalid, inconclusive, improved, unchanged, not_judged, or none (no baseline). Outside a workflow, the Markdown \
is printed.
Exit code 0 if the run could be read, whatever its verdict; `wirebench gate` turns a verdict into an exit code.")]
pub(crate) struct Args {
    /// A run's folder or its run.json; without it, the newest run under results/.
    run: Option<PathBuf>,
    /// A new or empty folder that takes a copy of comparison.json, and nothing else, for the second stage.
    #[arg(long, value_name = "DIR")]
    artifact: Option<PathBuf>,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let root = root.folder()?;
    let folder = std::path::absolute(runs::folder_of(&root, args.run.as_deref())?)?;
    let run = runs::read(&folder.join("run.json"))?;
    let comparison = comparisons::read_if_any(&folder)?;
    show(&text(&run, comparison.as_ref()))?;
    if let Some(file) = variable("GITHUB_OUTPUT") {
        let lines = outputs::lines(comparison.as_ref(), &folder)?;
        append(Path::new(&file), &lines)?;
    }
    match (&args.artifact, &comparison) {
        (Some(to), Some(comparison)) => hand_on(comparison, to)?,
        (Some(to), None) => log::info!("{}: not made, the run compares nothing", to.display()),
        (None, _) => {}
    }
    if variable("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
        for line in comparison.iter().flat_map(|one| warnings::lines(one, &root)) {
            // Prints a workflow command. Its parts are escaped already.
            std::println!("{line}");
        }
    }
    Ok(Outcome::Done)
}

/// The Markdown shown: the comparison, or without a baseline the report without pictures, which have no URL there.
fn text(run: &Run, comparison: Option<&Comparison>) -> String {
    match comparison {
        Some(comparison) => cut::within(
            &comparison::markdown::render(comparison),
            LIMIT,
            "all of it is in comparison.json of the run",
        ),
        None => cut::within(
            &markdown::render(run, &[]),
            LIMIT,
            "all of it is in report.md of the run",
        ),
    }
}

/// Appends to the job summary, or prints if there is none.
fn show(text: &str) -> anyhow::Result<()> {
    match variable("GITHUB_STEP_SUMMARY") {
        Some(file) => append(Path::new(&file), text),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}

/// The value of an environment variable, if it is not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn append(file: &Path, text: &str) -> anyhow::Result<()> {
    let write = || {
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(file)?
            .write_all(text.as_bytes())
    };
    write().with_context(|| format!("{}: cannot be written", file.display()))
}

/// Writes the comparison, without white space, as the only file of a folder.
fn hand_on(comparison: &Comparison, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("{}: cannot be made", to.display()))?;
    for entry in fs::read_dir(to).with_context(|| format!("{}: cannot be read", to.display()))? {
        let name = entry?.file_name();
        anyhow::ensure!(
            name == comparisons::FILE,
            "{}: holds {} already; the second stage takes exactly one file: give --artifact a new folder",
            to.display(),
            Path::new(&name).display()
        );
    }
    let file = to.join(comparisons::FILE);
    fs::write(&file, serde_json::to_vec(comparison)?).with_context(|| format!("{}: cannot be written", file.display()))
}
