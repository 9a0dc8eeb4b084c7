//! Comparisons through the command line: what is said of them, and the exit code drawn from them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{Bench, Ended, ended, repository, wirebench};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/comparison/{name}"))
}

/// The gate in a folder that is no project.
fn gate(file: &Path, flags: &[&str]) -> Ended {
    let elsewhere = tempfile::tempdir().unwrap();
    let file = file.to_string_lossy();
    let args = [&["gate", &*file], flags].concat();
    ended(wirebench(&args).current_dir(elsewhere.path()))
}

/// A folder with a changed copy of a golden comparison.
fn changed(name: &str, change: impl FnOnce(&mut Value)) -> (TempDir, PathBuf) {
    let mut value: Value = serde_json::from_slice(&fs::read(golden(name)).unwrap()).unwrap();
    change(&mut value);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("comparison.json");
    fs::write(&file, value.to_string()).unwrap();
    (folder, file)
}

#[test]
fn every_verdict_has_its_exit_code_and_its_line() {
    for (name, flags, code, line) in [
        (
            "regressed",
            "regressed",
            3,
            "✗ Regressed. 1 of 3 gating metrics got worse by more than its margin",
        ),
        (
            "mixed",
            "regressed",
            3,
            "✗ Regressed; the run was interrupted, the timing is judged by fewer rounds than planned. 2 of 6",
        ),
        (
            "mixed",
            "inconclusive",
            3,
            "✗ Regressed; the run was interrupted, the timing is judged by fewer rounds than planned. 2 of 6",
        ),
        ("improved", "regressed", 0, "✓ Improved."),
        (
            "unchanged",
            "regressed,inconclusive,invalid",
            0,
            "= Unchanged. No worsening above",
        ),
        ("accepted", "regressed", 0, "1 worse and accepted"),
        ("added-removed", "regressed", 0, "= Unchanged."),
        ("inconclusive", "regressed", 0, "? Inconclusive. Can't tell for 2 of 3"),
        ("inconclusive", "regressed,inconclusive", 3, "? Inconclusive."),
        ("invalid", "regressed", 1, "! Invalid. 2 of 3"),
        ("invalid", "invalid", 3, "! Invalid."),
        (
            "improved-but-worse",
            "regressed",
            0,
            "✓ Improved, but worse in metrics that do not gate.",
        ),
        (
            "same-program",
            "regressed,not-judged",
            0,
            "= Unchanged. Same program on both sides",
        ),
        (
            "new-call",
            "regressed",
            0,
            "New system call: clock_nanosleep, 0.02 per request",
        ),
        (
            "not-judged",
            "regressed,not-judged",
            4,
            "– Not judged. No gating metric",
        ),
        ("not-judged", "regressed", 0, "– Not judged."),
        ("unpaired", "regressed", 1, "– Not judged."),
        ("unpaired", "inconclusive", 1, "– Not judged."),
    ] {
        let ended = gate(&golden(&format!("{name}.json")), &["--fail-on", flags]);
        assert_eq!(ended.code, code, "{name} {flags}: {}{}", ended.stdout, ended.stderr);
        assert!(
            ended.stdout.lines().next().unwrap().contains(line),
            "{name}: {}",
            ended.stdout
        );
    }
}

#[test]
fn without_flags_what_was_not_judged_does_not_pass() {
    assert_eq!(gate(&golden("not-judged.json"), &[]).code, 4);
    assert_eq!(gate(&golden("same-program.json"), &[]).code, 0);
}

#[test]
fn the_gate_lists_what_it_fails_on_and_nothing_else() {
    let ended = gate(&golden("mixed.json"), &[]);
    for needed in ["weather-one-connection@grpc@h2load", "× 2.4", "could not compile"] {
        assert!(ended.stdout.contains(needed), "no {needed} in\n{}", ended.stdout);
    }
    for other in ["improved", "~ accepted", "latency p99"] {
        assert!(!ended.stdout.contains(other), "{other} in\n{}", ended.stdout);
    }
}

