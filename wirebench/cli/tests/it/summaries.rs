//! `wirebench github summary`: what a workflow shows and passes on of a run.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wirebench_record::comparison::Comparison;

use crate::bench::{Bench, Ended, repository};

const RUN: &str = "results/20261121T080000Z-000001";

/// A project with one stored run, and with a comparison when one is named.
fn with(comparison: Option<&str>) -> Bench {
    let bench = Bench::new();
    let folder = bench.path(RUN);
    fs::create_dir_all(&folder).unwrap();
    fs::copy(repository().join("results/reference/run.json"), folder.join("run.json")).unwrap();
    if let Some(name) = comparison {
        fs::copy(golden(&format!("{name}.json")), folder.join("comparison.json")).unwrap();
    }
    bench
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/comparison/{name}"))
}

/// The command as a step of a workflow sees it: the job's summary and the outputs hold a line each already.
fn in_workflow(bench: &Bench, args: &[&str]) -> (Ended, String, String) {
    let [summary, output] = ["summary.md", "output"].map(|name| bench.path(name));
    fs::write(&summary, "earlier\n").unwrap();
    fs::write(&output, "earlier=1\n").unwrap();
    let environment = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_STEP_SUMMARY", &*summary.to_string_lossy()),
        ("GITHUB_OUTPUT", &*output.to_string_lossy()),
    ];
    let ended = bench.run_with(&[&["github", "summary"], args].concat(), &environment);
    (
        ended,
        fs::read_to_string(summary).unwrap(),
        fs::read_to_string(output).unwrap(),
    )
}

const OUTSIDE: [(&str, &str); 3] = [
    ("GITHUB_ACTIONS", ""),
    ("GITHUB_STEP_SUMMARY", ""),
    ("GITHUB_OUTPUT", ""),
];

#[test]
fn a_comparison_is_shown_passed_on_and_handed_to_the_second_stage() {
    let bench = with(Some("regressed"));
    let (ended, summary, output) = in_workflow(&bench, &["--artifact", "_artifact/new"]);
    assert_eq!(ended.code, 0, "whatever the verdict: {}", ended.stderr);
    assert_eq!(ended.stdout, "", "no commit is known, so no line is");
    let comment = fs::read_to_string(golden("regressed.md")).unwrap();
    let cost = "Minutes of 1 machine, without checkouts and installations: ";
    assert!(
        summary.starts_with(&format!("earlier\n{comment}\n\n{cost}")),
        "{summary}"
    );
    let cost = &summary[summary.find(cost).unwrap()..];
    assert!(
        ["(builds ", ", counting ", ", load ", ", other "]
            .iter()
            .all(|phase| cost.contains(phase)),
        "{cost}"
    );
    let folder = bench.path(RUN).canonicalize().unwrap();
    let folder = folder.display();
    assert_eq!(
        output,
        format!("earlier=1\nverdict=regressed\nrun={folder}\nreport={folder}/report.md\n")
    );
    let handed_on = bench.path("_artifact/new");
    assert_eq!(fs::read_dir(&handed_on).unwrap().count(), 1);
    let read = |folder: PathBuf| -> Comparison {
        serde_json::from_slice(&fs::read(folder.join("comparison.json")).unwrap()).unwrap()
    };
    assert!(
        read(handed_on) == read(bench.path(RUN)),
        "another comparison was handed on"
    );
}

