//! A run split over several machines and joined again, through the real command line.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::bench::{Bench, Ended, assert_fits, assert_fits_schema, run_folder, series};

/// Two revisions of two servers, asked by one driver.
fn project() -> Bench {
    Bench::new()
        .server("one", "ok", "")
        .server("two", "ok", "")
        .driver("fake", "ok")
        .commit("v1")
        .commit("v2")
}

fn read(file: PathBuf) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// Measures a shard into a folder of its own.
fn measured(bench: &Bench, (number, count): (u32, u32), more: &[&str]) -> Ended {
    let (shard, out) = (format!("{number}/{count}"), format!("out-{number}"));
    let seed = number.to_string();
    let args = ["run", "--shard", &shard, "--out", &out, "--seed", &seed];
    bench.run(&[&args, more].concat())
}

fn folder(bench: &Bench, number: u32) -> String {
    run_folder(&bench.path(&format!("out-{number}")))
        .to_string_lossy()
        .into_owned()
}

fn ids(value: &Value) -> Vec<String> {
    let all = value["series"].as_array().unwrap().iter();
    all.map(|one| one.as_str().or(one["id"].as_str()).unwrap().to_owned())
        .collect()
}

#[test]
fn what_two_machines_measured_is_one_run() {
    let bench = project();
    for (number, id) in [(1, "ask@one@fake"), (2, "ask@two@fake")] {
        let compare = [
            "--baseline",
            "v1",
            "--candidate",
            "v2",
            "--rounds",
            "2",
            "--measure-identical",
        ];
        let ended = measured(&bench, (number, 2), &compare);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let record = read(PathBuf::from(folder(&bench, number)).join("run.json"));
        assert_eq!(ids(&record), [id]);
        let repeat = record["repeat"].as_str().unwrap();
        assert!(repeat.contains(&format!("--shard {number}/2 ")), "{repeat}");
    }
    let shards = [folder(&bench, 1), folder(&bench, 2)];
    let merged = bench.run(&["merge", &shards[0], &shards[1]]);
    assert_eq!(merged.code, 0, "{}", merged.stderr);
    let record = bench.record();
    assert_eq!(ids(&record), ["ask@one@fake", "ask@two@fake"]);
    for (number, shard) in shards.iter().enumerate() {
        let own = read(PathBuf::from(shard).join("run.json"));
        assert_eq!(record["series"][number], own["series"][0], "every round is kept");
        assert_eq!(record["shards"][number]["run"], own["id"]);
        assert_eq!(record["shards"][number]["seed"], own["seed"]);
    }
    assert_eq!(record["stages"][0]["series"], json!(["ask@one@fake", "ask@two@fake"]));
    let repeat = record["repeat"].as_str().unwrap();
    assert!(!repeat.contains("shard") && repeat.contains("--baseline "), "{repeat}");

    let whole = run_folder(&bench.path("results"));
    let comparison = read(whole.join("comparison.json"));
    assert_fits("comparison.v2.schema.json", &comparison);
    assert_eq!(comparison["series"].as_array().unwrap().len(), 2);
    let notes = comparison["notes"].as_array().unwrap();
    assert!(
        notes.contains(&json!({"kind": "several_machines", "machines": 2, "kinds": 1})),
        "{notes:?}"
    );
    let report = fs::read_to_string(whole.join("report.md")).unwrap();
    assert!(report.contains("- shard 2 of 2, run `"), "{report}");

    let again = bench.run(&["merge", &shards[1], &shards[0]]);
    assert!(
        again.code == 1 && again.stderr.contains("were joined before"),
        "{}",
        again.stderr
    );
    let name = whole.to_string_lossy().into_owned();
    for args in [
        &["history", "append", &name, "--to", "h", "--allow-modified"][..],
        &["history", "index", "h"],
        &["history", "trend", "h", "--json"],
        &["report", &name],
        &["site", "build", "h", "--out", "_site"],
    ] {
        let ended = bench.run(args);
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn overlaps_and_gaps_are_refused_and_nothing_is_written() {
    let bench = project();
    for number in [1, 2] {
        let ended = measured(&bench, (number, 2), &[]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
    let [one, two] = [folder(&bench, 1), folder(&bench, 2)];
    let whole = bench.run(&["run", "--out", "whole"]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    let whole = run_folder(&bench.path("whole")).to_string_lossy().into_owned();
    for (args, why) in [
        (&["merge", &one, &whole][..], "another shard has ask@one@fake too"),
        (&["merge", &one, &one], "another shard has ask@one@fake too"),
        (
            &["merge", &one],
            "no run is of shard 2/2; give the folder of every shard",
        ),
        (&["merge", &one, "nowhere"], "nowhere/run.json: cannot be read"),
    ] {
        let ended = bench.run(args);
        assert!(
            ended.code == 1 && ended.stderr.contains(why),
            "{args:?}: {}",
            ended.stderr
        );
        assert!(!bench.path("results").exists(), "{args:?} left something behind");
    }
    let other = bench.run(&["merge", &two, &one, "--out", "other"]);
    assert_eq!(other.code, 0, "{}", other.stderr);
}

#[test]
fn a_shard_that_did_not_end_is_joined_and_told() {
    let bench = project();
    for number in [1, 2] {
        measured(&bench, (number, 2), &[]);
    }
    let file = PathBuf::from(folder(&bench, 2)).join("run.json");
    let mut run = read(file.clone());
    (run["status"], run["reason"]) = (json!("incomplete"), json!("interrupted"));
    fs::write(&file, run.to_string()).unwrap();
    let ended = bench.run(&["merge", &folder(&bench, 1), &folder(&bench, 2)]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let record = bench.record();
    assert_eq!(record["status"], "incomplete");
    assert_eq!(record["reason"], "shard 2 of 2: interrupted");
    assert_eq!(series(&record, "ask@one@fake")["status"], "ok");
}

#[test]
#[ignore = "nightly"]
fn a_shard_without_a_series_is_a_complete_run() {
    let bench = project();
    let empty = measured(&bench, (3, 3), &["--baseline", "v1"]);
    assert_eq!(empty.code, 0, "{}", empty.stderr);
    let record = read(PathBuf::from(folder(&bench, 3)).join("run.json"));
    assert_fits_schema(&record);
    assert_eq!((&record["status"], &record["series"]), (&json!("complete"), &json!([])));
    // What globs select is distributed, here one series over two machines.
    let narrowed = measured(&bench, (2, 2), &["--server", "two"]);
    assert_eq!(narrowed.code, 0, "{}", narrowed.stderr);
    assert_eq!(
        read(PathBuf::from(folder(&bench, 2)).join("run.json"))["series"],
        json!([])
    );
}

#[test]
#[ignore = "nightly"]
fn what_only_the_baseline_has_is_recorded_by_the_first_shard() {
    let bench = Bench::new()
        .server("one", "ok", "")
        .server("old", "ok", "")
        .server("two", "ok", "")
        .driver("fake", "ok")
        .commit("v1");
    fs::remove_dir_all(bench.path("servers/old")).unwrap();
    for number in [1, 2] {
        let ended = measured(&bench, (number, 2), &["--baseline", "v1", "--rounds", "1"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
    let ended = bench.run(&["merge", &folder(&bench, 1), &folder(&bench, 2)]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    assert_eq!(ids(&record), ["ask@one@fake", "ask@two@fake", "ask@old@fake"]);
    assert_eq!(series(&record, "ask@old@fake")["missing_in"], "candidate");
}
