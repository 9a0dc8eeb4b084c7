//! `truth/NAME.toml` and `truth/NAME.patch`: one change, and its right verdict.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::truth::record::Expect;
use wirebench_declare::found::is_name;
use wirebench_declare::percent::Percent;
use wirebench_declare::read::{DeclareError, toml_file};
use wirebench_declare::span::Span;
use wirebench_record::metric::Metric;

/// A change that is compared with the code it changes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The file's name without its ending.
    #[serde(skip)]
    pub name: String,
    /// The change in one sentence.
    pub about: String,
    /// The kind of change.
    pub kind: String,
    /// The code that is changed.
    pub code: String,
    /// The measured project's folder, from the root of the repository's clone; `.` is the root itself.
    #[serde(default = "here")]
    pub project: PathBuf,
    /// The server's name.
    pub server: String,
    /// Globs of the scenarios to measure; counted ones are called `count-OPERATION`.
    pub scenarios: Vec<String>,
    /// Globs of the drivers.
    pub drivers: Vec<String>,
    /// Wall time for rounds of load.
    #[serde(default = "budget")]
    pub budget: Span,
    /// The right verdict.
    pub expect: Expect,
    /// The metrics of which at least one must have the verdict, the most relevant first; empty for nulls.
    #[serde(default)]
    pub metrics: Vec<Metric>,
    /// The smallest size of the change that must be found.
    pub smallest: Option<Percent>,
    /// Part of the name of the project's function that must be blamed.
    pub function: Option<String>,
    /// Part of the reason that an invalid comparison gives.
    pub reason: Option<String>,
    /// The number of comparisons.
    #[serde(default = "once")]
    pub repeat: u32,
    /// Whether the candidate is built before the comparison's time starts, because much of it must be compiled.
    #[serde(default)]
    pub long_build: bool,
    /// The patch, when the row has one.
    #[serde(skip)]
    pub patch: Option<PathBuf>,
    /// Processes that keep a core busy during the comparison.
    #[serde(default)]
    pub busy: u32,
    /// Commands that are run in the project's folder before both sides are made, in order; each a program and its arguments.
    /// What they change is committed as the baseline.
    #[serde(default)]
    pub baseline: Vec<Vec<String>>,
    /// How the candidate is made, in addition to the patch.
    #[serde(default)]
    pub candidate: Candidate,
}

/// Changes to the candidate before it is measured.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The candidate is a clone of the clone, in a folder of this name.
    pub clone: Option<String>,
    /// Commands that are run in the candidate's folder, in order; each a program and its arguments.
    #[serde(default)]
    pub prepare: Vec<Vec<String>>,
    /// The command of a program that is built already; without it, the candidate is built from its folder.
    pub command: Option<String>,
}

/// One comparison of a row.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The row.
    pub row: &'a Row,
    /// The number of the comparison, from 1.
    pub number: u32,
}

/// Names of other folders next to the clones.
const TAKEN: [&str; 2] = ["project", "elsewhere"];
/// Comparisons of one row, at most.
const MOST: u32 = 100;
/// Busy processes, at most.
const BUSIEST: u32 = 64;

fn here() -> PathBuf {
    PathBuf::from(".")
}

/// Enough for a second stage on a busy machine.
const fn budget() -> Span {
    Span(Duration::from_secs(180))
}

const fn once() -> u32 {
    1
}

/// Reads every row of a folder, in the order of their names.
///
/// # Errors
/// At the first row that cannot be read or has an impossible value.
pub fn read(folder: &Path) -> Result<Vec<Row>, DeclareError> {
    let unreadable = DeclareError::unreadable(folder);
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(&unreadable)? {
        let path = entry.map_err(&unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            files.insert(path);
        }
    }
    files.iter().map(|file| Row::read(file)).collect()
}

impl Row {
    fn read(file: &Path) -> Result<Self, DeclareError> {
        let mut row: Self = toml_file(file)?;
        row.name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        row.patch = Some(file.with_extension("patch")).filter(|patch| patch.is_file());
        match row.flaw() {
            None => Ok(row),
            Some((key, message)) => Err(DeclareError::key(file, key, message)),
        }
    }