#[test]
fn a_folder_stands_for_its_comparison_and_the_newest_run_with_one_for_no_argument() {
    let bench = Bench::new();
    for (run, comparison) in [
        ("20261120T080000Z-000001", Some("regressed")),
        ("20261121T080000Z-000002", Some("unchanged")),
        ("20261122T080000Z-000003", None),
    ] {
        let folder = bench.path(&format!("results/{run}"));
        fs::create_dir_all(&folder).unwrap();
        if let Some(name) = comparison {
            fs::copy(golden(&format!("{name}.json")), folder.join("comparison.json")).unwrap();
        }
    }
    assert_eq!(bench.run(&["gate", "results/20261120T080000Z-000001"]).code, 3);
    let newest = bench.run(&["gate"]);
    assert_eq!(newest.code, 0, "{}", newest.stderr);
    assert!(newest.stderr.contains("20261121T080000Z-000002"), "{}", newest.stderr);
}

#[test]
fn without_a_comparison_the_gate_says_how_to_make_one() {
    let bench = Bench::new();
    fs::create_dir_all(bench.path("results/20261122T080000Z-000003")).unwrap();
    for args in [
        &["gate"][..],
        &["gate", "results/20261122T080000Z-000003"],
        &["gate", "nowhere/comparison.json"],
    ] {
        let ended = bench.run(args);
        assert_eq!(ended.code, 2, "{args:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains("wirebench run --baseline main"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn cut_off_foreign_and_edited_files_are_refused_by_name() {
    let whole = fs::read_to_string(golden("regressed.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("comparison.json");
    for (text, why) in [
        (whole[..whole.len() / 2].to_owned(), "cut off"),
        (
            whole.replace("comparison/v2", "comparison/v9"),
            "wirebench.comparison/v9",
        ),
        (
            whole.replacen("\"effect_percent\": 11.8", "\"effect_percent\": 1e999", 1),
            "number out of range",
        ),
        (
            whole.replacen("\"kept\": 19", "\"kept\": \"19\"", 1),
            "series[0].metrics[0].kept",
        ),
    ] {
        fs::write(&file, &text).unwrap();
        let ended = gate(&file, &[]);
        assert_eq!(ended.code, 1, "{why}: {}", ended.stdout);
        assert!(
            ended.stderr.contains("comparison.json") && ended.stderr.contains(why),
            "no {why} in {}",
            ended.stderr
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "the file was changed");
    }
}

#[test]
fn a_verdict_that_was_edited_away_does_not_pass() {
    let (_folder, file) = changed("regressed.json", |value| value["verdict"] = "unchanged".into());
    let overall = gate(&file, &[]);
    assert_eq!(overall.code, 1, "{}", overall.stdout);
    assert!(overall.stderr.contains("contradicts itself"), "{}", overall.stderr);
    let (_folder, file) = changed("regressed.json", |value| {
        value["verdict"] = "unchanged".into();
        value["series"][0]["verdict"] = "unchanged".into();
    });
    assert_eq!(gate(&file, &[]).code, 1);
}

#[test]
fn an_unknown_verdict_to_fail_on_is_wrong_usage() {
    let ended = gate(&golden("unchanged.json"), &["--fail-on", "slower"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("inconclusive"), "{}", ended.stderr);
}

#[test]
fn a_report_of_a_run_with_a_comparison_shows_both_and_writes_the_comment() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(
        repository().join("results/reference/run.json"),
        folder.path().join("run.json"),
    )
    .unwrap();
    fs::copy(golden("regressed.json"), folder.path().join("comparison.json")).unwrap();
    let args = ["report", "--write", &*folder.path().to_string_lossy()];
    let shown = ended(wirebench(&args).current_dir(repository()));
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let (run, comparison) = (shown.stdout.find("start-up"), shown.stdout.find("✗ Regressed."));
    assert!(run.is_some() && run < comparison, "{}", shown.stdout);
    let written = fs::read_to_string(folder.path().join("comparison.md")).unwrap();
    assert_eq!(written, fs::read_to_string(golden("regressed.md")).unwrap());
    assert!(shown.stderr.contains("comparison.md"));
}

#[test]
fn a_report_with_a_cut_off_comparison_still_shows_the_run_and_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(
        repository().join("results/reference/run.json"),
        folder.path().join("run.json"),
    )
    .unwrap();
    fs::write(folder.path().join("comparison.json"), "{\"schema\"").unwrap();
    let args = ["report", "--write", &*folder.path().to_string_lossy()];
    let shown = ended(wirebench(&args).current_dir(repository()));
    assert_eq!(shown.code, 1);
    assert!(
        shown.stdout.contains("start-up") && shown.stderr.contains("comparison.json: is cut off"),
        "{}",
        shown.stderr
    );
    assert!(!folder.path().join("comparison.md").exists());
}
