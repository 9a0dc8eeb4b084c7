//! The truth table: the committed rows, and a table of two of them made by the real programs.
#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise, its helpers too"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use wirebench_lab::truth::record::{Expect, TruthTable};
use wirebench_lab::truth::{Row, read};

/// The folder of the laboratory.
fn lab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn repository() -> PathBuf {
    lab().parent().unwrap().to_path_buf()
}

fn rows() -> Vec<Row> {
    read(&lab().join("truth")).unwrap()
}

/// How a program ended.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A repository with a laboratory.
struct Bench(TempDir);

impl Bench {
    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn file(&self, name: &str, text: &str) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@t"];
        let run = ended(
            Command::new("git")
                .current_dir(self.0.path())
                .args(identity)
                .args(arguments),
        );
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout
    }

    /// Runs `lab truth` here.
    fn run(&self, arguments: &[&str]) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
        if std::env::var_os("WIREBENCH_TOOLS").is_none() {
            command.env("WIREBENCH_TOOLS", repository().join(".tools"));
        }
        ended(command.current_dir(self.0.path()).arg("truth").args(arguments))
    }
}

#[test]
fn there_are_enough_changes_and_nulls_of_every_kind_and_language() {
    let rows = rows();
    let (nulls, changes): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.expect == Expect::Same);
    let kinds = |of: &[&Row]| of.iter().map(|row| row.kind.clone()).collect::<BTreeSet<_>>().len();
    assert!(changes.len() >= 24, "{} changes", changes.len());
    assert!(kinds(&nulls) >= 12, "{} kinds of nulls", kinds(&nulls));
    let comparisons: u32 = nulls.iter().map(|row| row.repeat).sum();
    assert!(comparisons >= 60, "{comparisons} comparisons of nulls");
    for code in ["Rust HTTP", "Rust gRPC", "Go", "Node", "Python", "Java"] {
        let of = |rows: &[&Row]| rows.iter().filter(|row| row.code == code).count();
        assert!(of(&changes) >= 3 && of(&nulls) >= 8, "{code}");
    }
}

#[test]
fn every_patch_has_a_row_and_applies_to_the_code_as_it_is() {
    let rows = rows();
    let patched: BTreeSet<_> = rows.iter().filter_map(|row| row.patch.clone()).collect();
    for entry in fs::read_dir(lab().join("truth")).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "patch") {
            assert!(patched.contains(&path), "{} has no row", path.display());
        }
    }
    let refused: Vec<String> = (patched.iter())
        .filter_map(|patch| {
            let mut git = Command::new("git");
            git.current_dir(repository()).args(["apply", "--check"]).arg(patch);
            let output = git.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            (!output.status.success()).then_some(said)
        })
        .collect();
    assert!(refused.is_empty(), "make them anew: {refused:#?}");
}

