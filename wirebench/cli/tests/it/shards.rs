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

fn planned(bench: &Bench, shards: &str) -> Value {
    let ended = bench.run(&["plan", "--shards", shards, "--out", "shards.json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    read(bench.path("shards.json"))
}

fn read(file: PathBuf) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// Measures a shard into a folder of its own.
fn measured(bench: &Bench, shard: &str, more: &[&str]) -> Ended {
    let out = format!("out-{shard}");
    bench.run(
        &[
            &[
                "run",
                "--plan",
                "shards.json",
                "--shard",
                shard,
                "--out",
                &out,
                "--seed",
                shard,
            ],
            more,
        ]
        .concat(),
    )
}

fn folder(bench: &Bench, shard: &str) -> String {
    run_folder(&bench.path(&format!("out-{shard}")))
        .to_string_lossy()
        .into_owned()
}

fn ids(value: &Value) -> Vec<String> {
    let all = value["series"].as_array().unwrap().iter();
    all.map(|one| one.as_str().or(one["id"].as_str()).unwrap().to_owned())
        .collect()
}

#[test]
fn a_plan_is_made_checked_and_grows_old() {
    let bench = project().scenario("more", "connections = 1, requests = 60_000");
    let plan = planned(&bench, "2");
    assert_fits("shards.v1.schema.json", &plan);
    assert_eq!(plan, planned(&bench, "2"), "the same declarations give the same plan");
    assert_eq!(plan["profile"], "test");
    // Those of the longer scenario cost more than all others together, so they are parted.
    let shards = plan["shards"].as_array().unwrap();
    assert_eq!(ids(&shards[0])[1], "more@one@fake");
    assert_eq!(ids(&shards[1])[1], "more@two@fake");
    assert!(shards[0]["expected_ns"].as_u64().unwrap() > 2_000_000_000);

    let check = ["plan", "--check", "shards.json"];
    let fresh = bench.run(&check);
    assert_eq!(fresh.code, 0, "{}{}", fresh.stdout, fresh.stderr);
    let bench = bench.scenario("new", "connections = 1, requests = 10");
    fs::remove_file(bench.path("scenarios/more.toml")).unwrap();
    let old = bench.run(&check);
    assert_eq!(old.code, 1, "{}", old.stdout);
    for said in [
        "lacks new@one@fake, new@two@fake",
        "has more@one@fake, more@two@fake, which there is no more",
        "wirebench plan --shards 2 --profile test --out shards.json",
    ] {
        assert!(old.stdout.contains(said), "no {said} in {}", old.stdout);
    }
    let refused = measured(&bench, "1", &[]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("lacks new@one@fake"), "{}", refused.stderr);
}

#[test]
fn times_of_a_stored_run_decide_where_there_is_one() {
    let bench = project().scenario("slow", "connections = 1, requests = 20");
    let ended = bench.run(&["run", "--out", "known"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let file = run_folder(&bench.path("known")).join("run.json");
    let mut run = read(file.clone());
    for one in run["series"].as_array_mut().unwrap() {
        let slow = one["id"] == "slow@two@fake";
        one["rounds"][0]["elapsed_ns"] = json!(if slow { 900_000_000_000_u64 } else { 1_000_000 });
    }
    fs::write(&file, run.to_string()).unwrap();
    let folder = file.parent().unwrap().to_string_lossy().into_owned();
    let ended = bench.run(&["plan", "--shards", "2", "--from", &folder]);
    let first: Vec<&str> = ended.stdout.lines().take(3).collect();
    assert!(first[0].starts_with("shard 1: about 15:"), "{}", ended.stdout);
    assert_eq!(
        first[1..],
        ["  slow@one@fake", "  slow@two@fake"],
        "a scenario stays together"
    );
}

#[test]
fn what_two_machines_measured_is_one_run() {
    let bench = project();
    let plan = planned(&bench, "2");
    for shard in ["1", "2"] {
        let ended = measured(
            &bench,
            shard,
            &[
                "--baseline",
                "v1",
                "--candidate",
                "v2",
                "--rounds",
                "2",
                "--measure-identical",
            ],
        );
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let record = read(PathBuf::from(folder(&bench, shard)).join("run.json"));
        let number: usize = shard.parse().unwrap();
        assert_eq!(ids(&record), ids(&plan["shards"][number - 1]));
        let repeat = record["repeat"].as_str().unwrap();
        assert!(
            repeat.contains(&format!("--plan shards.json --shard {shard} ")),
            "{repeat}"
        );
    }
    let shards = [folder(&bench, "1"), folder(&bench, "2")];
    let merged = bench.run(&["merge", &shards[0], &shards[1], "--plan", "shards.json"]);
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
    planned(&bench, "2");
    for shard in ["1", "2"] {
        let ended = measured(&bench, shard, &[]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
    let [one, two] = [folder(&bench, "1"), folder(&bench, "2")];
    let whole = bench.run(&["run", "--out", "whole"]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    let whole = run_folder(&bench.path("whole")).to_string_lossy().into_owned();
    for (args, why) in [
        (&["merge", &one, &whole][..], "another shard has ask@one@fake too"),
        (&["merge", &one, &one], "another shard has ask@one@fake too"),
        (&["merge", &one, "--plan", "shards.json"], "no shard has ask@two@fake"),
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
    // What the shards were narrowed to is no gap.
    let narrowed = bench.run(&["merge", &one, "--plan", "shards.json", "--server", "o*"]);
    assert_eq!(narrowed.code, 0, "{}", narrowed.stderr);
    let other = bench.run(&["merge", &two, &one, "--out", "other"]);
    assert_eq!(other.code, 0, "{}", other.stderr);
}

#[test]
fn a_shard_that_did_not_end_is_joined_and_told() {
    let bench = project();
    planned(&bench, "2");
    for shard in ["1", "2"] {
        measured(&bench, shard, &[]);
    }
    let file = PathBuf::from(folder(&bench, "2")).join("run.json");
    let mut run = read(file.clone());
    (run["status"], run["reason"]) = (json!("incomplete"), json!("interrupted"));
    fs::write(&file, run.to_string()).unwrap();
    let ended = bench.run(&["merge", &folder(&bench, "1"), &folder(&bench, "2")]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let record = bench.record();
    assert_eq!(record["status"], "incomplete");
    assert_eq!(record["reason"], "shard 2 of 2: interrupted");
    assert_eq!(series(&record, "ask@one@fake")["status"], "ok");
}

#[test]
fn a_shard_without_a_series_is_a_complete_run() {
    let bench = project();
    planned(&bench, "2");
    let mut plan = read(bench.path("shards.json"));
    let idle = json!({"number": 3, "expected_ns": 0, "series": []});
    plan["shards"].as_array_mut().unwrap().push(idle);
    fs::write(bench.path("shards.json"), plan.to_string()).unwrap();
    let empty = measured(&bench, "3", &["--baseline", "v1"]);
    assert_eq!(empty.code, 0, "{}", empty.stderr);
    let record = read(PathBuf::from(folder(&bench, "3")).join("run.json"));
    assert_fits_schema(&record);
    assert_eq!((&record["status"], &record["series"]), (&json!("complete"), &json!([])));
    // Globs narrow within a shard, here to nothing.
    let narrowed = measured(&bench, "1", &["--server", "two"]);
    assert_eq!(narrowed.code, 0, "{}", narrowed.stderr);
    assert_eq!(
        read(PathBuf::from(folder(&bench, "1")).join("run.json"))["series"],
        json!([])
    );
}

#[test]
fn what_only_the_baseline_has_is_recorded_by_the_first_shard() {
    let bench = Bench::new()
        .server("one", "ok", "")
        .server("old", "ok", "")
        .server("two", "ok", "")
        .driver("fake", "ok")
        .commit("v1");
    fs::remove_dir_all(bench.path("servers/old")).unwrap();
    planned(&bench, "2");
    for shard in ["1", "2"] {
        let ended = measured(&bench, shard, &["--baseline", "v1", "--rounds", "1"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
    let ended = bench.run(&[
        "merge",
        &folder(&bench, "1"),
        &folder(&bench, "2"),
        "--plan",
        "shards.json",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    assert_eq!(ids(&record), ["ask@one@fake", "ask@two@fake", "ask@old@fake"]);
    assert_eq!(series(&record, "ask@old@fake")["missing_in"], "candidate");
}

type Change<'a> = &'a dyn Fn(&mut Value);

#[test]
fn plans_that_are_none_are_wrong_usage() {
    let bench = project();
    let plan = planned(&bench, "2");
    let with = |change: &dyn Fn(&mut Value)| {
        let mut plan = plan.clone();
        change(&mut plan);
        fs::write(bench.path("shards.json"), plan.to_string()).unwrap();
        measured(&bench, "1", &[])
    };
    let cases: [(Change, &str); 5] = [
        (
            &|plan| plan["schema"] = json!("wirebench.shards/v2"),
            "wirebench.shards/v2",
        ),
        (&|plan| plan["shards"][0]["number"] = json!(7), "not numbered"),
        (
            &|plan| plan["shards"][1]["series"] = plan["shards"][0]["series"].clone(),
            "twice",
        ),
        (&|plan| plan["profile"] = json!("full"), "give --profile full"),
        (&|plan| drop(plan.as_object_mut().unwrap().remove("profile")), "profile"),
    ];
    for (change, why) in cases {
        let ended = with(change);
        assert!(ended.code == 2 && ended.stderr.contains(why), "{why}: {}", ended.stderr);
    }
    let ended = bench.run(&["run", "--plan", "nowhere.json", "--shard", "1"]);
    assert!(
        ended.code == 2 && ended.stderr.contains("nowhere.json: cannot be read"),
        "{}",
        ended.stderr
    );
    planned(&bench, "2");
    let ended = measured(&bench, "3", &[]);
    assert!(
        ended.code == 2 && ended.stderr.contains("has no shard 3, only 1 to 2"),
        "{}",
        ended.stderr
    );
    assert_eq!(
        bench.run(&["run", "--plan", "shards.json"]).code,
        2,
        "--shard is missing"
    );
}

#[test]
fn this_repositorys_plan_is_of_its_declarations() {
    let root = crate::bench::repository();
    let args = ["plan", "--check", ".github/shards.json"];
    let ended = crate::bench::ended(crate::bench::wirebench(&args).current_dir(root));
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
}
