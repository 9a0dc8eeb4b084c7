//! Trends through the command line: steps, breaks, the order of commits, and what is accepted.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::bench::wirebench;
use crate::made::{HTTP, Made, Place, cpu_steps, files, history, plain, trace};

#[test]
fn a_step_is_found_on_ratios_although_the_machine_changes_more() {
    let place = Place::new();
    for made in history(24, 20) {
        place.append(&made);
    }
    let (code, trend) = place.trend(&["--fail-on-alert"]);
    assert_eq!(code, 3, "reported within the newest pushes");
    assert_eq!((&trend["alerts"], &trend["recent_alerts"]), (&json!(1), &json!(1)));
    assert_eq!(trace(&trend, "server_cpu")["basis"], "ratio");
    let steps = cpu_steps(&trend);
    let [step] = &steps[..] else { panic!("{steps:#?}") };
    let runs = history(24, 20);
    assert_eq!(step["last_before"]["commit"], runs[19].commit());
    assert_eq!(step["first_after"]["commit"], runs[20].commit());
    assert_eq!(step["direction"], "worse");
    assert!((step["change_percent"].as_f64().unwrap() - 10.0).abs() < 0.5, "{step}");
    let text = place.run(&["history", "trend", "h"]);
    assert_eq!(text.code, 0, "an alert alone is no failure");
    let line = text.stdout.lines().find(|line| line.contains("ALERT")).unwrap();
    assert!(
        line.contains("worse +") && line.contains(&runs[20].commit()[..12]),
        "{line}"
    );

    // With no push called new there is nothing to fail on.
    assert_eq!(place.trend(&["--newest", "0", "--fail-on-alert"]).0, 0);
    let (_, only) = place.trend(&["--series", "*@grpc@*"]);
    assert_eq!(only["traces"], json!([]));
    let (_, only) = place.trend(&["--metric", "throughput"]);
    assert_eq!(only["traces"].as_array().unwrap().len(), 1);
}

#[test]
fn a_backfilled_run_takes_its_commits_place_and_a_run_is_one_point() {
    let place = Place::new();
    let mut runs = history(24, 20);
    let late = runs.remove(5);
    for made in &runs {
        place.append(made);
    }
    let mut record = late.record();
    record["started_at"] = json!("2026-12-01T00:00:00Z");
    let name = place.record("late", &record);
    assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
    // The same run under another name.
    let file = place
        .path("h/runs/2026/12")
        .join(&files(&place.path("h/runs/2026/12"))[0]);
    fs::copy(&file, file.with_file_name("copy.json")).unwrap();
    let (_, trend) = place.trend(&[]);
    assert_eq!(trend["runs"], 24);
    let segments = trace(&trend, "server_cpu")["segments"].as_array().unwrap();
    assert_eq!(segments.len(), 1);
    assert_eq!(
        (&segments[0]["points"], &segments[0]["last"]["commit"]),
        (&json!(24), &json!(runs[22].commit()))
    );
    assert_eq!(cpu_steps(&trend).len(), 1);
}

#[test]
fn of_a_run_on_several_machines_the_one_that_measured_a_series_counts() {
    let place = Place::new();
    for number in 0..20 {
        let mut record = plain(number).record();
        let first = if number % 2 == 0 {
            "one-machine"
        } else {
            "other-machine"
        };
        let shard = |host: &str, series: Value| {
            let mut machine = record["host"].clone();
            machine["fingerprint"] = json!(host);
            let mut shard = json!({"run": host, "reason": null, "seed": 1, "host": machine, "series": series});
            for field in ["status", "started_at", "finished_at", "spent", "pinning", "tools"] {
                shard[field] = record[field].clone();
            }
            shard
        };
        let last = if number < 10 { "its-machine" } else { "its-new-machine" };
        record["shards"] = json!([shard(first, json!([])), shard(last, json!([HTTP]))]);
        record["host"]["fingerprint"] = json!(first);
        let name = place.record("made", &record);
        assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
    }
    let (_, trend) = place.trend(&[]);
    assert_eq!(place.run(&["history", "index", "h"]).code, 0);
    assert_eq!(trend, place.trend(&[]).1, "a summary holds what the run files hold");
    let segments = trace(&trend, "server_cpu")["segments"].as_array().unwrap().clone();
    assert_eq!(segments.len(), 2, "{segments:#?}");
    assert_eq!(segments[1]["broken_by"], "machine its-machine → its-new-machine");
}

#[test]
fn another_question_machine_or_reference_breaks_the_line_visibly() {
    let place = Place::new();
    for number in 0..20 {
        let mut made = plain(number);
        made.cpu = if number >= 10 { 1.3 } else { 1.0 };
        let mut record = made.record();
        if number >= 10 {
            record["series"][0]["digest"] = json!("000000000000");
            record["host"]["fingerprint"] = json!("other-machine");
        }
        let name = place.record("made", &record);
        assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
    }
    let (_, trend) = place.trend(&[]);
    let cpu = trace(&trend, "server_cpu");
    assert_eq!((&cpu["basis"], &trend["alerts"]), (&json!("value"), &json!(0)));
    let why = cpu["segments"][1]["broken_by"].as_str().unwrap();
    assert!(
        why.contains("question") && why.contains("machine aae83024f209 → other-machine"),
        "{why}"
    );
    let text = place.run(&["history", "trend", "h"]).stdout;
    assert!(text.contains("── broken at"), "{text}");
}

