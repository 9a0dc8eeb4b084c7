//! Limits of a scenario: judged with their interval, shown with the run, and a broken one fails the gate.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, run_folder};

fn project(limits: &str) -> Bench {
    Bench::new()
        .file(
            "scenarios/ask.toml",
            &format!("about = \"test\"\noperation = \"ask\"\nload = {{ connections = 1, requests = 200 }}\nlimits = {limits}\n"),
        )
        .server("py", "ok", "")
        .driver("fake", "ok")
}

#[test]
fn a_broken_limit_fails_the_gate_of_a_run_without_a_baseline() {
    let bench = project(r#"["p99 < 1ns", "p50 < 10s", "throughput > 1/s"]"#);
    let ended = bench.run(&["run", "--rounds", "6"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("Limits: 1 broken, 2 hold"), "{}", ended.stdout);
    let report = fs::read_to_string(run_folder(&bench.path("results")).join("report.md")).unwrap();
    assert!(
        report.contains("| ✗ broken | `ask@py@fake` | latency p99 at most 1.00 ns |"),
        "{report}"
    );
    let gate = bench.run(&["gate"]);
    assert_eq!(gate.code, 3, "{}{}", gate.stdout, gate.stderr);
    assert!(gate.stdout.starts_with("Limits: 1 broken"), "{}", gate.stdout);
    let json: Value = serde_json::from_str(&bench.run(&["gate", "--json"]).stdout).unwrap();
    assert_eq!(json[0]["verdict"], "broken");
}

#[test]
fn limits_that_hold_pass_and_too_few_rounds_leave_them_open() {
    let bench = project(r#"["p50 < 10s"]"#);
    assert_eq!(bench.run(&["run", "--rounds", "6"]).code, 0);
    assert_eq!(bench.run(&["gate"]).code, 0);
    let bench = project(r#"["p99 < 1ns"]"#);
    let ended = bench.run(&["run", "--rounds", "2"]);
    assert!(
        ended.stdout.contains("only 2 good rounds, 6 are needed"),
        "{}",
        ended.stdout
    );
    assert_eq!(bench.run(&["gate"]).code, 0, "what cannot be told fails nothing");
}

#[test]
fn a_limit_on_a_series_without_a_good_round_is_not_judged() {
    let bench = project(r#"["p50 < 10s"]"#).server("py", "dies-early", "");
    assert_eq!(bench.run(&["run", "--rounds", "6"]).code, 1);
    let gate = bench.run(&["gate"]);
    assert_eq!(gate.code, 4, "{}", gate.stdout);
    assert!(gate.stdout.contains("Not judged: ask@py@fake: "), "{}", gate.stdout);
    assert!(gate.stdout.contains("no configuration found"), "{}", gate.stdout);
    assert_eq!(bench.run(&["gate", "--fail-on", "regressed"]).code, 0);
}

#[test]
fn a_broken_limit_is_in_the_comparison_beside_its_verdict() {
    let bench = project(r#"["p99 < 1ns"]"#).commit("v1");
    let ended = bench.run(&["run", "--baseline", "v1", "--measure-identical", "--rounds", "8"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("1 of 1 limit is broken"), "{}", ended.stdout);
    let gate = bench.run(&["gate"]);
    assert_eq!(gate.code, 3, "{}", gate.stdout);
    let comment = fs::read_to_string(run_folder(&bench.path("results")).join("comparison.md")).unwrap();
    assert!(comment.starts_with("### wirebench: ✗ "), "{comment}");
    assert!(comment.contains("Limits: 1 broken"), "{comment}");
}

#[test]
fn a_limit_that_is_none_is_refused_with_file_and_key() {
    let ended = project(r#"["p99 < 50ms", "p99 > 1ms"]"#).run(&["list"]);
    assert_eq!(ended.code, 2);
    let expected = "scenarios/ask.toml: limits[1]: expected p99 < …, as less is better";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}
