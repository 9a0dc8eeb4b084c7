//! Records that somebody else wrote: their names lead nowhere.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{Ended, ended, repository, wirebench};

const REFERENCE: &str = "results/reference/run.json";

/// A downloaded run folder two levels deep, so that whatever leads out of it stays in the temporary folder.
struct Downloaded {
    outer: TempDir,
    run: Value,
}

impl Downloaded {
    fn new() -> Self {
        let text = fs::read(repository().join(REFERENCE)).unwrap();
        Self {
            outer: tempfile::tempdir().unwrap(),
            run: serde_json::from_slice(&text).unwrap(),
        }
    }

    fn with(mut self, place: &str, value: impl Into<Value>) -> Self {
        *self.run.pointer_mut(place).unwrap_or_else(|| panic!("no {place}")) = value.into();
        self
    }

    fn folder(&self) -> std::path::PathBuf {
        self.outer.path().join("a/b/run")
    }

    fn written(self) -> Self {
        fs::create_dir_all(self.folder()).unwrap();
        fs::write(self.folder().join("run.json"), self.run.to_string()).unwrap();
        self
    }

    /// Runs a command on the folder, in the project of this repository.
    fn run(&self, args: &[&str]) -> Ended {
        let mut command = wirebench(args);
        ended(command.arg(self.folder()).current_dir(repository()))
    }
}

fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push(entry.path().to_string_lossy().into_owned());
        }
    }
    found
}

#[test]
fn names_that_lead_out_of_their_folder_are_refused_by_every_command_that_reads_a_run() {
    for (place, name) in [
        ("/id", "../../../escaped"),
        ("/id", "/tmp/escaped"),
        ("/series/0/scenario", "../../../escaped"),
        ("/series/0/id", "../escaped@http@hey"),
        ("/series/0/server", "a/b"),
        ("/series/0/driver", "--version"),
    ] {
        let downloaded = Downloaded::new().with(place, name).written();
        let before = files(downloaded.outer.path());
        let out = downloaded.outer.path().join("a/out");
        let out = out.to_string_lossy();
        for args in [
            &["report"][..],
            &["merge", "--out", &out],
            &["history", "append", "--to", &out],
            &["summary"],
            &["export", "--format", "github-action-benchmark", "--out", &out],
        ] {
            let done = downloaded.run(args);
            assert_ne!(done.code, 0, "{args:?} took {place} = {name}: {}", done.stdout);
            let said = format!("{}{}", done.stdout, done.stderr);
            assert!(said.contains("is no "), "{args:?}: {said}");
        }
        let after = files(downloaded.outer.path());
        assert_eq!(before, after, "{place} = {name}");
    }
}

#[test]
fn comparisons_and_call_stacks_lead_nowhere_else_either() {
    let golden = repository().join("wirebench/tests/golden/comparison/counted-regressed.json");
    let golden: Value = serde_json::from_slice(&fs::read(golden).unwrap()).unwrap();
    for (place, name) in [
        ("/candidate/run", "../x"),
        ("/series/0/id", "a@b@../../c"),
        ("/series/0/scenario", "/etc"),
        ("/series/0/metrics/0/flame_graph", "../../../etc/passwd"),
    ] {
        let downloaded = Downloaded::new().written();
        let mut value = golden.clone();
        *value.pointer_mut(place).unwrap() = name.into();
        fs::write(downloaded.folder().join("comparison.json"), value.to_string()).unwrap();
        for args in [&["gate"][..], &["report"], &["summary"]] {
            let done = downloaded.run(args);
            assert_eq!(done.code, 1, "{args:?} took {place} = {name}");
            assert!(done.stderr.contains("is no "), "{args:?}: {}", done.stderr);
        }
    }
}

#[test]
fn every_committed_run_and_comparison_is_read() {
    for run in ["results/reference", "results/comparisons", "results/selftest/equal"] {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(repository().join(run).join("run.json"), folder.path().join("run.json")).unwrap();
        let mut command = wirebench(&["report"]);
        let done = ended(command.arg(folder.path()).current_dir(repository()));
        assert_eq!(done.code, 0, "{run}: {}", done.stderr);
    }
}
