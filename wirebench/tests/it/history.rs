//! A history through the command line: runs go in, summaries and trends come out, broken files cost nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Ended, ended, repository, wirebench};

/// A folder with a history in it, outside of any project.
struct Place {
    folder: TempDir,
}

/// A run to be made: its number gives id, commit and time.
#[derive(Clone)]
struct Made {
    number: u32,
    /// Server CPU per request, times that of the recorded run.
    cpu: f64,
    /// The same for the reference measured beside it; none leaves the reference out.
    reference: Option<f64>,
}

const HTTP: &str = "weather-fixed-count@http@h2load";

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    fn run(&self, args: &[&str]) -> Ended {
        ended(wirebench(args).current_dir(self.folder.path()))
    }

    fn start(&self, args: &[&str]) -> Child {
        let mut command = wirebench(args);
        let command = command.current_dir(self.folder.path()).stdout(Stdio::null());
        command.stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Writes a record and gives its name.
    fn record(&self, name: &str, record: &Value) -> String {
        let folder = self.path(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("run.json"), record.to_string()).unwrap();
        name.to_owned()
    }

    fn append(&self, made: &Made) {
        let name = self.record("made", &made.record());
        let ended = self.run(&["history", "append", &name, "--to", "h"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }

    /// The trend as JSON, checked against its schema.
    fn trend(&self, more: &[&str]) -> (i32, Value) {
        let ended = self.run(&[&["history", "trend", "h", "--json"], more].concat());
        let trend: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stderr));
        assert_fits("trend.v1.schema.json", &trend);
        (ended.code, trend)
    }
}

impl Made {
    fn id(&self) -> String {
        format!("20261101T{:06}Z-{:06x}", self.number, self.number)
    }

    fn commit(&self) -> String {
        format!("{:040x}", 0xabc_0000 + self.number)
    }

    /// A small run made of the recorded one.
    fn record(&self) -> Value {
        let text = fs::read(repository().join("results/reference/run.json")).unwrap();
        let mut run: Value = serde_json::from_slice(&text).unwrap();
        let time = format!("2026-11-{:02}T{:02}:00:00Z", 1 + self.number / 24, self.number % 24);
        run["id"] = json!(self.id());
        run["started_at"] = json!(time);
        run["variants"] =
            json!([{"variant": "candidate", "commit": self.commit(), "modified": false, "committed_at": time}]);
        let mut series = run["series"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["id"] == HTTP)
            .unwrap()
            .clone();
        let own = series["rounds"].as_array().unwrap().clone();
        let mut rounds = scaled(&own, "candidate", self.cpu);
        if let Some(cpu) = self.reference {
            rounds.extend(scaled(&own, "reference", cpu));
            let reference = json!({"variant": "reference", "commit": "f".repeat(40), "modified": false});
            run["variants"].as_array_mut().unwrap().push(reference);
        }
        series["rounds"] = json!(rounds);
        run["series"] = json!([series]);
        run
    }
}

fn scaled(rounds: &[Value], variant: &str, cpu: f64) -> Vec<Value> {
    let of = |round: &Value| {
        let mut round = round.clone();
        round["variant"] = json!(variant);
        for mode in ["user", "system"] {
            let ns = round["server_cpu_ns"][mode].as_f64().unwrap() * cpu;
            round["server_cpu_ns"][mode] = json!(ns.round() as u64);
        }
        round
    };
    rounds.iter().map(of).collect()
}

/// Runs on a machine whose speed changes by up to 20 %, with a step of the code's own cost at `step`.
fn history(count: u32, step: u32) -> Vec<Made> {
    let made = |number: u32| {
        let machine = 1.0 + 0.04 * f64::from(number * 7 % 6);
        let noise = 1.0 + 0.002 * f64::from(number * 5 % 7);
        let code = if number >= step { 1.1 } else { 1.0 };
        Made {
            number,
            cpu: machine * noise * code,
            reference: Some(machine),
        }
    };
    (0..count).map(made).collect()
}

fn plain(number: u32) -> Made {
    Made {
        number,
        cpu: 1.0,
        reference: None,
    }
}

fn assert_fits(schema: &str, document: &Value) {
    let schema = fs::read(repository().join("results/schema").join(schema)).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(document)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn trace<'a>(trend: &'a Value, metric: &str) -> &'a Value {
    let traces = trend["traces"].as_array().unwrap();
    traces.iter().find(|trace| trace["metric"] == metric).unwrap()
}

/// Every change point of the CPU trace.
fn cpu_steps(trend: &Value) -> Vec<Value> {
    let segments = trace(trend, "server_cpu")["segments"].as_array().unwrap().clone();
    let points = segments
        .iter()
        .flat_map(|segment| segment["change_points"].as_array().unwrap().clone());
    points.collect()
}

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
        run["variants"][0][key] = value;
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
    assert_eq!(
        place.run(&["history", "index", "h", "--rebuild"]).stdout,
        "2026-11 16 runs\n"
    );

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

#[test]
fn a_folder_without_a_history_is_said_to_be_none() {
    let place = Place::new();
    let ended = place.run(&["history", "trend", "nowhere"]);
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("history append"), "{}", ended.stderr);
    let ended = place.run(&["history", "append", "--to", "h"]);
    assert_eq!(ended.code, 2, "without a run there must be a project");
}
