//! `wirebench github summary`: writes a run's results into a workflow: job summary, outputs of the step, warnings on the lines
//! that a change made slower, and the comparison for the second stage.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::folders::Root;
use crate::github::variable;
use crate::outcome::Outcome;
use crate::{comparisons, reports, runs};
use wirebench_engine::git;
use wirebench_github::annotations::{self, Changed, Note};
use wirebench_present::report::comparison::functions;
use wirebench_present::report::format::{plain, shortened};
use wirebench_present::report::run_view::minutes;
use wirebench_present::report::{comparison, cut, markdown};
use wirebench_record::comparison::{Comparison, Side};
use wirebench_record::run::Run;

/// Bytes of a job's summary; GitHub shows up to 1 MiB for each step.
const LIMIT: usize = 256 * 1024;
/// Characters of one warning.
const LONGEST_WARNING: usize = 300;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench github summary                               the newest run under results/
  wirebench github summary results/20261121T091544Z-00002a --artifact _artifact

In a workflow, the Markdown goes to the job's summary, and verdict=, run= and report= to the step's outputs. verdict is \
regressed, invalid, inconclusive, improved, unchanged, not_judged, or none (no baseline). Outside a workflow, the Markdown \
is printed.
Exit code 0 if the run could be read, whatever its verdict; `wirebench gate` turns a verdict into an exit code.")]
pub(super) struct Args {
    /// A run's folder or its run.json; without it, the newest run under results/.
    run: Option<PathBuf>,
    /// A new or empty folder that takes a copy of comparison.json, and nothing else, for the second stage.
    #[arg(long, value_name = "DIR")]
    artifact: Option<PathBuf>,
}

pub(super) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let root = root.folder()?;
    let folder = std::path::absolute(runs::folder_of(&root, args.run.as_deref())?)?;
    let run = runs::read(&folder.join("run.json"))?;
    let comparison = comparisons::read_if_any(&folder)?;
    let shown = text(&run, comparison.as_ref()) + "\n\n" + &minutes(&run) + "\n";
    match variable("GITHUB_STEP_SUMMARY") {
        Some(file) => append(Path::new(&file), &shown)?,
        None => print!("{shown}"),
    }
    if let Some(file) = variable("GITHUB_OUTPUT") {
        let lines = outputs(comparison.as_ref(), &folder)?;
        append(Path::new(&file), &lines)?;
    }
    match (&args.artifact, &comparison) {
        (Some(to), Some(comparison)) => hand_on(comparison, to)?,
        (Some(to), None) => log::info!("{}: not made, the run compares nothing", to.display()),
        (None, _) => {}
    }
    if variable("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
        for line in comparison.iter().flat_map(|one| warnings(one, &root)) {
            // Prints a workflow command. Its parts are escaped already.
            std::println!("{line}");
        }
    }
    Ok(Outcome::Done)
}

/// The Markdown shown: the comparison, or without a baseline the report without pictures, which have no URL there.
fn text(run: &Run, comparison: Option<&Comparison>) -> String {
    let (text, file) = match comparison {
        Some(comparison) => (comparison::markdown::render(comparison), "comparison.json"),
        None => (markdown::render(run, &[]), "report.md"),
    };
    cut::within(&text, LIMIT, &format!("all of it is in {file} of the run"))
}

fn append(file: &Path, text: &str) -> anyhow::Result<()> {
    let opened = File::options().append(true).create(true).open(file);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("{}: cannot be written", file.display()))
}

/// Writes the comparison, without white space, as the only file of a folder.
fn hand_on(comparison: &Comparison, to: &Path) -> anyhow::Result<()> {
    let folder = to.display();
    fs::create_dir_all(to).with_context(|| format!("{folder}: cannot be made"))?;
    for entry in fs::read_dir(to).with_context(|| format!("{folder}: cannot be read"))? {
        let name = entry?.file_name();
        if name != comparisons::FILE {
            let remedy = "the second stage takes exactly one file: give --artifact a new folder";
            anyhow::bail!("{folder}: holds {} already; {remedy}", name.display());
        }
    }
    reports::write_file(&to.join(comparisons::FILE), serde_json::to_vec(comparison)?)
}

/// The outputs of the step: `verdict=`, `run=` and `report=`, each on a line.
///
/// # Errors
/// When a value has more than one line: a line break could add further outputs.
fn outputs(comparison: Option<&Comparison>, folder: &Path) -> anyhow::Result<String> {
    // As it is written in the record; null without a comparison.
    let verdict = serde_json::to_value(comparison.map(|comparison| comparison.verdict))?;
    let report = folder.join("report.md");
    let values = [
        ("verdict", Some(verdict.as_str().unwrap_or("none"))),
        ("run", folder.to_str()),
        ("report", report.to_str()),
    ];
    values.into_iter().map(|(name, value)| output(name, value)).collect()
}

fn output(name: &str, value: Option<&str>) -> anyhow::Result<String> {
    let value = value.filter(|value| !value.contains(|c: char| c.is_control()));
    value.map(|value| format!("{name}={value}\n")).ok_or_else(|| {
        anyhow::anyhow!("the output {name} would not be one line of text; give the run's folder a plain name")
    })
}

/// Workflow commands `::warning file=…,line=…::…` for functions that cost more than before and whose line the change
/// touches, as the second stage notes them; none if a side has no commit, or the project is in no repository.
fn warnings(comparison: &Comparison, root: &Path) -> Vec<String> {
    let commit = |side: &Side| side.revision.commit.clone();
    let sides = commit(&comparison.baseline).zip(commit(&comparison.candidate));
    let Some(((baseline, candidate), top)) = sides.zip(git::top(root)) else {
        return Vec::new();
    };
    let causes = functions::causes(comparison);
    let files: BTreeSet<&str> = causes.iter().map(|(source, _)| source.file.as_str()).collect();
    let changed = |file: &str| Changed {
        filename: file.to_owned(),
        patch: Some(git::patch(&top, &baseline, &candidate, file)),
    };
    let files: Vec<Changed> = files.into_iter().map(changed).collect();
    let notes = annotations::notes(causes, &files);
    let command = |note: &Note| {
        let message = data(&shortened(&plain(&note.message), LONGEST_WARNING));
        let (file, line) = (property(&note.path), note.line);
        format!("::warning file={file},line={line},title=wirebench::{message}")
    };
    notes.iter().map(command).collect()
}

/// Escapes the text after the last `::` of a workflow command, which ends at a line break.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_testing::golden;

    #[test]
    fn three_lines_are_passed_on() {
        let folder = Path::new("/runs/1");
        let none = outputs(None, folder).unwrap();
        assert_eq!(none, "verdict=none\nrun=/runs/1\nreport=/runs/1/report.md\n");
        let regressed = outputs(Some(&golden("regressed")), folder).unwrap();
        assert!(regressed.starts_with("verdict=regressed\n"), "{regressed}");
    }

    #[test]
    fn a_value_of_two_lines_is_refused() {
        for name in ["a\nverdict=unchanged", "a\rb", "a\u{0}b"] {
            assert!(outputs(None, Path::new(name)).is_err(), "{name:?}");
        }
    }

    #[test]
    fn nothing_ends_a_command_or_a_property_early() {
        assert_eq!(
            property("a%b:c,d\r\n::error::x"),
            "a%25b%3Ac%2Cd%0D%0A%3A%3Aerror%3A%3Ax"
        );
        assert_eq!(data("50 %\n::set-output name=x::y"), "50 %25%0A::set-output name=x::y");
    }
}
