//! Rounds begin when the server is warm, and have enough requests.

use serde_json::Value;

use crate::bench::{Bench, fixture, run_folder, series};

/// The CPU time of a request to `cold.mjs` that is not warm, ns.
const COLD_NS: u64 = 5_000_000;

/// How often all connections of `cold.mjs` close if it is warmed up in one part.
const ONE_PART: usize = 5;

/// A project with `cold.mjs`, loaded by hey for a second a round after a warm-up of 200 ms.
fn bench(rounds: u32) -> Bench {
    let server = format!(
        "about = \"cold\"\nprotocols = [\"http\"]\ncommand = [\"node\", {:?}]\nargs = [\"{{port}}\"]\n\
         ready = {{ tcp = true }}\n[operations.ask]\nrequest = {{ path = \"/ask\" }}\nexpect = {{ status = 200 }}\n",
        fixture("cold.mjs")
    );
    let config = format!(
        "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = {rounds}\n\
         warmup = \"200ms\"\n[count]\nenabled = false\n"
    );
    Bench::new()
        .file("wirebench.toml", &config)
        .file("servers/cold/server.toml", &server)
        .scenario("ask", "connections = 2, duration = \"1s\"")
        .real_driver("hey")
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

/// The server's CPU time per good request of a round, ns.
fn cost(round: &Value) -> u64 {
    let cpu = &round["server_cpu_ns"];
    (number(&cpu["user"]) + number(&cpu["system"])) / number(&round["ok_count"])
}

#[test]
fn no_round_contains_the_requests_before_the_server_is_warm() {
    let bench = bench(4);
    let ended = bench.run(&["run", "--keep-raw"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    let found = series(&record, "ask@cold@hey");
    let rounds = found["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 4);
    for round in rounds {
        assert_eq!(round["status"], "ok", "{round}");
        assert!(
            cost(round) < COLD_NS / 5,
            "{} ns a request: {}",
            cost(round),
            found["load"]
        );
    }
    assert!(number(&found["load"]["warmup_requests"]) >= 300, "{}", found["load"]);
    // Each process was loaded in parts, over new connections: after one long part, a runtime that throws compiled code away when
    // connections close would be slow in the round.
    let raw = run_folder(&bench.path("results")).join("raw");
    for number in 0..rounds.len() {
        let log = raw.join(format!("{number:04}-ask@cold@hey/server.stderr"));
        let closings = std::fs::read_to_string(&log).unwrap().matches("closed").count();
        assert!(closings > ONE_PART, "{}: {closings}", log.display());
    }
    // Each round has a process of its own: rounds of one process would not be independent.
    assert!(
        rounds.iter().all(|round| !round["server_ready_ns"].is_null()),
        "{found}"
    );
}

#[test]
fn a_server_that_was_not_seen_to_be_warm_is_recorded_and_told() {
    let bench = bench(1).commit("before");
    // A sixteenth of the budget for each side: one part of the load, and a second one that costs half of it.
    let run = ["run", "--baseline", "HEAD", "--measure-identical", "--budget", "16s"];
    let ended = bench.run(&run);
    assert!(
        ended.stderr.contains("no sign after 1s that its servers are warm"),
        "{}",
        ended.stderr
    );
    let record = bench.record();
    let load = &series(&record, "ask@cold@hey")["load"];
    assert_eq!(number(&load["warmup_unknown_after_ns"]), 1_000_000_000);
    assert!(number(&load["warmup_requests"]) > 0, "{load}");
}

#[test]
#[ignore = "nightly"]
fn rounds_with_few_requests_are_invalid_and_the_next_ones_are_longer() {
    // One request at a time, each of 90 ms: about 11 in a second.
    let slow = "import { createServer } from \"node:http\";\n\
        createServer((_, response) => setTimeout(() => response.end(\"ok\"), 90)).listen(Number(process.argv[2]), \"127.0.0.1\");\n";
    let bench = bench(2).file("slow.mjs", slow);
    let script = bench.path("slow.mjs");
    let toml = std::fs::read_to_string(bench.path("servers/cold/server.toml")).unwrap();
    let toml = toml.replace(&fixture("cold.mjs"), &script.to_string_lossy());
    let bench = bench
        .file("servers/cold/server.toml", &toml)
        .scenario("ask", "connections = 1, duration = \"1s\"");
    let ended = bench.run(&["run"]);
    let record = bench.record();
    let found = series(&record, "ask@cold@hey");
    let (first, second) = (&found["rounds"][0], &found["rounds"][1]);
    assert_eq!(
        (&first["status"], &second["status"]),
        (&"invalid".into(), &"ok".into()),
        "{}",
        ended.stderr
    );
    assert_eq!(first["failed_checks"][0]["kind"], "too_few_requests");
    assert!(
        first["reason"].as_str().unwrap().contains("set load.duration to"),
        "{first}"
    );
    assert!(number(&second["ok_count"]) >= 20 && number(&found["load"]["lengthened_to_ns"]) > 1_000_000_000);
}