#[test]
fn a_run_without_a_baseline_is_shown_without_pictures() {
    let bench = with(None);
    let (ended, summary, output) = in_workflow(&bench, &["--artifact", "_artifact"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(
        summary.contains("# wirebench run ") && !summary.contains("]("),
        "{summary}"
    );
    assert!(output.contains("\nverdict=none\n"), "{output}");
    assert!(!bench.path("_artifact").exists() && ended.stderr.contains("compares nothing"));
}

#[test]
fn outside_of_a_workflow_the_markdown_is_printed() {
    let bench = with(Some("counted-regressed"));
    let ended = bench.run_with(&["github", "summary", RUN], &OUTSIDE);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let shown = fs::read_to_string(golden("counted-regressed.md")).unwrap();
    assert!(ended.stdout.starts_with(&shown), "{}", ended.stdout);
}

#[test]
fn a_report_that_is_too_long_is_cut_at_a_row_and_says_so() {
    let bench = with(None);
    let file = bench.path(RUN).join("run.json");
    let mut run: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let series = run["series"][0].clone();
    let long = |n: u32| {
        let mut series = series.clone();
        series["id"] = json!(format!("many@http@driver-{n}"));
        series["driver"] = json!(format!("driver-{n}-{}", "x".repeat(100)));
        series["rounds"] = json!([]);
        series
    };
    run["series"] = (0..2000).map(long).collect();
    fs::write(&file, run.to_string()).unwrap();
    let (ended, summary, _) = in_workflow(&bench, &[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let (summary, _) = summary.split_once("\n\nMinutes of").unwrap();
    assert!(
        (200_000..=262_144 + 8).contains(&summary.len()),
        "{} bytes",
        summary.len()
    );
    let end: Vec<&str> = summary.lines().rev().take(3).collect();
    assert_eq!(end[0], "Cut to fit: all of it is in report.md of the run.");
    assert!(
        end[1].is_empty() && end[2].starts_with("| ") && end[2].ends_with(" |"),
        "{end:?}"
    );
}

#[test]
fn what_cannot_be_read_or_passed_on_is_refused() {
    let bench = with(Some("regressed"));
    let filled = bench.path("filled");
    fs::create_dir_all(&filled).unwrap();
    fs::write(filled.join("other"), "").unwrap();
    let (ended, ..) = in_workflow(&bench, &["--artifact", "filled"]);
    assert!(
        ended.code == 1 && ended.stderr.contains("exactly one file"),
        "{}",
        ended.stderr
    );
    let odd = bench.path("results/a\nverdict=unchanged");
    fs::create_dir_all(&odd).unwrap();
    fs::copy(bench.path(RUN).join("run.json"), odd.join("run.json")).unwrap();
    let (ended, _, output) = in_workflow(&bench, &[&odd.to_string_lossy()]);
    assert_eq!((ended.code, &*output), (1, "earlier=1\n"), "{}", ended.stderr);
    fs::write(bench.path(RUN).join("comparison.json"), "{\"schema\"").unwrap();
    let (ended, summary, _) = in_workflow(&bench, &[]);
    assert_eq!((ended.code, &*summary), (1, "earlier\n"), "{}", ended.stderr);
}

/// A regressed count whose functions lie on these lines of src/a.rs, between two commits that changed some of them.
fn on_lines(lines: &[u32]) -> Bench {
    let text = |what: &str| (1..=40).map(|n| format!("line {n}{what}\n")).collect::<Vec<_>>();
    let mut after = text("");
    for changed in [3, 4, 7, 9, 11, 13, 15, 17] {
        after[changed - 1] = format!("line {changed} changed\n");
    }
    let bench = with(Some("counted-regressed"))
        .file("src/a.rs", &text("").concat())
        .commit("before")
        .file("src/a.rs", &after.concat())
        .commit("after");
    let file = bench.path(RUN).join("comparison.json");
    let mut comparison: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    for (side, tag) in [("baseline", "before"), ("candidate", "after")] {
        comparison[side]["revision"]["commit"] = json!(bench.git(&["rev-parse", tag]));
    }
    let all = comparison["series"].as_array_mut().unwrap();
    let series = all
        .iter_mut()
        .find(|one| !one["functions"].as_array().unwrap().is_empty())
        .unwrap();
    let function = |line: &u32| {
        json!({"metric": "instructions", "function": format!("shop::price, {line}\n::error::x"), "baseline": 10.0,
               "candidate": 1000.0, "share_percent": 6.0, "source": {"file": "src/a.rs", "line": line}})
    };
    series["functions"] = lines.iter().map(function).collect();
    fs::write(&file, comparison.to_string()).unwrap();
    bench
}

#[test]
fn regressed_functions_are_pointed_at_where_the_change_touched_them() {
    let bench = on_lines(&[4, 4, 5]);
    let (ended, ..) = in_workflow(&bench, &[]);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 1, "{}{}", ended.stdout, ended.stderr);
    let start =
        "::warning file=src/a.rs,line=4,title=wirebench::shop::price, 4 ::error::x: +990 instructions per request";
    assert!(lines[0].starts_with(start), "{}", lines[0]);
    assert!(lines[0].contains(" on count-weather@"), "{}", lines[0]);
    let outside = bench.run_with(&["github", "summary"], &OUTSIDE);
    assert!(!outside.stdout.contains("::warning"), "{}", outside.stdout);
}

#[test]
fn at_most_five_lines_are_pointed_at() {
    let (ended, ..) = in_workflow(&on_lines(&[3, 4, 7, 9, 11, 13, 15]), &[]);
    assert_eq!(ended.stdout.lines().count(), 5, "{}", ended.stdout);
}
