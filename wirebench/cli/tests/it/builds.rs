//! A server's own build command: run once in each side's folder, before anything is measured.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::bench::{Bench, NO_WARM_UP, fixture, series};
use crate::built::python;
use crate::variants::of;

/// Two servers that one build command makes, the program being a script; `build` is shell text.
fn project(build: &str) -> Bench {
    let server = |name: &str| {
        format!(
            "[servers.{name}]\nabout = \"test\"\nprotocols = [\"http\"]\nbuild = [\"sh\", \"-c\", {build:?}]\n\
             command = [\"out/serve\"]\nargs = [\"{{port}}\"]\nready = {{ http = \"/health\" }}\n\
             [servers.{name}.operations.ask]\nrequest = {{ path = \"/ask\" }}\n"
        )
    };
    let text = format!(
        "builtin_drivers = [\"hey\"]\n{NO_WARM_UP}[count]\nenabled = false\n{}{}\
         [scenarios.ask]\nabout = \"test\"\noperation = \"ask\"\nload = {{ connections = 1, requests = 200 }}\n",
        server("one"),
        server("two")
    );
    Bench::empty().file("wirebench.toml", &text)
}

/// Makes the program, and notes in the folder that it did.
fn making() -> String {
    format!(
        "mkdir -p out && echo built >> out/log && echo to stdout && printf '#!/bin/sh\\nexec %s %s ok $1\\n' {} {} > out/serve && chmod +x out/serve",
        python(),
        fixture("server.py")
    )
}

#[test]
fn a_build_runs_once_in_the_folder_of_each_side() {
    let bench = project(&making()).commit("v1");
    let ended = bench.run(&["run", "--baseline", "v1", "--rounds", "1", "--measure-identical"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for side in ["building baseline v1 (", "building candidate ("] {
        let line = ended.stderr.lines().find(|line| line.starts_with(side));
        assert!(line.is_some_and(|line| line.contains("): `sh -c ")), "{}", ended.stderr);
    }
    // What a build prints is not data.
    assert!(!ended.stdout.contains("to stdout") && ended.stderr.contains("to stdout"));
    let record = bench.record();
    for id in ["ask@one@hey", "ask@two@hey"] {
        for side in ["baseline", "candidate"] {
            assert!(
                of(series(&record, id), side)
                    .iter()
                    .any(|round| round["status"] == "ok")
            );
        }
    }
    let tree = bench
        .path(".wirebench/trees")
        .join(&bench.git(&["rev-parse", "v1"])[..12]);
    for folder in [bench.path("."), tree] {
        assert_eq!(fs::read_to_string(folder.join("out/log")).unwrap(), "built\n");
    }
}

#[test]
fn a_build_that_fails_is_named_and_breaks_only_its_servers() {
    let bench = project("echo what went wrong >&2; exit 3").server("other", "ok", "");
    let ended = bench.run(&["run", "--rounds", "1"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("what went wrong"), "{}", ended.stderr);
    let record = bench.record();
    let reason = series(&record, "ask@one@hey")["reason"].as_str().unwrap().to_owned();
    assert!(
        reason.contains("build `sh -c") && reason.contains("failed (exit status: 3)"),
        "{reason}"
    );
    assert_eq!(series(&record, "ask@other@hey")["status"], "ok");
    assert_eq!(of(series(&record, "ask@other@hey"), "candidate").len(), 1);
}

#[test]
fn an_interrupted_build_ends_with_its_child_processes() {
    const LENGTH: Duration = Duration::from_secs(300);
    for verb in [&["run", "--rounds", "1"][..], &["verify"]] {
        let bench = project(&format!("echo building >&2; sleep {} & wait", LENGTH.as_secs()));
        let mut child = bench.start(verb);
        let mut messages = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map_while(Result::ok);
        assert!(messages.any(|line| line == "building"), "{verb:?}");
        let asked = Instant::now();
        kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
        let rest: Vec<String> = messages.collect();
        let status = child.wait().unwrap();
        assert!(asked.elapsed() < LENGTH / 2, "{verb:?} waited for the build: {rest:?}");
        assert_eq!(status.code(), Some(143), "{verb:?}: {rest:?}");
        assert_eq!(bench.left_behind(), Vec::<String>::new());
    }
}

#[test]
fn a_build_beside_a_package_or_without_words_is_refused() {
    for (from, to, words) in [
        (
            "command = [\"out/serve\"]",
            "package = \"x\"",
            "servers.one.build: a package is built by cargo",
        ),
        (
            "build = [\"sh\", \"-c\", \"true\"]",
            "build = []",
            "servers.one.build: expected a program",
        ),
    ] {
        let bench = project("true");
        let text = fs::read_to_string(bench.path("wirebench.toml"))
            .unwrap()
            .replace(from, to);
        let ended = bench.file("wirebench.toml", &text).run(&["list"]);
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.contains(words), "expected {words:?} in {}", ended.stderr);
    }
}
