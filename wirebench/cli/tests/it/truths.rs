//! The truth table: the committed rows, and a table of two of them made by the real command line.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;
use wirebench_record::truth::{Expect, TruthTable};
use wirebench_truth::{Row, read};

use crate::bench::{Bench, Ended, assert_fits, repository};
use crate::built;

fn rows() -> Vec<Row> {
    read(&repository().join("truth")).unwrap()
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
    for code in ["Rust HTTP", "Rust gRPC", "Go", "Node", "Python"] {
        let of = |rows: &[&Row]| rows.iter().filter(|row| row.code == code).count();
        assert!(of(&changes) >= 3 && of(&nulls) >= 8, "{code}");
    }
}

#[test]
fn every_patch_has_a_row_and_applies_to_the_code_as_it_is() {
    let rows = rows();
    let patched: BTreeSet<_> = rows.iter().filter_map(|row| row.patch.clone()).collect();
    for entry in fs::read_dir(repository().join("truth")).unwrap().flatten() {
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
    let root = repository();
    let table = root.join("truth/table.json");
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
    let output = Command::new(env!("CARGO_BIN_EXE_wirebench"))
        .args(["--root", root.to_str().unwrap(), "truth", "--from"])
        .arg(&table)
        .output()
        .unwrap();
    let committed = fs::read_to_string(root.join("docs/TRUTH.md")).unwrap();
    assert!(
        String::from_utf8(output.stdout).unwrap() == committed,
        "docs/TRUTH.md is another table's: wirebench truth --from truth/table.json > docs/TRUTH.md"
    );
}

/// The example in Python in a repository of its own, under a small load, with two rows of this repository.
fn project() -> Bench {
    let example = repository().join("examples/python");
    let text = |name: &str| fs::read_to_string(example.join(name)).unwrap();
    let config = text("wirebench.toml")
        .replace("duration = \"5s\"", "requests = 500")
        .replace("\"python3\"", &format!("{:?}", built::python()));
    let mut bench = Bench::empty()
        .file("wirebench.toml", "builtin_drivers = [\"hey\"]\n")
        .file("examples/python/wirebench.toml", &config);
    for name in ["server.py", "users.py", ".gitignore"] {
        bench = bench.file(&format!("examples/python/{name}"), &text(name));
    }
    for row in ["python-null-comment", "python-sleep-1-in-50"] {
        for ending in ["toml", "patch"] {
            let file = format!("truth/{row}.{ending}");
            let text = fs::read_to_string(repository().join(&file)).unwrap();
            // Under so small a load only what informs is sure to be seen.
            bench = bench.file(&file, &text.replace("\"regressed\"", "\"informative\""));
        }
    }
    bench.commit("v1")
}

/// The table that a command left, and its folder.
fn table(bench: &Bench) -> (Value, String) {
    let mut folders = fs::read_dir(bench.path("results/truth")).unwrap().flatten();
    let folder = folders.next().unwrap().path();
    assert!(folders.next().is_none());
    let table: Value = serde_json::from_slice(&fs::read(folder.join("truth.json")).unwrap()).unwrap();
    assert_fits("truth.v1.schema.json", &table);
    (table, folder.to_string_lossy().into_owned())
}

#[test]
fn a_null_and_a_change_are_compared_kept_and_documented() {
    let bench = project();
    let listed = bench.run(&["truth", "--list"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert!(
        listed.stderr.contains("1 comparisons of changes, 1 of nulls"),
        "{}",
        listed.stderr
    );

    let first = bench.run(&["truth", "--row", "*-null-*", "--budget", "15s"]);
    let (found, folder) = table(&bench);
    assert_eq!(found["outcomes"].as_array().unwrap().len(), 1, "{}", first.stderr);
    let Ended { stdout, stderr, .. } = bench.run(&["truth", "--resume", &folder, "--budget", "15s"]);
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
        "truth",
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
    let document = bench.run(&["truth", "--from", &folder]).stdout;
    assert!(
        document.contains("# The truth table") && document.contains("| `python-null-comment` |"),
        "{document}"
    );
}

#[test]
fn a_patch_that_does_not_apply_is_an_error_of_its_row() {
    let bench = project();
    let file = bench.path("truth/python-null-comment.patch");
    fs::write(&file, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n").unwrap();
    let ended = bench.run(&["truth", "--row", "python-null-comment"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let outcome = &table(&bench).0["outcomes"][0];
    assert_eq!(outcome["finding"], "error");
    assert!(outcome["reason"].as_str().unwrap().contains("git apply"), "{outcome}");
}

#[test]
fn rows_that_are_not_there_are_wrong_usage() {
    let bench = project();
    for (args, words) in [
        (["truth", "--row", "java-*"], "matches no row"),
        (["truth", "--row", "["], "not a glob"),
    ] {
        let ended = bench.run(&args);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
}
