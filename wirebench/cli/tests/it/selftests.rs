//! The self-test: rates from recorded rounds, and from rounds measured here.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, ended, repository, run_folder, wirebench};

/// The JSON lines a self-test prints.
#[track_caller]
fn totals(args: &[&str]) -> Vec<Value> {
    let mut command = wirebench(&["selftest"]);
    let done = ended(command.args(args).current_dir(repository()));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let lines = done.stdout.lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn one_seed_gives_one_answer() {
    let args = ["--from", "results/selftest/equal", "--runs", "50"];
    assert_eq!(totals(&args), totals(&args));
}

/// The committed rounds: equal code is flagged as rarely as promised, burnt CPU is found.
#[test]
#[ignore = "nightly"]
fn recorded_rounds_give_the_promised_rates() {
    let all = totals(&["--from", "results/selftest"]);
    assert_eq!(all.len(), 3, "{all:?}");
    for found in &all {
        let source = found["source"].as_str().unwrap();
        let (flagged, gated) = (found["flagged"].as_u64().unwrap(), found["gated"].as_u64().unwrap());
        if source.contains("equal code") {
            assert!(flagged <= 2, "{found}");
        } else {
            assert!(gated >= 180, "{found}");
        }
    }
}

#[test]
fn a_machine_tests_itself_and_the_rounds_are_kept() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok").commit("v1");
    let done = bench.run(&["selftest", "--rounds", "12", "--runs", "20"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let line: Value = serde_json::from_str(done.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(line["comparisons"], 20);
    let record = bench.record();
    assert_eq!(record["trigger"], "selftest");
    let rounds = record["series"][0]["rounds"].as_array().unwrap();
    assert!(rounds.len() >= 24, "{}", rounds.len());
    let kept = run_folder(&bench.path("results")).join("selftest.json");
    let kept: Value = serde_json::from_slice(&fs::read(kept).unwrap()).unwrap();
    assert_eq!(kept["comparisons"], 20);
    let refused = bench.run(&["selftest", "--from", "scenarios"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("wirebench selftest --profile"),
        "{}",
        refused.stderr
    );
}