#[test]
fn the_committed_document_is_that_of_the_committed_table() {
    let table = lab().join("truth/table.json");
    let kept: TruthTable = serde_json::from_slice(&fs::read(&table).unwrap()).unwrap();
    let names: BTreeSet<String> = rows().into_iter().map(|row| row.name).collect();
    let unknown: Vec<&str> = (kept.outcomes.iter())
        .map(|one| one.row.as_str())
        .filter(|row| !names.contains(*row))
        .collect();
    assert!(
        unknown.is_empty(),
        "truth/table.json has rows that truth/ lacks: {unknown:?}"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
    let made = ended(command.arg("--root").arg(lab()).args(["truth", "--from"]).arg(&table));
    let committed = fs::read_to_string(lab().join("docs/TRUTH.md")).unwrap();
    assert!(
        made.stdout == committed,
        "docs/TRUTH.md is another table's: lab truth --from lab/truth/table.json > lab/docs/TRUTH.md"
    );
    let all = committed.lines().find(|line| line.starts_with("| **all** |")).unwrap();
    let all: Vec<&str> = all.split('|').map(str::trim).collect();
    let said = format!("{} of {}; {} of {};", all[3], all[2], all[12], all[9]);
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(readme.contains(&said), "README.md does not say {said:?}");
}

/// The example in Python in a repository of its own, under a small load, with two rows of this repository.
fn project() -> Bench {
    let example = repository().join("examples/python");
    let text = |name: &str| fs::read_to_string(example.join(name)).unwrap();
    let config = text("wirebench.toml").replace("duration = \"5s\"", "requests = 500");
    let bench = Bench(tempfile::tempdir().unwrap());
    bench.file("wirebench.toml", "builtin_drivers = [\"hey\"]\n");
    bench.file(".gitignore", ".wirebench/\n/lab/results/\n");
    bench.file("examples/python/wirebench.toml", &config);
    for name in ["server.py", "users.py", ".gitignore"] {
        bench.file(&format!("examples/python/{name}"), &text(name));
    }
    for row in ["python-null-comment", "python-sleep-1-in-50"] {
        for ending in ["toml", "patch"] {
            let file = format!("truth/{row}.{ending}");
            let text = fs::read_to_string(lab().join(&file)).unwrap();
            // Under so small a load only what informs is sure to be seen.
            bench.file(
                &format!("lab/{file}"),
                &text.replace("\"regressed\"", "\"informative\""),
            );
        }
    }
    bench.git(&["init", "--quiet"]);
    bench.git(&["add", "."]);
    bench.git(&["commit", "--quiet", "--message", "v1"]);
    bench
}

/// The table that a command left, and its folder.
fn table(bench: &Bench) -> (Value, String) {
    let mut folders = fs::read_dir(bench.path("lab/results/truth")).unwrap().flatten();
    let folder = folders.next().unwrap().path();
    assert!(folders.next().is_none());
    let table: Value = serde_json::from_slice(&fs::read(folder.join("truth.json")).unwrap()).unwrap();
    (table, folder.to_string_lossy().into_owned())
}

#[test]
fn a_null_and_a_change_are_compared_kept_and_documented() {
    let bench = project();
    let listed = bench.run(&["--list"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert!(
        listed.stderr.contains("1 comparisons of changes, 1 of nulls"),
        "{}",
        listed.stderr
    );

    let first = bench.run(&["--row", "*-null-*", "--budget", "15s"]);
    let (found, folder) = table(&bench);
    assert_eq!(found["outcomes"].as_array().unwrap().len(), 1, "{}", first.stderr);
    let Ended { stdout, stderr, .. } = bench.run(&["--resume", &folder, "--budget", "15s"]);
    let (found, _) = table(&bench);
    let outcomes = found["outcomes"].as_array().unwrap();
    assert_eq!(outcomes.len(), 2, "{stderr}");
    let sessions: Vec<u64> = outcomes
        .iter()
        .map(|one| one["session"].as_u64().unwrap_or(0))
        .collect();
    assert_eq!((sessions, found["later"].as_array().unwrap().len()), (vec![0, 1], 1));
    let elsewhere = bench.path("elsewhere");
    let copied = bench.run(&[
        "--resume",
        &format!("{folder}/truth.json"),
        "--out",
        &elsewhere.to_string_lossy(),
    ]);
    let copy = fs::read_dir(&elsewhere)
        .unwrap()
        .flatten()
        .next()
        .expect("a folder of its own")
        .path();
    let copy: Value = serde_json::from_slice(&fs::read(copy.join("truth.json")).unwrap()).unwrap();
    assert_eq!(copy, found, "nothing is left to compare: {}", copied.stderr);
    for (outcome, row) in outcomes.iter().zip(["python-null-comment", "python-sleep-1-in-50"]) {
        assert_eq!(outcome["row"], row);
        // A busy machine may leave a comparison unclear, or its CPU time may show the change alone.
        let finding = outcome["finding"].as_str().unwrap();
        let is_reported = row != "python-null-comment" && outcome["verdict"] == "regressed";
        assert!(
            ["right", "unclear"].contains(&finding) || is_reported,
            "{outcome:#}\n{stderr}"
        );
    }
    assert!(
        stdout.contains("| Python | 1 |") && stdout.contains("| **all** | 1 |"),
        "{stdout}"
    );

    // The clone is as the repository is, and the user's folder is untouched.
    assert_eq!(bench.git(&["status", "--porcelain", "--untracked-files=no"]), "");
    let clone = bench.path(".wirebench/truth/project/examples/python/server.py");
    let (cloned, own) = (
        fs::read(clone).unwrap(),
        fs::read(bench.path("examples/python/server.py")).unwrap(),
    );
    assert_eq!(cloned, own);
    let document = bench.run(&["--from", &folder]).stdout;
    assert!(
        document.contains("# The truth table") && document.contains("| `python-null-comment` |"),
        "{document}"
    );
}

#[test]
fn a_patch_that_does_not_apply_is_an_error_of_its_row() {
    let bench = project();
    let file = bench.path("lab/truth/python-null-comment.patch");
    fs::write(&file, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n").unwrap();
    let ended = bench.run(&["--row", "python-null-comment"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let outcome = &table(&bench).0["outcomes"][0];
    assert_eq!(outcome["finding"], "error");
    assert!(outcome["reason"].as_str().unwrap().contains("git apply"), "{outcome}");
}

#[test]
fn rows_that_are_not_there_are_wrong_usage() {
    let bench = project();
    for (args, words) in [(["--row", "java-*"], "matches no row"), (["--row", "["], "not a glob")] {
        let ended = bench.run(&args);
        assert_eq!(ended.code, 1, "{}", ended.stderr);
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
}
