//! `scripts/action.sh` and `scripts/lib/conclude.sh`: what the action does, run as it runs them.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::bench::{Bench, Ended, ended, repository};

/// A project in a repository with two commits, and the folder that the action installs into.
fn place(build: &str) -> Bench {
    let build = format!("build = [\"sh\", \"-c\", {build:?}]");
    let bench = Bench::new()
        .server("py", "ok", &build)
        .driver("fake", "ok")
        .commit("one");
    let bench = bench.file("change", "two").commit("two");
    fs::create_dir_all(bench.path("out/bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_wirebench"), bench.path("out/bin/wirebench")).unwrap();
    bench
}

fn act(bench: &Bench, inputs: &[(&str, &str)]) -> Ended {
    let mut script = Command::new(repository().join("scripts/action.sh"));
    script.arg(bench.path("out")).current_dir(bench.path("."));
    script
        .env("CONFIG", ".")
        .env("GITHUB_EVENT_NAME", "workflow_dispatch")
        .env("GITHUB_TOKEN", "a-token");
    script.env("GITHUB_ACTIONS", "true").env_remove("GITHUB_SHA");
    for file in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
        script.env(file, bench.path(&format!("out/{file}")));
    }
    ended(script.envs(inputs.iter().copied()))
}

fn written(bench: &Bench, file: &str) -> String {
    fs::read_to_string(bench.path(&format!("out/{file}"))).unwrap_or_default()
}

#[test]
fn a_pull_request_is_held_against_what_it_merges_into() {
    let bench = place("true");
    let ran = act(&bench, &[("GITHUB_EVENT_NAME", "pull_request"), ("ROUNDS", "1")]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let outputs = written(&bench, "GITHUB_OUTPUT");
    for name in ["verdict=", "run=/", "report=/"] {
        assert!(outputs.lines().any(|line| line.starts_with(name)), "{outputs}");
    }
    let comparison: serde_json::Value = serde_json::from_str(&written(&bench, "result/comparison.json")).unwrap();
    let base = bench.git(&["rev-parse", "HEAD^1"]);
    assert_eq!(comparison["baseline"]["revision"]["commit"], base.trim());
    assert_eq!(fs::read_dir(bench.path("out/result")).unwrap().count(), 1);
    assert!(written(&bench, "GITHUB_STEP_SUMMARY").contains("wirebench:"));
    assert!(!bench.path("out/history").exists(), "only a push is kept");
}

#[test]
fn a_push_leaves_what_is_published() {
    let bench = place("true");
    let ran = act(
        &bench,
        &[("GITHUB_EVENT_NAME", "push"), ("ROUNDS", "1"), ("SCENARIOS", "a* ask")],
    );
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let month = fs::read_dir(bench.path("out/history/runs")).unwrap().count();
    assert_eq!(month, 1, "{}", ran.stderr);
    for name in ["bigger", "smaller"] {
        assert!(written(&bench, &format!("history/export/{name}-is-better.json")).contains("ask@py@fake"));
    }
}

#[test]
fn what_is_built_and_started_gives_no_commands_and_sees_no_token() {
    let bench = place("echo '::set-env name=A::b' && printf '%s' \"${GITHUB_TOKEN-none}\" > seen");
    let ran = act(&bench, &[("ROUNDS", "1")]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(fs::read_to_string(bench.path("seen")).unwrap(), "none");
    let word = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("::stop-commands::"));
        line.unwrap_or_else(|| panic!("commands are not stopped: {text}"))
            .to_owned()
    };
    let first = word(&ran.stdout);
    let (_, rest) = ran.stdout.split_once(&format!("::stop-commands::{first}\n")).unwrap();
    assert!(
        rest.contains(&format!("\n::{first}::\n")) || rest.starts_with(&format!("::{first}::\n")),
        "{rest}"
    );
    assert!(
        first.len() >= 32 && first.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{first}"
    );
    assert_ne!(
        word(&act(&bench, &[("ROUNDS", "1")]).stdout),
        first,
        "it can be foreseen"
    );
}

#[test]
fn an_input_is_never_a_flag() {
    let bench = place("touch started");
    for (name, value) in [
        ("CONFIG", "-x"),
        ("SCENARIOS", "ask --out=/tmp/elsewhere"),
        ("BASELINE", "--candidate=one"),
        ("CANDIDATE", "-"),
        ("ROUNDS", "-1"),
        ("PROFILE", "--help"),
        ("BASELINE", "one\ntwo"),
    ] {
        let ran = act(&bench, &[(name, value)]);
        assert_eq!(ran.code, 2, "{name}={value}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("::error::input"), "{name}={value}: {}", ran.stderr);
    }
    for (name, value) in [
        ("BASELINE", "$(touch started)"),
        ("SCENARIOS", "`touch started`"),
        ("ROUNDS", "1; touch started"),
    ] {
        assert_ne!(act(&bench, &[(name, value)]).code, 0, "{name}={value}");
    }
    assert!(!bench.path("started").exists(), "an input was run");
}
