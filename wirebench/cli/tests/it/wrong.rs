//! Wrong input: each has its exit code and a message that names the place and the next step, and nothing panics.

use crate::bench::{Bench, Ended};

fn bench() -> Bench {
    Bench::new()
        .server("py", "ok", "")
        .driver("fake", "ok")
        .file("empty/.keep", "")
        .file("cut.json", "{\"schema\":")
        .file("data.js", "window.BENCHMARK_DATA = nonsense")
        .file("results/20260101T000000Z-aaaaaa/run.json", "{}")
        .file("results/20260101T000000Z-aaaaaa/comparison.json", "[]")
}

/// Arguments, exit code, and what the message says.
const LINES: [(&str, i32, &[&str]); 49] = [
    ("", 2, &["Usage"]),
    ("nope", 2, &["unrecognized subcommand 'nope'"]),
    ("lst", 2, &["'list'"]),
    ("--root nowhere list", 2, &["nowhere/wirebench.toml: cannot be read"]),
    (
        "list --server nope",
        2,
        &["--server nope: matches no server; there are py"],
    ),
    (
        "list --scenario nope",
        2,
        &["--scenario nope: matches no scenario; there are ask"],
    ),
    (
        "list --driver nope",
        2,
        &["--driver nope: matches no driver; there are fake"],
    ),
    (
        "list --profile nope",
        2,
        &["--profile nope: no such profile in wirebench.toml; there are test"],
    ),
    ("list --scenario [", 2, &["--scenario ["]),
    ("list --nope", 2, &["unexpected argument '--nope'"]),
    ("verify --server nope", 2, &["there are py"]),
    ("run --rounds 0", 2, &["--rounds", "1..=1000"]),
    ("run --rounds many", 2, &["--rounds"]),
    ("run --seed x", 2, &["--seed"]),
    ("run --budget 5", 2, &["--budget", "10s"]),
    ("run --pin maybe", 2, &["--pin", "auto"]),
    (
        "run --baseline nope",
        2,
        &[
            "--baseline nope: not a folder",
            "not a git revision",
            "not SERVER=COMMAND",
        ],
    ),
    ("run --candidate nope", 2, &["--candidate nope: not a folder"]),
    ("run --baseline empty", 2, &["--baseline empty", "wirebench.toml"]),
    ("run --baseline other=./x", 2, &["--baseline other=./x", "py"]),
    ("run --only nope", 2, &["--only"]),
    ("run --shard 1", 2, &["--shard", "such as 1/2"]),
    ("run --shard 3/2", 2, &["--shard", "such as 1/2"]),
    ("merge nowhere", 1, &["nowhere"]),
    (
        "count --server nope",
        2,
        &["counting is switched off", "enabled = true in [count]"],
    ),
    ("report nowhere", 1, &["nowhere/run.json: cannot be read"]),
    ("report cut.json", 1, &["cannot be read"]),
    (
        "report results/20260101T000000Z-aaaaaa",
        1,
        &["run.json: is not a wirebench.run/v1 record"],
    ),
    ("report --json --write", 2, &["cannot be used with"]),
    ("github summary nowhere", 1, &["nowhere"]),
    (
        "gate nowhere",
        2,
        &["nowhere: there is no comparison; make one with: wirebench run --baseline"],
    ),
    ("gate cut.json", 1, &["cut.json"]),
    ("gate --fail-on nope", 2, &["--fail-on", "inconclusive"]),
    ("compare a b", 2, &["a: no such run; a revision needs --history DIR"]),
    ("compare a b c", 2, &["unexpected value 'c'"]),
    ("run --bisect", 128, &["--baseline"]),
    (
        "export nowhere --format github-action-benchmark --out x",
        1,
        &["nowhere"],
    ),
    ("export nowhere --format nope --out x", 2, &["github-action-benchmark"]),
    (
        "accept --series nope@* --at-most 5% --reason x",
        2,
        &["--series nope@*: matches no series of this project; there are ask@py@fake"],
    ),
    (
        "accept --series [ --at-most 5% --reason x",
        2,
        &["--series [", "unclosed"],
    ),
    (
        "accept --series ask@* --at-most much --reason x",
        2,
        &["--at-most", "5%"],
    ),
    (
        "accept --series ask@* --at-most 5% --metric nope --reason x",
        2,
        &["--metric"],
    ),
    (
        "history index nowhere",
        2,
        &["HISTORY nowhere: no such folder; make one with: wirebench history append --to DIR"],
    ),
    (
        "history trend nowhere",
        2,
        &["HISTORY nowhere: no such folder; make one with"],
    ),
    ("history import data.js --to kept", 1, &["data.js"]),
    (
        "history import data.js --to kept --name A/B",
        2,
        &["--name A/B: expected lower-case letters"],
    ),
    (
        "site build nowhere",
        2,
        &["HISTORY nowhere: no such folder; make one with"],
    ),
    (
        "site build --runs nowhere",
        2,
        &["--runs nowhere: no such folder; make a run with: wirebench run"],
    ),
    ("site serve empty", 2, &["empty: holds no index.html; build one with"]),
];

#[track_caller]
fn is_said(ended: &Ended, line: &str, code: i32, parts: &[&str]) {
    let said = &ended.stderr;
    assert_eq!(ended.code, code, "{line}: {said}");
    for part in parts {
        assert!(said.contains(part), "{line}: no {part:?} in\n{said}");
    }
    assert!(
        !said.contains("panicked") && !said.contains("RUST_BACKTRACE"),
        "{line}: {said}"
    );
}

