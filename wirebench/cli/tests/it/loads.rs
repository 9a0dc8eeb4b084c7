//! The kinds of load: sweeps, rates, shares of the capacity, stages and pauses, and the search for a rate.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, Ended, fixture, run_folder, series};

/// The usual server, and a driver with rates and stages on a server that answers so many requests a second.
fn project(capacity: u32) -> Bench {
    let script = fixture("paced.py");
    let text = format!(
        "about = \"test\"\n[tool]\nprogram = \"python3\"\nversion = \"1.2.3\"\ninstall = \"apt-get install python3\"\n\
         version_command = [\"{{program}}\", {script:?}, \"version\"]\nversion_pattern = 'driver (\\S+)'\n\
         [protocols.http]\nrate = true\nstages = true\nargs = [{script:?}, \"{{address}}\", \"--capacity\", \"{capacity}\", \
         \"--connections\", \"{{connections}}\", [\"--duration\", \"{{duration}}\"], [\"--rate\", \"{{rate}}\"], \
         [\"--stages\", \"{{stages}}\"], [\"--pause\", \"{{pause}}\"]]\n[normalise]\nargs = [\"{{stdout}}\"]\n"
    );
    Bench::new()
        .c_server("c", "good", "")
        .file("drivers/paced/driver.toml", &text)
        .file("drivers/paced/normalise.jq", "# the common shape → the same\n.\n")
}

/// Measures one scenario `ask` with this load; how it ended, and its series.
fn measured(bench: Bench, load: &str) -> (Ended, Value) {
    let bench = bench.scenario("ask", load);
    let ended = bench.run(&["run"]);
    let record = bench.record();
    (ended, series(&record, "ask@c@paced").clone())
}

#[test]
fn numbers_that_are_listed_make_a_scenario_each() {
    let bench = project(1).scenario("ask", "connections = [1, 10], streams = 1, duration = \"1s\"");
    let lines = bench.run(&["list", "--json"]).stdout;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<&str> = lines.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["ask-c1@c@paced", "ask-c10@c@paced"]);
    assert_ne!(lines[0]["digest"], lines[1]["digest"]);
    assert_eq!(lines[1]["about"], "test (connections: 10)");

    let taken = bench
        .scenario("ask-c10", "connections = 1, duration = \"1s\"")
        .run(&["list"]);
    assert_eq!(taken.code, 2);
    assert!(
        taken.stderr.contains("scenario \"ask-c10\" is declared twice"),
        "{}",
        taken.stderr
    );
}

#[test]
fn a_share_of_the_capacity_is_offered_and_recorded() {
    let (ended, series) = measured(project(1_000), "connections = 1, duration = \"1s\", rate = \"70%\"");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let load = &series["load"];
    let figures = json!([load["rate_per_s"], load["capacity_per_s"], load["rate_permille"]]);
    assert_eq!(figures, json!([700, 1_000, 700]));
    assert_eq!(series["rounds"][0]["ok_count"], 700);
    assert!(series["command"].as_array().unwrap().contains(&json!("{rate}")));
}

#[test]
fn a_rate_that_is_not_achieved_is_no_result() {
    let (ended, series) = measured(project(1_000), "connections = 10, duration = \"1s\", rate = 1100");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let round = &series["rounds"][0];
    assert_eq!(
        (&round["status"], &round["dropped_count"]),
        (&json!("invalid"), &json!(100))
    );
    let reason = round["reason"].as_str().unwrap();
    assert!(
        reason.contains("only 90.9 % of the offered 1100 requests/s"),
        "{reason}"
    );
    assert!(reason.contains("100 of 1100 requests were dropped"), "{reason}");
}

#[test]
fn stages_and_pauses_reach_the_driver() {
    let stages = "{ connections = 10, duration = \"2s\" }, { connections = 0, duration = \"500ms\" }";
    let (ended, series) = measured(project(1_000), &format!("stages = [{stages}], pause = \"9ms\""));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let command = series["command"].as_array().unwrap();
    for word in ["2s:10,500ms:0", "9ms"] {
        assert!(command.contains(&json!(word)), "{command:?}");
    }
    let expected = json!([
        { "connections": 10, "duration_ns": 2_000_000_000_u64 }, { "connections": 0, "duration_ns": 500_000_000 }
    ]);
    assert_eq!(
        (&series["load"]["stages"], &series["load"]["pause_ns"]),
        (&expected, &json!(9_000_000))
    );
    assert_eq!(series["rounds"][0]["ok_count"], 2_500);
}

#[test]
fn a_search_finds_the_highest_rate_that_keeps_its_objective() {
    let load = "connections = 10, duration = \"1s\", search = { p99 = \"5ms\", from = 100, to = 10_000 }";
    let bench = project(1_000).scenario("ask", load);
    let ended = bench.run(&["run"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    let round = &series(&record, "ask@c@paced")["rounds"][0];
    let steps = round["search"].as_array().unwrap();
    assert!((3..=8).contains(&steps.len()), "{steps:?}");
    let passed = steps.iter().filter(|step| step["passed"] == true);
    let best = passed.map(|step| step["rate_per_s"].as_u64().unwrap()).max().unwrap();
    assert!((780..=800).contains(&best), "{steps:?}");
    assert_eq!((&round["ok_count"], &round["status"]), (&json!(best), &json!("ok")));
    let slow = steps.iter().find(|step| step["why"] == "p99 is over 5ms").unwrap();
    assert_eq!((&slow["p99_ns"], &slow["passed"]), (&json!(20_000_000), &json!(false)));
    let said = |file: &str| fs::read_to_string(run_folder(&bench.path("results")).join(file)).unwrap();
    assert!(said("report.md").contains("highest found with p99 ≤ 5.00 ms"));
    assert!(said("report.html").contains("Rates that the search tried"));
    assert!(ended.stdout.contains("open loop"), "{}", ended.stdout);
}

#[test]
#[ignore = "nightly"]
fn a_search_that_finds_no_rate_says_so_and_keeps_its_steps() {
    let load = "connections = 10, duration = \"1s\", search = { p99 = \"5ms\", from = 900, to = 950 }";
    let (ended, series) = measured(project(1_000), load);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let round = &series["rounds"][0];
    assert_eq!(round["status"], "invalid");
    let reason = round["reason"].as_str().unwrap();
    assert_eq!(reason, "no rate from 900/s on keeps the objective: p99 is over 5ms");
    assert_eq!(round["search"].as_array().unwrap().last().unwrap()["rate_per_s"], 900);
}