#[test]
fn an_accepted_step_stays_quiet_and_says_why() {
    let place = Place::new();
    fs::write(place.path("wirebench.toml"), "").unwrap();
    let runs = history(24, 20);
    for made in &runs {
        place.append(made);
    }
    let commit = &runs[20].commit()[..12];
    let accept = |series: &str, at_most: &str, commit: &str| {
        place.run(&[
            "accept",
            "--series",
            series,
            "--metric",
            "server_cpu",
            "--at-most",
            at_most,
            "--commit",
            commit,
            "--reason",
            "answers are compressed",
        ])
    };
    // Too small, another commit, another series: none of them covers it.
    for (series, at_most, commit) in [
        ("*", "8%", commit),
        ("*", "12%", "abcdef0"),
        ("*@grpc@*", "12%", commit),
    ] {
        assert_eq!(accept(series, at_most, commit).code, 0);
        assert_eq!(place.trend(&["--fail-on-alert"]).0, 3);
    }
    assert_eq!(accept("*@http@*", "12%", commit).code, 0);
    let (code, trend) = place.trend(&["--fail-on-alert"]);
    assert_eq!((code, &trend["alerts"]), (0, &json!(0)));
    assert_eq!(cpu_steps(&trend)[0]["accepted"], "answers are compressed");
    let text = place.run(&["history", "trend", "h"]).stdout;
    assert!(text.contains("accepted: answers are compressed"), "{text}");
    for wrong in [["--at-most", "0%"], ["--commit", "main"], ["--reason", ""]] {
        let mut args = vec!["accept", "--series", "*"];
        for (flag, value) in [("--at-most", "5%"), ("--reason", "x")] {
            if wrong[0] != flag {
                args.extend([flag, value]);
            }
        }
        args.extend(wrong);
        assert_eq!(place.run(&args).code, 2, "{wrong:?}");
    }
}

#[test]
fn an_acceptance_that_came_with_the_change_counts() {
    let place = Place::new();
    for made in history(24, 20) {
        let mut record = made.record();
        if made.number == 20 {
            record["accepted"] = json!([{"series": "*", "at_most_percent": 12.0, "reason": "meant"}]);
        }
        let name = place.record("made", &record);
        assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
    }
    for _ in 0..2 {
        let (_, trend) = place.trend(&[]);
        assert_eq!(
            (&trend["alerts"], &cpu_steps(&trend)[0]["accepted"]),
            (&json!(0), &json!("meant"))
        );
        assert_eq!(place.run(&["history", "index", "h"]).code, 0);
    }
}

/// A run on a machine of its own, with what was counted of it.
fn counted(number: u32, instructions: f64, wire: f64) -> Value {
    let mut record = plain(number).record();
    record["host"]["fingerprint"] = json!(format!("{number:012x}"));
    let figure = |metric: &str, value: f64| json!({"metric": metric, "value": value, "spread": 0.0, "refused": null, "points": []});
    record["series"][0]["counts"] = json!([{
        "variant": "candidate", "status": "ok", "reason": null, "remarks": [], "syscalls": {}, "functions": [],
        "stacks": {}, "figures": [figure("instructions", instructions), figure("wire_bytes_sent", wire)]
    }]);
    record
}

#[test]
fn counts_have_a_trend_on_machines_that_change() {
    let place = Place::new();
    for number in 0..21 {
        let code = if number >= 20 { 1.01 } else { 1.0 };
        let noise = f64::from(number * 7 % 5);
        let name = place.record("made", &counted(number, (15_600.0 + noise) * code, 178.0 * code));
        assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
    }
    let (code, trend) = place.trend(&["--fail-on-alert"]);
    assert_eq!((code, &trend["alerts"]), (3, &json!(1)), "both at one push: {trend:#}");
    for metric in ["instructions", "wire_bytes_sent"] {
        let segments = trace(&trend, metric)["segments"].as_array().unwrap().clone();
        let [segment] = &segments[..] else {
            panic!("{segments:#?}")
        };
        let step = &segment["change_points"][0];
        assert_eq!(step["first_after"]["commit"], plain(20).commit());
        assert_eq!(step["reported"], step["first_after"], "seen at its own push");
    }
    let group = &trend["groups"][0];
    assert_eq!(
        (&group["stepped"], &group["worse"], &group["alert"]),
        (&json!(2), &json!(2), &json!(true))
    );
    let text = place.run(&["history", "trend", "h"]).stdout;
    assert!(text.contains("2 of 2 moved"), "{text}");
}

