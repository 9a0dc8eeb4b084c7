//! A history through the command line: runs go in, summaries come out, broken files cost nothing else.

use std::fs;
use std::process::Child;

use serde_json::{Value, json};

use crate::made::{Place, assert_fits, files, history, plain};

#[test]
fn a_run_is_one_file_and_appending_it_again_changes_nothing() {
    let place = Place::new();
    let name = place.record("r", &plain(3).record());
    let first = place.run(&["history", "append", &name, "--to", "h"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let file = place
        .path("h/runs/2026/11")
        .join(format!("{}-{}.json", &plain(3).commit()[..12], plain(3).id()));
    assert_eq!(
        first.stdout.trim(),
        format!("h/runs/2026/11/{}", file.file_name().unwrap().to_string_lossy())
    );
    let content = fs::read(&file).unwrap();
    let again = place.run(&["history", "append", "r/run.json", "--to", "h"]);
    assert_eq!(again.code, 0);
    assert!(again.stderr.contains("already there"), "{}", again.stderr);

    let mut edited = plain(3).record();
    edited["seed"] = json!(1);
    place.record("r", &edited);
    let refused = place.run(&["history", "append", "r", "--to", "h"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("other content"), "{}", refused.stderr);
    assert_eq!(fs::read(&file).unwrap(), content);
    assert_eq!(files(&place.path("h")), ["runs"]);
    assert_eq!(files(file.parent().unwrap()).len(), 1, "nothing is left behind");
}

#[test]
fn a_run_that_stands_for_no_commit_is_refused_with_the_reason() {
    let place = Place::new();
    let with = |key: &str, value: Value| {
        let mut run = plain(1).record();
        let of_series = key == "injected_burn_ns";
        let place_of_key = if of_series {
            &mut run["series"][0]
        } else {
            &mut run["variants"][0]
        };
        place_of_key[key] = value;
        place.record("r", &run);
        place.run(&["history", "append", "r", "--to", "h"])
    };
    for (key, value, reason) in [
        ("commit", json!(null), "no commit"),
        ("commit", json!("main"), "hex digits"),
        ("injected_burn_ns", json!(1000), "self-test"),
        ("modified", json!(true), "--allow-modified"),
    ] {
        let ended = with(key, value);
        assert_eq!(ended.code, 1);
        assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    }
    assert!(!place.path("h").exists());
    let ended = place.run(&["history", "append", "r", "--to", "h", "--allow-modified"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

#[test]
fn appends_at_the_same_time_lose_nothing() {
    let place = Place::new();
    let names: Vec<String> = (0..6)
        .map(|number| place.record(&format!("r{number}"), &plain(number / 2).record()))
        .collect();
    let children: Vec<Child> = names
        .iter()
        .map(|name| place.start(&["history", "append", name, "--to", "h"]))
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(files(&place.path("h/runs/2026/11")).len(), 3);
}

#[test]
fn months_are_written_when_their_files_changed_and_give_the_same_trend() {
    let place = Place::new();
    for made in history(16, 8) {
        place.append(&made);
    }
    let (_, before) = place.trend(&[]);
    let index = place.run(&["history", "index", "h"]);
    assert_eq!(
        (index.code, index.stdout.as_str()),
        (0, "2026-11 16 runs\n"),
        "{}",
        index.stderr
    );
    let month: Value = serde_json::from_slice(&fs::read(place.path("h/months/2026-11.json")).unwrap()).unwrap();
    assert_fits("history-month.v1.schema.json", &month);
    assert_eq!(place.trend(&[]).1, before);
    assert_eq!(place.run(&["history", "index", "h"]).stdout, "");

    place.append(&history(17, 8)[16]);
    let trend = place.run(&["history", "trend", "h"]);
    assert!(trend.stderr.contains("1 runs were read one by one"), "{}", trend.stderr);
    assert_eq!(place.trend(&[]).1["runs"], 17);
    assert_eq!(place.run(&["history", "index", "h"]).stdout, "2026-11 17 runs\n");
}

#[test]
fn one_broken_file_is_named_and_costs_nothing_else() {
    let place = Place::new();
    for made in history(4, 9) {
        place.append(&made);
    }
    let folder = place.path("h/runs/2026/11");
    let whole = fs::read(folder.join(&files(&folder)[0])).unwrap();
    fs::write(folder.join("bad-cut.json"), &whole[..whole.len() / 2]).unwrap();
    fs::write(folder.join("bad-new.json"), r#"{"schema":"wirebench.run/v2","id":"x"}"#).unwrap();
    for args in [
        ["history", "trend", "h"],
        ["history", "index", "h"],
        ["history", "index", "h"],
        ["history", "trend", "h"],
    ] {
        let ended = place.run(&args);
        assert_eq!(ended.code, 1, "{args:?}");
        for needed in ["bad-cut.json", "cut off", "bad-new.json", "wirebench.run/v2"] {
            assert!(ended.stderr.contains(needed), "{args:?}: {}", ended.stderr);
        }
    }
    let (code, trend) = place.trend(&[]);
    assert_eq!((code, &trend["runs"]), (1, &json!(4)));
    assert_eq!(trend["skipped"].as_array().unwrap().len(), 2);

    // A summary that is broken is named too, and the runs are read instead.
    fs::remove_file(folder.join("bad-cut.json")).unwrap();
    fs::remove_file(folder.join("bad-new.json")).unwrap();
    fs::write(
        place.path("h/months/2026-11.json"),
        "{\"schema\":\"wirebench.history-month/v1\",",
    )
    .unwrap();
    let (code, trend) = place.trend(&[]);
    assert_eq!((code, &trend["runs"]), (1, &json!(4)));
    assert!(trend["skipped"][0].as_str().unwrap().contains("months/2026-11.json"));
    assert_eq!(place.run(&["history", "index", "h"]).code, 0);
    assert_eq!(place.trend(&[]).0, 0);
}

#[test]
fn a_folder_without_a_history_is_said_to_be_none() {
    let place = Place::new();
    let ended = place.run(&["history", "trend", "nowhere"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("history append"), "{}", ended.stderr);
    let ended = place.run(&["history", "append", "--to", "h"]);
    assert_eq!(ended.code, 2, "without a run there must be a project");
}

#[test]
fn a_run_file_that_was_cut_off_after_indexing_is_named_by_the_next_index() {
    let place = Place::new();
    for made in history(6, 9) {
        place.append(&made);
    }
    assert_eq!(place.run(&["history", "index", "h"]).code, 0);
    let folder = place.path("h/runs/2026/11");
    let file = folder.join(&files(&folder)[3]);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let index = place.run(&["history", "index", "h"]);
    assert!(index.stderr.contains("may be cut off"), "{}", index.stderr);
    assert_eq!(index.stdout, "2026-11 5 runs\n");
}