    /// The key with an impossible value, and the reason.
    fn flaw(&self) -> Option<(&'static str, &'static str)> {
        let null = self.expect == Expect::Same;
        let invalid = self.expect == Expect::Invalid;
        let sized = !self.metrics.is_empty() || self.smallest.is_some() || self.function.is_some();
        let unchanged = self.patch.is_none() && self.candidate.prepare.is_empty() && self.candidate.clone.is_none();
        let outside = self.project.is_absolute() || self.project.components().any(|part| part.as_os_str() == "..");
        let flaws = [
            (
                !is_name(&self.name),
                "about",
                "the file's name may hold lower-case letters, digits and hyphens only",
            ),
            (outside, "project", "expected a folder of the repository, from its root"),
            (self.scenarios.is_empty(), "scenarios", "expected at least one glob"),
            (self.drivers.is_empty(), "drivers", "expected at least one glob"),
            (
                !(1..=MOST).contains(&self.repeat),
                "repeat",
                "expected 1 to 100 comparisons",
            ),
            (self.busy > BUSIEST, "busy", "expected at most 64 processes"),
            (
                !null && !invalid && (self.metrics.is_empty() || self.smallest.is_none()),
                "metrics",
                "a change needs metrics and smallest: what carries it, and from which size on",
            ),
            (
                (null || invalid) && sized,
                "metrics",
                "a null and an invalid comparison have neither metrics nor smallest nor function: leave them out",
            ),
            (
                invalid != self.reason.is_some(),
                "reason",
                "a comparison that is expected to be invalid needs part of its reason, and no other has one",
            ),
            (
                self.candidate
                    .clone
                    .as_ref()
                    .is_some_and(|name| !is_name(name) || TAKEN.contains(&name.as_str())),
                "candidate.clone",
                "expected a name of lower-case letters, digits and hyphens that is not project or elsewhere",
            ),
            (
                unchanged,
                "candidate",
                "a row without a patch of its name needs a candidate.clone or candidate.prepare",
            ),
        ];
        flaws
            .into_iter()
            .find_map(|(wrong, key, message)| wrong.then_some((key, message)))
    }

    /// Its comparisons.
    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        (1..=self.repeat).map(move |number| Case { row: self, number })
    }
}

impl Case<'_> {
    /// The name of its files: the row's, and the number where there are several.
    #[must_use]
    pub fn name(&self) -> String {
        if self.row.repeat == 1 {
            self.row.name.clone()
        } else {
            format!("{}-{}", self.row.name, self.number)
        }
    }

    /// The seed of its order of rounds: the same in every table.
    #[must_use]
    pub fn seed(&self) -> u32 {
        // FNV-1a, 32 bit: <http://www.isthe.com/chongo/tech/comp/fnv/>.
        let mix = |seed: u32, byte: u8| (seed ^ u32::from(byte)).wrapping_mul(16_777_619);
        self.name().bytes().fold(2_166_136_261, mix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGE: &str = "about = \"a\"\nkind = \"lock\"\ncode = \"Go\"\nproject = \"examples/go\"\nserver = \"http\"\n\
                          scenarios = [\"user\"]\ndrivers = [\"hey\"]\nexpect = \"regressed\"\n\
                          metrics = [\"server_cpu\"]\nsmallest = \"5%\"\n";
    const NULL: &str = "about = \"a\"\nkind = \"touched\"\ncode = \"Go\"\nserver = \"http\"\nscenarios = [\"user\"]\n\
                        drivers = [\"hey\"]\nexpect = \"same\"\n";
    const TOUCH: &str = "[candidate]\nprepare = [[\"touch\", \"main.go\"]]\n";

    fn rows(files: &[(&str, &str)]) -> Result<Vec<Row>, String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        read(folder.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_row_has_its_patch_beside_it_and_a_null_may_do_without() {
        let null = format!("{NULL}repeat = 3\n{TOUCH}");
        let rows = rows(&[
            ("b-lock.toml", CHANGE),
            ("b-lock.patch", "diff"),
            ("a-touched.toml", &null),
        ])
        .unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["a-touched", "b-lock"]);
        assert!(rows[0].patch.is_none() && rows[1].patch.is_some());
        let cases: Vec<String> = rows[0].cases().map(|case| case.name()).collect();
        assert_eq!(cases, ["a-touched-1", "a-touched-2", "a-touched-3"]);
        let seeds: BTreeSet<u32> = rows.iter().flat_map(Row::cases).map(|case| case.seed()).collect();
        assert_eq!(seeds.len(), 4);
    }

    #[test]
    fn a_row_that_cannot_be_held_against_anything_is_refused_with_file_and_key() {
        let changed = |from: &str, to: &str| CHANGE.replace(from, to);
        for (text, words) in [
            (
                changed("smallest = \"5%\"\n", ""),
                "metrics: a change needs metrics and smallest",
            ),
            (
                changed("examples/go", "../go"),
                "project: expected a folder of the repository",
            ),
            (changed("[\"hey\"]", "[]"), "drivers: expected at least one glob"),
            (
                format!("{NULL}smallest = \"1%\"\n{TOUCH}"),
                "metrics: a null and an invalid comparison have neither",
            ),
            (format!("{NULL}repeat = 0\n{TOUCH}"), "repeat: expected 1 to 100"),
            (format!("{NULL}busy = 65\n{TOUCH}"), "busy: expected at most 64"),
            (changed("regressed", "slower"), "expect: "),
            (
                format!("{NULL}[candidate]\nclone = \"elsewhere\"\n"),
                "candidate.clone: expected a name",
            ),
            (format!("{NULL}reason = \"x\"\n{TOUCH}"), "reason: a comparison that is"),
            (
                NULL.replace("same", "invalid") + TOUCH,
                "reason: a comparison that is expected to be invalid needs",
            ),
            (NULL.to_owned(), "candidate: a row without a patch"),
        ] {
            let error = rows(&[("x.toml", &text)]).unwrap_err();
            assert!(error.contains("x.toml") && error.contains(words), "{words}: {error}");
        }
    }
}
