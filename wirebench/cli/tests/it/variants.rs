//! Two or three variants in one run: in which order they are measured, what is recorded, what only one side has.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::bench::{Bench, series};

/// A project whose first commit is `v1` and whose second, with another server argument, is `v2`.
pub(crate) fn two_revisions() -> Bench {
    Bench::new()
        .server("py", "ok", "")
        .driver("fake", "ok")
        .commit("v1")
        .server("py", "ok", "env = { SECOND = \"yes\" }")
        .commit("v2")
}

pub(crate) fn rounds(series: &Value) -> &Vec<Value> {
    series["rounds"].as_array().unwrap()
}

pub(crate) fn of<'a>(series: &'a Value, variant: &str) -> Vec<&'a Value> {
    let all = rounds(series).iter();
    all.filter(|round| round["variant"] == variant).collect()
}

pub(crate) fn variant<'a>(record: &'a Value, name: &str) -> &'a Value {
    let mut all = record["variants"].as_array().unwrap().iter();
    all.find(|one| one["variant"] == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

/// The rounds with one number lie side by side and hold each variant once, the null in between now and then; returns which
/// one came first, by pair.
#[track_caller]
pub(crate) fn firsts(series: &Value, variants: usize) -> Vec<String> {
    let by_position: Vec<&Value> = rounds(series)
        .iter()
        .filter(|round| round["variant"] != "null")
        .collect();
    let mut firsts = Vec::new();
    for pair in by_position.chunks(variants) {
        let position = |round: &Value| round["position"].as_u64().unwrap();
        let seen: BTreeSet<&str> = pair.iter().map(|round| round["variant"].as_str().unwrap()).collect();
        assert_eq!(seen.len(), variants, "{pair:?}");
        assert!(pair.iter().all(|round| round["round"] == pair[0]["round"]), "{pair:?}");
        let apart = position(pair[variants - 1]) - position(pair[0]);
        assert!((variants as u64 - 1..=variants as u64).contains(&apart), "{pair:?}");
        firsts.push(pair[0]["variant"].as_str().unwrap().to_owned());
    }
    firsts
}

#[test]
fn two_revisions_are_measured_in_pairs_and_the_checkout_is_left_alone() {
    let bench = two_revisions();
    fs::write(bench.path("scenarios/ask.toml.orig"), "untracked").unwrap();
    fs::write(bench.path(".git/hooks/post-checkout"), "#!/bin/sh\ntouch hooked\n").unwrap();
    let before = (bench.git(&["status", "--porcelain"]), bench.git(&["branch", "--all"]));
    let index = fs::read(bench.path(".git/index")).unwrap();

    let ended = bench.run(&[
        "run",
        "--baseline",
        "v1",
        "--candidate",
        "main",
        "--rounds",
        "8",
        "--seed",
        "3",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(
        before,
        (bench.git(&["status", "--porcelain"]), bench.git(&["branch", "--all"]))
    );
    assert_eq!(index, fs::read(bench.path(".git/index")).unwrap());
    assert!(!bench.path("hooked").exists());

    let record = bench.record();
    let found = series(&record, "ask@py@fake");
    assert_eq!(found["status"], "ok", "{found}");
    let first: BTreeSet<String> = firsts(found, 2).into_iter().collect();
    assert_eq!(first.len(), 2, "one side was always first");
    assert!(of(found, "baseline").len() >= 8 && of(found, "candidate").len() >= 8);
    assert!(found["baseline_digest"].is_string(), "its environment is another one");

    for (name, tag) in [("baseline", "v1"), ("candidate", "v2")] {
        let told = variant(&record, name);
        assert_eq!(told["commit"], bench.git(&["rev-parse", tag]));
        assert_eq!(told["modified"], false);
        assert_eq!(
            told["committed_at"],
            bench.git(&["show", "--no-patch", "--format=%cI", tag])
        );
    }
    assert_eq!(variant(&record, "candidate")["name"], "main");
    assert_eq!(record["stages"][0]["rounds"], 8);
    assert_eq!(record["stages"][0]["series"][0], "ask@py@fake");
    let repeat = record["repeat"].as_str().unwrap();
    assert!(
        repeat.contains("--baseline ") && repeat.contains("--candidate "),
        "{repeat}"
    );
    for said in ["stage 1/2: screen of every series", "stage 1/2 screen · round 2/8 · "] {
        assert!(ended.stderr.contains(said), "no {said:?} in {}", ended.stderr);
    }
}

#[test]
fn servers_that_only_one_side_has_are_named_and_fail_nothing() {
    let bench = Bench::new()
        .server("both", "ok", "")
        .server("old", "ok", "")
        .driver("fake", "ok")
        .commit("v1")
        .server("new", "ok", "");
    fs::remove_dir_all(bench.path("servers/old")).unwrap();
    let ended = bench.run(&["run", "--baseline", "v1", "--rounds", "2"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    assert_eq!(record["status"], "complete");
    firsts(series(&record, "ask@both@fake"), 2);

    let added = series(&record, "ask@new@fake");
    assert_eq!(
        (&added["missing_in"], &added["status"]),
        (&"baseline".into(), &"ok".into())
    );
    assert_eq!(of(added, "candidate").len(), 2);
    assert_eq!(rounds(added).len(), 2);

    let removed = series(&record, "ask@old@fake");
    assert_eq!(
        (&removed["missing_in"], &removed["status"]),
        (&"candidate".into(), &"ok".into())
    );
    assert!(rounds(removed).is_empty());
}

#[test]
fn a_baseline_from_before_there_were_servers_leaves_the_candidate_alone() {
    let bench = Bench::new()
        .commit("v0")
        .server("py", "ok", "")
        .driver("fake", "ok")
        .commit("v1");
    let ended = bench.run(&["run", "--baseline", "v0", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("declares no servers yet"), "{}", ended.stderr);
    let record = bench.record();
    let found = series(&record, "ask@py@fake");
    assert_eq!(found["missing_in"], "baseline");
    assert_eq!(rounds(found).len(), 1);

    let ended = bench.run(&["run", "--baseline", "v1", "--candidate", "v0"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("the candidate declares none"), "{}", ended.stderr);
}

#[test]
fn a_baseline_whose_declarations_are_wrong_is_named() {
    let bench = Bench::new()
        .server("py", "ok", "")
        .driver("fake", "ok")
        .file("servers/py/server.toml", "nonsense = 1\n")
        .commit("v1")
        .server("py", "ok", "");
    let ended = bench.run(&["run", "--baseline", "v1", "--rounds", "3"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let record = bench.record();
    let found = series(&record, "ask@py@fake");
    assert_eq!(found["status"], "failed");
    let reason = found["reason"].as_str().unwrap();
    assert!(
        reason.contains("baseline v1 (") && reason.contains("server.toml"),
        "{reason}"
    );
    // Without a baseline there is nothing to compare with: after two failures in a row the series is left alone.
    assert_eq!(of(found, "baseline").len(), 2);
    assert!(of(found, "candidate").len() <= 2);
}

#[test]
fn what_was_not_asked_for_is_not_told_as_removed() {
    let bench = two_revisions();
    let text = fs::read_to_string(bench.path("wirebench.toml")).unwrap();
    let bench = bench
        .file("wirebench.toml", &text.replace("enabled = false", "enabled = true"))
        .commit("v3");
    let ended = bench.run(&[
        "run",
        "--baseline",
        "v3",
        "--candidate",
        "v3",
        "--only",
        "timings",
        "--rounds",
        "1",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let all = bench.record()["series"].as_array().unwrap().len();
    assert_eq!(all, 1, "count-ask@py@fake is declared on both sides");
}