#[test]
fn wrong_arguments_are_said_with_place_and_remedy() {
    let bench = bench();
    for (line, code, parts) in LINES {
        let args: Vec<&str> = line.split_whitespace().collect();
        is_said(&bench.run(&args), line, code, parts);
    }
}

/// A line of `wirebench.toml` and what is said of it.
const DECLARATIONS: [(&str, &[&str]); 12] = [
    ("nope = 1", &["wirebench.toml", "nope"]),
    ("default_profile = 3", &["wirebench.toml: default_profile"]),
    (
        "default_profile = \"nope\"",
        &["wirebench.toml: default_profile", "nope"],
    ),
    (
        "builtin_drivers = [\"nope\"]",
        &["wirebench.toml: builtin_drivers", "nope", "hey"],
    ),
    ("[servers.x]", &["wirebench.toml: servers.x", "about"]),
    ("[servers.X]\nabout = \"x\"", &["wirebench.toml: servers.X"]),
    (
        "[scenarios.x]\nabout = \"x\"\noperation = \"answer\"\nload = { connections = 0, requests = 1 }",
        &["wirebench.toml: scenarios.x.load"],
    ),
    (
        "[scenarios.x]\nabout = \"x\"\noperation = \"answer\"\nload = { connections = 1, duration = 5 }",
        &["wirebench.toml: scenarios.x.load"],
    ),
    ("[count]\nrequests = [1, 2]", &["wirebench.toml: count.requests"]),
    ("[compare]\nbudget = \"5\"", &["wirebench.toml: compare.budget", "10s"]),
    (
        "[[margins]]\nseries = \"[\"\nmetric = \"server_cpu\"\nmargin = \"2%\"",
        &["wirebench.toml: margins"],
    ),
    ("= 1", &["wirebench.toml: line 1"]),
];

#[test]
fn wrong_declarations_are_said_with_file_and_key() {
    for (text, parts) in DECLARATIONS {
        let bench = bench().file("wirebench.toml", text);
        is_said(&bench.run(&["list"]), text, 2, parts);
    }
}

#[test]
fn quiet_leaves_results_and_failures_and_json_is_json() {
    let bench = bench();
    let quiet = bench.run(&["--quiet", "run"]);
    assert!(
        quiet.code == 0 && !quiet.stderr.contains("record ") && quiet.stdout.contains("ask"),
        "{}",
        quiet.stderr
    );
    assert!(bench.run(&["run"]).stderr.contains("record "));
    let failed = bench.run(&["--quiet", "list", "--server", "nope"]);
    assert!(failed.stderr.starts_with("error: "), "{}", failed.stderr);
    let verified = bench.run(&["verify", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&verified.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    assert!(
        report["ok"].is_boolean() && checks.iter().all(|check| check["name"].is_string()),
        "{report:#}"
    );
    assert!(
        checks.iter().any(|check| check["name"] == "py · ask · HTTP/1.1"),
        "{report:#}"
    );
}

#[test]
fn completions_know_the_project() {
    let bench = bench();
    let script = bench.run(&["completions", "bash"]);
    assert!(script.stdout.contains("COMPLETE"), "{}", script.stdout);
    for (words, expected) in [
        (&["list", "--scenario", ""][..], "ask"),
        (&["list", "--server", ""], "py"),
        (&["run", "--profile", ""], "test"),
        (&["report", ""], "results/20260101T000000Z-aaaaaa"),
    ] {
        let index = words.len().to_string();
        let asked = [
            ("COMPLETE", "bash"),
            ("_CLAP_COMPLETE_INDEX", &*index),
            ("_CLAP_COMPLETE_COMP_TYPE", "9"),
            ("_CLAP_COMPLETE_SPACE", "true"),
            ("_CLAP_IFS", "\n"),
        ];
        let ended = bench.run_with(&[&["--", "wirebench"], words].concat(), &asked);
        assert!(
            ended.stdout.lines().any(|line| line.starts_with(expected)),
            "{words:?}: {}{}",
            ended.stdout,
            ended.stderr
        );
    }
}

#[test]
fn help_shows_the_commands_in_groups() {
    let help = bench().run(&["--help"]).stdout;
    for group in [
        "Start:\n  init ",
        "Measure:\n  run ",
        "Judge:\n",
        "Keep:\n",
        "In a workflow (CI):\n",
    ] {
        assert!(help.contains(group), "{help}");
    }
}

#[test]
fn a_project_whose_folder_cannot_be_written_names_the_folder() {
    // A file in the place of the folder keeps root out too.
    let bench = bench()
        .file("wirebench.toml", "[profiles.test]\nabout = \"test\"\nrounds = 1\n")
        .file(".wirebench", "");
    for verb in ["verify", "run"] {
        let ended = bench.run(&[verb]);
        assert_eq!(ended.code, 1, "{verb}: {}", ended.stdout);
        let folder = bench.path(".wirebench").display().to_string();
        assert!(ended.stderr.contains(&folder), "{verb}: {}", ended.stderr);
        assert!(ended.stderr.contains("writable"), "{verb}: {}", ended.stderr);
        assert!(!ended.stdout.contains("FAILED jq"), "{verb}: {}", ended.stdout);
    }
}
