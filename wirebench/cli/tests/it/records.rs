//! Records that somebody else wrote: their names lead nowhere, and nothing of them acts on a terminal or in a workflow's log.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Bench, Ended, ended, repository, wirebench};

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
            &["github", "summary"],
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
    let golden = repository().join("wirebench/cli/tests/golden/comparison/counted-regressed.json");
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
        for args in [&["gate"][..], &["report"], &["github", "summary"]] {
            let done = downloaded.run(args);
            assert_eq!(done.code, 1, "{args:?} took {place} = {name}");
            assert!(done.stderr.contains("is no "), "{args:?}: {}", done.stderr);
        }
    }
}

#[test]
fn every_committed_run_and_comparison_is_read() {
    for run in ["results/reference", "results/selftest/equal"] {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(repository().join(run).join("run.json"), folder.path().join("run.json")).unwrap();
        let mut command = wirebench(&["report"]);
        let done = ended(command.arg(folder.path()).current_dir(repository()));
        assert_eq!(done.code, 0, "{run}: {}", done.stderr);
    }
}

/// What a terminal or a runner would act upon.
fn acts(text: &str) -> bool {
    let hidden = |c: char| (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c);
    text.contains(hidden) || text.contains("##[") || text.lines().any(|line| line.trim_start().starts_with("::"))
}

const NASTY: &str =
    "\u{1b}]0;title\u{7}\u{1b}[31m\u{202e}red\u{9b}2J\r\n::error::taken\n  ::set-output name=a::b\n##[group]x";

#[test]
fn nothing_in_a_record_acts_on_a_terminal_or_in_a_log() {
    for (place, text) in [
        ("/id", "20260101T000000Z-000000\n::error::taken"),
        ("/series/0/reason", NASTY),
        ("/series/0/digest", NASTY),
        ("/host/kernel", NASTY),
        ("/host/cpu_model", NASTY),
        ("/tools/0/name", NASTY),
        ("/tools/0/version", NASTY),
        ("/repeat", NASTY),
        ("/reason", NASTY),
        ("/variants/0/commit", NASTY),
        ("/started_at", NASTY),
    ] {
        let downloaded = Downloaded::new()
            .with("/series/0/status", "partial")
            .with(place, text)
            .written();
        let out = downloaded.outer.path().join("out");
        let out = out.to_string_lossy();
        for args in [
            &["report"][..],
            &["merge", "--out", &out],
            &["github", "summary"],
            &["compare", "results/reference"],
            &["history", "append", "--allow-modified", "--to", &out],
        ] {
            let done = downloaded.run(args);
            for said in [&done.stdout, &done.stderr] {
                assert!(!acts(said), "{args:?}, {place}: {said:?}");
            }
        }
    }
}

#[test]
fn a_record_of_another_schema_and_a_broken_comparison_are_named_without_acting() {
    let schema = Downloaded::new().with("/schema", NASTY).written();
    let other = Downloaded::new().written();
    let comparison = json!({ "schema": "wirebench.comparison/v2", "verdict": NASTY });
    fs::write(other.folder().join("comparison.json"), comparison.to_string()).unwrap();
    for (place, args) in [(&schema, ["report"]), (&other, ["gate"])] {
        let done = place.run(&args);
        assert_eq!(done.code, 1);
        assert!(
            done.stderr.contains("taken") && !acts(&done.stderr),
            "{:?}",
            done.stderr
        );
    }
}

#[test]
fn nothing_in_a_declaration_acts_either_and_no_name_of_one_is_a_flag() {
    let declared = |text: &str| {
        let config =
            "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n";
        Bench::empty()
            .file("wirebench.toml", &format!("{config}{text}"))
            .run(&["list"])
    };
    for text in [
        "[servers.\"a\\n::error::taken\\u001B[31m\"]\nabout = \"x\"\n",
        "[servers.a]\nabout = \"x\"\n\"\\u202E::error::taken\\n::error::x\" = 1\n",
        "[profiles.\"x\\n::error::taken\"]\nabout = \"x\"\nrounds = 1\n",
    ] {
        let done = declared(text);
        assert_eq!(done.code, 2, "{text}: {}", done.stderr);
        assert!(!acts(&done.stderr), "{:?}", done.stderr);
    }
    let flag = declared(
        "[servers.--out]\nabout = \"x\"\nprotocols = [\"http\"]\nport = 1\ncommand = [\"x\"]\n[servers.--out.operations]\n",
    );
    assert!(
        flag.code == 2 && flag.stderr.contains("no hyphen first"),
        "{}",
        flag.stderr
    );
    let profile = declared("[profiles.--out]\nabout = \"x\"\nrounds = 1\n");
    assert!(
        profile.code == 2 && profile.stderr.contains("no hyphen first"),
        "{}",
        profile.stderr
    );
}

#[test]
fn an_output_that_takes_nothing_is_an_error_and_ends_no_command_early() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok");
    for args in [&["list"][..], &["run"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = bench.command_of(args).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(
            said.contains("standard output cannot be written") && !said.contains("panicked"),
            "{args:?}: {said}"
        );
    }
    assert_eq!(bench.record()["status"], "complete");
}