#[test]
fn another_processor_breaks_instructions_and_nothing_that_is_the_same_everywhere() {
    let place = Place::new();
    for number in 0..12 {
        let mut record = counted(number, if number < 6 { 15_600.0 } else { 15_900.0 }, 178.0);
        record["host"]["cpu_model"] = json!(if number < 6 { "Processor A" } else { "Processor B" });
        let name = place.record("made", &record);
        assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
    }
    let (_, trend) = place.trend(&[]);
    let segments = trace(&trend, "instructions")["segments"].as_array().unwrap();
    assert_eq!(segments[1]["broken_by"], "processor Processor A → Processor B");
    assert_eq!(
        trace(&trend, "wire_bytes_sent")["segments"].as_array().unwrap().len(),
        1
    );
    assert_eq!(trend["alerts"], 0);
}

#[test]
fn whether_ratios_or_values_are_judged_is_chosen_for_each_segment() {
    // 20 runs without a reference, of which one has one; then 15 with one; then 15 without. Slower from 50 on.
    let with = |number: u32| number == 7 || (20..35).contains(&number);
    let place = Place::new();
    for number in 0..70 {
        let noise = 1.0 + 0.002 * f64::from(number * 5 % 7);
        let code = if number >= 50 { 1.1 } else { 1.0 };
        place.append(&Made {
            number,
            cpu: noise * code,
            reference: with(number).then_some(1.0),
        });
    }
    let (_, trend) = place.trend(&[]);
    let cpu = trace(&trend, "server_cpu");
    let segments = cpu["segments"].as_array().unwrap();
    let bases: Vec<(&str, u64)> = segments
        .iter()
        .map(|one| (one["basis"].as_str().unwrap(), one["points"].as_u64().unwrap()))
        .collect();
    assert_eq!(bases, [("value", 20), ("ratio", 15), ("value", 35)]);
    assert_eq!(
        (&cpu["left_out"], &cpu["basis"], &trend["alerts"]),
        (&json!(0), &json!("value"), &json!(1))
    );
    assert!(
        segments[1]["broken_by"]
            .as_str()
            .unwrap()
            .starts_with("values → ratios to the reference")
    );
    assert_eq!(cpu_steps(&trend)[0]["first_after"]["commit"], plain(50).commit());
}

#[test]
fn a_step_between_two_runs_of_one_commit_is_the_machines() {
    let place = Place::new();
    for number in 0..24 {
        let mut made = plain(number);
        made.cpu = (1.0 + 0.002 * f64::from(number * 5 % 7)) * if number >= 16 { 1.2 } else { 1.0 };
        let mut record = made.record();
        if number >= 13 {
            // Measured again and again.
            record["variants"][0]["commit"] = json!(plain(13).commit());
            record["variants"][0]["committed_at"] = json!("2026-11-01T13:00:00Z");
        }
        let name = place.record("made", &record);
        assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
    }
    let (code, trend) = place.trend(&["--fail-on-alert"]);
    let steps = cpu_steps(&trend);
    assert_eq!((code, &trend["alerts"], steps.len()), (0, &json!(0), 1), "{steps:#?}");
    assert_eq!(steps[0]["not_code"], "same commit: the machine");
    let text = place.run(&["history", "trend", "h"]).stdout;
    assert!(text.contains("same commit: the machine"), "{text}");
}

#[test]
fn a_reader_that_stops_listening_is_no_panic() {
    let place = Place::new();
    for made in history(24, 20) {
        place.append(&made);
    }
    let mut child = wirebench(&["history", "trend", "h", "--json"])
        .current_dir(place.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code().is_some_and(|code| code < 2), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// A run on a processor on which the candidate costs 6 % more, relative to the reference, or on the other one.
fn on(number: u32, slower: bool) -> Value {
    let mut made = plain(number);
    made.cpu = (1.0 + 0.002 * f64::from(number * 5 % 7)) * if slower { 1.06 } else { 1.0 };
    made.reference = Some(1.0);
    let mut record = made.record();
    record["host"]["cpu_model"] = json!(if slower { "Processor B" } else { "Processor A" });
    record
}

#[test]
fn a_fleet_whose_mix_of_processors_changes_steps_nothing() {
    // One in five on B, then four in five.
    let mixed = |number: u32| number.is_multiple_of(5) == (number < 30);
    // First A alone, then B alone: nobody can know whether the code is slower.
    let apart = |number: u32| number >= 30;
    let trend = |slower: fn(u32) -> bool| {
        let place = Place::new();
        for number in 0..60 {
            let name = place.record("made", &on(number, slower(number)));
            assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
        }
        place.trend(&[]).1
    };
    let found = trend(mixed);
    assert_eq!(cpu_steps(&found), Vec::<Value>::new());
    let found = trend(apart);
    let steps = cpu_steps(&found);
    assert_eq!((steps.len(), &found["alerts"]), (1, &json!(0)), "{steps:#?}");
    assert!(
        steps[0]["not_code"]
            .as_str()
            .unwrap()
            .starts_with("the mix of machines changed")
    );
}
