//! The self-test: rates from a model, from recorded rounds, and from rounds measured here.

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

fn rate(totals: &Value) -> f64 {
    totals["rate"].as_f64().unwrap()
}

#[test]
fn the_model_flags_equal_code_in_at_most_one_comparison_in_a_hundred() {
    let equal = totals(&["--simulate", "3%", "--runs", "2000"]).remove(0);
    assert_eq!(equal["comparisons"], 2000);
    let flagged = equal["flagged"].as_u64().unwrap() + equal["improved"].as_u64().unwrap();
    assert!(flagged <= 20, "{equal}");
    assert!(equal["rate_high"].as_f64().unwrap() < 0.02, "{equal}");
}

/// The published power of the rule at c = 3 %: within three points of it.
fn assert_published(power: &[(&str, f64)]) {
    for (slower, published) in power {
        let found = totals(&["--simulate", "3%", "--runs", "1000", "--inject", slower]).remove(0);
        assert!((rate(&found) - published).abs() <= 0.03, "{slower}: {found}");
    }
}

#[test]
fn the_model_finds_slower_code_as_often_as_published() {
    assert_published(&[("3%", 0.54), ("5%", 0.985)]);
}

#[test]
#[ignore = "nightly"]
fn the_model_finds_slightly_and_much_slower_code_as_often_as_published() {
    assert_published(&[("2%", 0.14), ("10%", 0.998)]);
}

#[test]
fn one_seed_gives_one_answer() {
    let args = ["--simulate", "5%", "--runs", "50", "--inject", "5%"];
    assert_eq!(totals(&args), totals(&args));
}

/// The committed rounds: equal code is flagged as rarely as promised, burnt CPU is found.
#[test]
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
