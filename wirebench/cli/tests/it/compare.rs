//! Runs judged through the command line: what is regressed, what cannot be said, and what is refused.

use std::fs;
use std::path::PathBuf;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tempfile::TempDir;
use wirebench_record::run::{Run, Variant};
use wirebench_testing::simulated::{empty_run, round};

use crate::bench::{Ended, ended, wirebench};
use crate::github::golden::assert_admitted;

/// Records in a folder outside any project.
pub(crate) struct Records {
    pub(crate) folder: TempDir,
}

impl Records {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Writes a record and returns its file.
    pub(crate) fn file(&self, name: &str, record: &Value) -> PathBuf {
        let folder = self.folder.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("run.json");
        fs::write(&file, record.to_string()).unwrap();
        file
    }

    pub(crate) fn command(&self, words: &[&str], files: &[&PathBuf]) -> Ended {
        let mut command = wirebench(words);
        ended(command.args(files).current_dir(self.folder.path()))
    }

    /// Judges one record; the comparison that was written beside it, checked against its schema
    /// and against what a second stage admits.
    pub(crate) fn judged(&self, record: &Value) -> Value {
        let file = self.file("run", record);
        let done = self.command(&["compare"], &[&file]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let comparison = serde_json::from_slice(&fs::read(file.with_file_name("comparison.json")).unwrap()).unwrap();
        crate::bench::assert_fits("comparison.v2.schema.json", &comparison);
        assert_admitted(&comparison);
        comparison
    }

    /// What comparing these records says when it refuses.
    fn refused(&self, files: &[&PathBuf]) -> String {
        let done = self.command(&["compare"], files);
        assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
        done.stderr
    }

    pub(crate) fn gate(&self) -> i32 {
        self.command(&["gate"], &[&self.folder.path().join("run")]).code
    }
}

/// A run of one scenario on a quiet machine: `first` rounds of each variant in stage 1, `second` in stage 2.
pub(crate) fn run(worse: f64, first: u32, second: u32) -> Value {
    serde_json::to_value(noisy(0.01, worse, first, second)).unwrap()
}

/// The same with values that spread by `c`, as a share.
pub(crate) fn noisy(c: f64, worse: f64, first: u32, second: u32) -> Run {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut run = empty_run(1);
    for number in 0..first + second {
        let stage = if number < first { 1 } else { 2 };
        for (variant, worse) in [(Variant::Baseline, 0.0), (Variant::Candidate, worse)] {
            // The sum of twelve such numbers has a standard deviation of 1.
            let mut noise = || (0..12).map(|_| random.random_range(-0.5..0.5)).sum::<f64>();
            let bad = [(); 4].map(|()| f64::ln_1p(worse) + c * noise());
            run.series[0].rounds.push(round(variant, number, stage, 100_000, bad));
        }
    }
    run
}

fn rounds(record: &mut Value) -> &mut Vec<Value> {
    record["series"][0]["rounds"].as_array_mut().unwrap()
}

/// The server's CPU in a comparison of one series.
pub(crate) fn cpu(comparison: &Value) -> &Value {
    let metrics = comparison["series"][0]["metrics"].as_array().unwrap();
    metrics.iter().find(|one| one["metric"] == "server_cpu").unwrap()
}

#[test]
fn a_slower_candidate_is_regressed_and_fails_the_gate_unless_it_is_meant() {
    let records = Records::new();
    let mut slower = run(0.10, 10, 20);
    let comparison = records.judged(&slower);
    assert_eq!(
        (&comparison["verdict"], &cpu(&comparison)["stage"]),
        (&json!("regressed"), &json!(2))
    );
    let effect = cpu(&comparison)["effect_percent"].as_f64().unwrap();
    assert!((effect - 10.0).abs() < 2.0, "{effect}");
    assert_eq!(records.gate(), 3);

    let entry = |at_most: f64| json!([{"series": "scenario-*", "metric": "server_cpu", "at_most_percent": at_most, "reason": "wanted"}]);
    slower["accepted"] = entry(15.0);
    let comparison = records.judged(&slower);
    assert_eq!(cpu(&comparison)["accepted"], "wanted");
    assert_ne!(comparison["verdict"], "regressed");
    assert_eq!(records.gate(), 0);

    slower["accepted"] = entry(5.0);
    assert_eq!(
        records.judged(&slower)["verdict"],
        "regressed",
        "larger than what was meant"
    );
}

#[test]
fn a_faster_candidate_is_improved_and_an_equal_one_unchanged() {
    let records = Records::new();
    assert_eq!(records.judged(&run(-0.10, 10, 20))["verdict"], "improved");
    let equal = records.judged(&run(0.0, 14, 0));
    assert_eq!(equal["verdict"], "unchanged");
    assert!(cpu(&equal)["worse_at_most_percent"].as_f64().unwrap() < 5.0);
    assert_eq!(records.gate(), 0);
}

#[test]
fn a_suspicion_without_fresh_rounds_is_neither_regressed_nor_unchanged() {
    let records = Records::new();
    let comparison = records.judged(&run(0.10, 10, 0));
    assert_eq!(comparison["verdict"], "inconclusive");
    assert_eq!(cpu(&comparison)["reason"]["kind"], "unconfirmed", "{comparison:#}");
}

#[test]
fn too_few_rounds_are_inconclusive_and_no_good_rounds_invalid() {
    let records = Records::new();
    let comparison = records.judged(&run(0.0, 5, 0));
    assert_eq!(comparison["verdict"], "inconclusive");
    let reason = &cpu(&comparison)["reason"];
    assert_eq!(
        (&reason["kind"], &reason["needed"]),
        (&json!("too_few_pairs"), &json!(8)),
        "{comparison:#}"
    );

    let mut broken = run(0.0, 10, 0);
    for round in rounds(&mut broken)
        .iter_mut()
        .filter(|round| round["variant"] == "candidate")
    {
        round["status"] = json!("invalid");
        round["reason"] = json!("7 of 100 requests failed");
    }
    let comparison = records.judged(&broken);
    assert_eq!(
        (&comparison["verdict"], &comparison["series"][0]["verdict"]),
        (&json!("invalid"), &json!("invalid"))
    );
    assert_eq!(
        comparison["series"][0]["reason"],
        json!({"kind": "no_good_round", "side": "candidate", "why": "7 of 100 requests failed"})
    );
    assert_eq!(records.gate(), 1);
}

#[test]
fn values_without_any_spread_are_judged_exactly() {
    let records = Records::new();
    for (candidate, verdict) in [(1_000_000_000_u64, "unchanged"), (1_030_000_000, "regressed")] {
        let mut record = run(0.0, 10, 20);
        for round in rounds(&mut record) {
            let cpu = if round["variant"] == "candidate" {
                candidate
            } else {
                1_000_000_000
            };
            round["server_cpu_ns"] = json!({"user": cpu, "system": 0});
        }
        let comparison = records.judged(&record);
        assert_eq!(
            (&comparison["verdict"], &cpu(&comparison)["spread_percent"]),
            (&json!(verdict), &json!(0.0))
        );
    }
}

#[test]
fn pairs_that_the_machine_disturbed_are_left_out_whichever_side_they_would_help() {
    let records = Records::new();
    let mut record = run(0.0, 12, 0);
    for round in rounds(&mut record)
        .iter_mut()
        .filter(|round| round["round"].as_u64().unwrap() < 2)
    {
        round["dropped"] = json!("steal 9.0 % of the CPUs' time");
    }
    assert_eq!(cpu(&records.judged(&record))["pairs"], 10);
}

#[test]
fn absurd_and_missing_values_leave_their_pair_out_and_a_wrong_kind_is_refused() {
    let records = Records::new();
    let mut record = run(0.0, 12, 0);
    rounds(&mut record)[0]["server_cpu_ns"] = json!({"user": 0, "system": 0});
    rounds(&mut record)[2]["server_cpu_ns"] = json!(null);
    rounds(&mut record)[4]["server_cpu_ns"] = json!({"user": u64::MAX / 2, "system": 0});
    let comparison = records.judged(&record);
    assert_eq!(cpu(&comparison)["pairs"], 10);
    assert_eq!(comparison["verdict"], "unchanged", "one absurd round changes nothing");

    rounds(&mut record)[6]["server_cpu_ns"] = json!({"user": -5, "system": 0});
    let file = records.file("negative", &record);
    let error = records.refused(&[&file]);
    assert!(error.contains("run.json") && error.contains("-5"), "{error}");
}

#[test]
fn what_is_no_whole_record_of_this_schema_is_refused_and_left_as_it_was() {
    let records = Records::new();
    let whole = run(0.0, 10, 0);
    let mut newer = whole.clone();
    newer["schema"] = json!("wirebench.run/v2");
    let newer = records.file("newer", &newer);
    assert!(records.refused(&[&newer]).contains("wirebench.run/v2"));

    let cut = records.file("cut", &whole);
    let text = fs::read(&cut).unwrap();
    fs::write(&cut, &text[..text.len() / 2]).unwrap();
    assert!(records.refused(&[&cut]).contains("cut off"));
    assert_eq!(fs::read(&cut).unwrap(), text[..text.len() / 2]);

    let mut alone = whole;
    alone["variants"].as_array_mut().unwrap().remove(0);
    let alone = records.file("alone", &alone);
    assert!(records.refused(&[&alone]).contains("wirebench run --baseline"));
}

#[test]
fn two_runs_are_shown_beside_each_other_and_never_judged() {
    let records = Records::new();
    let mut after = run(0.5, 20, 0);
    after["id"] = json!("after");
    after["host"]["fingerprint"] = json!("abcdefabcdef");
    let (before, after) = (records.file("before", &run(0.0, 20, 0)), records.file("after", &after));
    let out = records.folder.path().join("comparison.json");
    let words = ["compare", "--out", out.to_str().unwrap()];
    let done = records.command(&words, &[&before, &after]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let comparison: Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    crate::bench::assert_fits("comparison.v2.schema.json", &comparison);
    assert_eq!(
        (&comparison["paired"], &comparison["verdict"]),
        (&json!(false), &json!("inconclusive"))
    );
    assert!(
        comparison["notes"].to_string().contains("different_machines"),
        "{comparison:#}"
    );
    assert!(cpu(&comparison)["effect_percent"].as_f64().unwrap() > 40.0);
}

#[test]
fn another_question_or_driver_is_never_compared_in_silence() {
    let records = Records::new();
    let mut before = run(0.0, 10, 0);
    before["series"][0]["command"] = json!(["hey"]);
    before["tools"] = json!([{"name": "hey", "version": "0.1.4"}]);
    let mut other_driver = before.clone();
    other_driver["tools"][0]["version"] = json!("0.1.5");
    let mut other_question = before.clone();
    other_question["series"][0]["digest"] = json!("ffffffffffff");
    let mut other_series = before.clone();
    other_series["series"][0]["id"] = json!("scenario-9@simulated@simulated");
    let before = records.file("before", &before);
    for (name, after, word) in [
        ("driver", other_driver, "0.1.4 against 0.1.5"),
        ("question", other_question, "different digests"),
        ("series", other_series, "scenario-9@simulated@simulated"),
    ] {
        let after = records.file(name, &after);
        let done = records.command(&["compare"], &[&before, &after]);
        let shown = format!("{}{}", done.stdout, done.stderr);
        assert!(shown.contains(word), "{name}: {shown}");
    }
}

#[test]
fn two_releases_are_found_in_a_history_by_their_commits() {
    let records = Records::new();
    let history = records.folder.path().join("data");
    for (commit, month, id) in [
        ("aaaaaaaaaaaa", "2026/09", "20260901T000000Z-000001"),
        ("aaaaaaaaaaaa", "2026/10", "20261001T000000Z-000001"),
        ("bbbbbbbbbbbb", "2026/10", "20261002T000000Z-000001"),
    ] {
        let mut record = run(0.0, 10, 0);
        record["id"] = json!(id);
        let folder = history.join("runs").join(month);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{commit}-{id}.json")), record.to_string()).unwrap();
    }
    let out = records.folder.path().join("comparison.json");
    let (history, out_text) = (history.to_str().unwrap(), out.to_str().unwrap());
    let words = [
        "compare",
        "--history",
        history,
        "--out",
        out_text,
        "aaaaaaaaaaaa0000",
        "bbbbbbbbbbbb0000",
    ];
    let done = records.command(&words, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let comparison: Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    assert_eq!(
        comparison["baseline"]["run"], "20261001T000000Z-000001",
        "the newest run of that commit"
    );
    assert_eq!(comparison["candidate"]["run"], "20261002T000000Z-000001");
    let unknown = records.command(&["compare", "--history", history, "cccccccccccc", "bbbbbbbbbbbb"], &[]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("cccccccccccc"), "{}", unknown.stderr);
}
