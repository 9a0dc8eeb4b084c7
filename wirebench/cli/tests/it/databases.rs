//! A server with a real Postgres behind it: started once on each side, migrated and seeded once, measured with writes.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, fixture, series};
use crate::built::python;

/// A server of notes with a login, and its Postgres; `seed` is TOML of its seeds.
fn notes(seed: &str) -> Bench {
    let (python, program, postgres) = (python(), fixture("notes.py"), fixture("postgres.sh"));
    let server = format!(
        r#"
about = "notes in a Postgres"
protocols = ["http"]
command = [{python:?}, {program:?}, "serve"]
args = ["{{port}}", "{{store}}"]
ready = {{ http = "/health" }}

[[tiers]]
name = "store"
command = ["sh", {postgres:?}]
args = ["{{port}}", "{{data}}"]
ready = {{ tcp = true }}
ready_timeout = "60s"
keep = true

[[before]]
command = [{python:?}, {program:?}, "migrate", "{{store}}"]
once = true
{seed}
[operations.write]
request = {{ method = "POST", path = "/notes", headers = ["authorization: Bearer {{token}}"], body = '{{"text":"more"}}' }}
expect = {{ status = 201, pattern = '"id": [0-9]+' }}

[operations.read]
request = {{ path = "/notes/{{note}}", headers = ["authorization: Bearer {{token}}"] }}
expect = {{ status = 200, json = {{ "/text" = "first" }} }}
"#
    );
    let scenario = |operation: &str| {
        format!("about = \"test\"\noperation = \"{operation}\"\nload = {{ connections = 4, duration = \"1s\" }}\n")
    };
    Bench::empty()
        .file(
            "wirebench.toml",
            "builtin_drivers = [\"hey\"]\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 2\n[count]\nenabled = false\n[compare]\nbudget = \"20m\"\n",
        )
        .file("servers/notes/server.toml", &server)
        .file("scenarios/write.toml", &scenario("write"))
        .file("scenarios/read.toml", &scenario("read"))
}

const SEED: &str = r#"
[[seed]]
request = { method = "POST", path = "/login", body = '{}' }
capture = { token = "/token" }

[[seed]]
request = { method = "POST", path = "/notes", headers = ["authorization: Bearer {token}"], body = '{"text":"first"}' }
expect = { status = 201 }
capture = { note = "/id" }
once = true
"#;

/// Lines of a file that the programs of a run wrote.
fn lines(bench: &Bench, name: &str) -> Vec<String> {
    let text = fs::read_to_string(bench.path(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "nightly"]
fn a_postgres_is_started_and_seeded_once_and_written_to() {
    let bench = notes(SEED);
    let ended = bench.run(&["run", "--rounds", "3"]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let record = bench.record();
    for id in ["write@notes@hey", "read@notes@hey"] {
        let rounds = series(&record, id)["rounds"].as_array().unwrap();
        assert_eq!(rounds.len(), 3);
        for round in rounds {
            assert_eq!(round["status"], "ok", "{}", round["reason"]);
            let processes = round["processes"].as_array().unwrap();
            let names: Vec<&str> = processes.iter().map(|one| one["name"].as_str().unwrap()).collect();
            assert_eq!(names, ["notes", "store"]);
            let used = |of: &Value| of["user"].as_u64().unwrap() + of["system"].as_u64().unwrap();
            assert!(
                used(&processes[1]["cpu_ns"]) > 0,
                "the kept tier is measured in every round"
            );
        }
    }
    let rounds = record["series"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|series| series["rounds"].as_array().unwrap());
    let starting: u64 = rounds.map(|round| round["server_ready_ns"].as_u64().unwrap()).sum();
    assert!(
        starting < record["spent"]["measure_ns"].as_u64().unwrap(),
        "a kept tier is not waited for in later rounds: {starting} ns"
    );
    assert_eq!(
        lines(&bench, "starts").len(),
        1,
        "one Postgres for six starts of the server"
    );
    let found: Vec<u64> = lines(&bench, "found")
        .iter()
        .map(|line| line.parse().unwrap())
        .collect();
    assert_eq!(found.len(), 6);
    assert_eq!(found[0], 0, "migrated, and not seeded before its first start");
    assert!(
        found[1] >= 1 && found[5] > found[0] + 100,
        "what was written stays: {found:?}"
    );
}

#[test]
#[ignore = "nightly"]
fn each_side_has_a_database_of_its_own() {
    let bench = notes(SEED).commit("v1");
    let ended = bench.run(&[
        "run",
        "--baseline",
        "v1",
        "--measure-identical",
        "--scenario",
        "read",
        "--rounds",
        "2",
    ]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    // The baseline's files are in a worktree, which is gone; the candidate's are here.
    assert_eq!(lines(&bench, "starts").len(), 1);
    let record = bench.record();
    let rounds = series(&record, "read@notes@hey")["rounds"].as_array().unwrap();
    assert!(rounds.iter().all(|round| round["status"] == "ok"), "{rounds:?}");
}

#[test]
fn verify_logs_in_too_and_a_seed_that_fails_is_named() {
    let ended = notes(SEED).run(&["verify"]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let missing = SEED.replace("/token", "/access_token");
    let ended = notes(&missing).run(&["verify"]);
    assert_eq!(ended.code, 1);
    let expected =
        "server notes: seed POST /login: the response has no value at /access_token, which is captured as token";
    assert!(ended.stdout.contains(expected), "{}", ended.stdout);
}

#[test]
fn once_without_a_kept_tier_and_captures_without_a_pointer_are_refused() {
    for (from, to, expected) in [
        (
            "keep = true",
            "",
            "servers/notes/server.toml: before[0].once: expected a tier with keep = true",
        ),
        (
            "\"/token\"",
            "\"token\"",
            "seed[0].capture.token: expected a JSON pointer",
        ),
        (
            "token = ",
            "Token = ",
            "seed[0].capture: expected names of lower-case letters",
        ),
    ] {
        let bench = notes(SEED);
        let file = bench.path("servers/notes/server.toml");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from));
        fs::write(&file, text.replacen(from, to, 1)).unwrap();
        let ended = bench.run(&["list"]);
        assert_eq!(ended.code, 2, "{}", ended.stdout);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
}

#[test]
#[ignore = "nightly"]
fn a_database_that_takes_connections_and_is_starting_up_is_waited_for() {
    let (python, program) = (python(), fixture("starting.py"));
    let with_store = |ready: &str| {
        let more = format!(
            "[[tiers]]\nname = \"store\"\ncommand = [{python:?}, {program:?}, \"serve\"]\nargs = [\"{{port}}\"]\nready = {{ {ready} }}\n\
             [[before]]\ncommand = [{python:?}, {program:?}, \"ask\", \"{{store}}\"]\n"
        );
        let ended = Bench::new()
            .server("py", "ok", &more)
            .driver("fake", "ok")
            .run(&["verify"]);
        (ended.code, ended.stdout)
    };
    let (code, output) = with_store("database = \"postgres\"");
    assert_eq!(code, 0, "{output}");
    // The fixture is no database for a client that only connects.
    let (code, output) = with_store("tcp = true");
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("the database system is starting up"), "{output}");
}
