//! Broken servers and drivers: recorded with their reason, the others measured all the same, exit code 1.

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::bench::{Bench, series};
use crate::built;

/// Runs a project whose series `ask@py@fake` must fail or be invalid with all of `words` in its reason.
#[track_caller]
fn broken(bench: &Bench, id: &str, status: &str, words: &[&str]) -> Value {
    let ended = bench.run(&["run"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let record = bench.record();
    let found = series(&record, id);
    assert_eq!(found["status"], "failed", "{found}");
    assert_eq!(found["rounds"][0]["status"], status, "{found}");
    let reason = found["reason"].as_str().unwrap();
    for word in words {
        assert!(reason.contains(word), "expected {word:?} in {reason:?}");
        assert!(ended.stdout.contains(id), "the table does not name {id}");
    }
    record
}

fn with_server(mode: &str, more: &str) -> Bench {
    Bench::new().server("py", mode, more).driver("fake", "ok")
}

fn with_driver(mode: &str) -> Bench {
    Bench::new().server("py", "ok", "").driver("fake", mode)
}

#[test]
fn one_broken_series_does_not_stop_the_others() {
    let bench = Bench::new()
        .server("good", "ok", "")
        .server("bad", "dies-early", "")
        .driver("fake", "ok");
    let record = broken(
        &bench,
        "ask@bad@fake",
        "failed",
        &["before it was ready", "no configuration found"],
    );
    assert_eq!(series(&record, "ask@good@fake")["status"], "ok");
    assert_eq!(record["status"], "failed");
}

#[test]
fn a_server_that_never_gets_ready() {
    let bench = with_server("never-ready", "ready_timeout = \"300ms\"");
    broken(
        &bench,
        "ask@py@fake",
        "failed",
        &["not ready within 300ms", "ready_timeout"],
    );
}

#[test]
fn a_server_that_listens_on_a_unix_socket() {
    let bench = with_server("listens-on-a-unix-socket", "ready_timeout = \"10s\"");
    broken(
        &bench,
        "ask@py@fake",
        "failed",
        &[
            "it listens on the Unix socket ",
            ".sock",
            "let it listen on 127.0.0.1 and port {port}",
        ],
    );
}

#[test]
fn a_server_that_dies_under_load() {
    broken(
        &with_server("dies-under-load", ""),
        "ask@py@fake",
        "failed",
        &["exited with status 7", "giving up on purpose"],
    );
}

#[test]
fn a_server_that_answers_wrongly() {
    let words = ["wrong answer", "forty-two", "no"];
    broken(&with_server("wrong", ""), "ask@py@fake", "failed", &words);
}

#[test]
fn a_server_program_that_is_not_there() {
    let bench = with_server("ok", "").file(
        "servers/py/server.toml",
        "about = \"x\"\nprotocols = [\"http\"]\ncommand = [\"no-such-server\"]\nready = { tcp = true }\n\
         [operations.ask]\nrequest = { path = \"/\" }\n",
    );
    broken(&bench, "ask@py@fake", "failed", &["cannot start no-such-server"]);
}

#[test]
fn a_fixed_port_that_is_taken() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let bench = with_server("ok", &format!("port = {port}"));
    broken(
        &bench,
        "ask@py@fake",
        "failed",
        &[&format!("port {port} is taken by another program"), "stop that program"],
    );
}

#[test]
fn a_driver_that_hangs_is_stopped() {
    let bench = with_driver("hangs").scenario("ask", "connections = 1, requests = 20, timeout = \"500ms\"");
    broken(
        &bench,
        "ask@py@fake",
        "failed",
        &["still running after 500ms", "load.timeout"],
    );
}

#[test]
fn a_driver_that_fails() {
    broken(
        &with_driver("fails"),
        "ask@py@fake",
        "failed",
        &["fake exited with status 1", "cannot do this today"],
    );
}

/// ghz does, if its time is over before its connections are open.
#[test]
fn a_warm_up_whose_driver_crashes_is_run_again_for_longer() {
    let bench = Bench::new().c_server("c", "good", "");
    let mode = format!("crashes:{}", bench.path("crashes").display());
    let bench = bench.driver("fake", &mode);
    // A program of the project's own: no other load comes before the warm-up.
    let program = bench.path("server").display().to_string();
    fs::copy(built::c_server(), &program).unwrap();
    let read = |file: &str| fs::read_to_string(bench.path(file)).unwrap();
    let server = read("servers/c/server.toml").replace(&built::c_server().display().to_string(), &program);
    let config = read("wirebench.toml").replace("rounds = 1\n", "rounds = 1\nwarmup = \"100ms\"\n");
    let driver = read("drivers/fake/driver.toml").replace("[\"{requests}\"]", "[\"{requests}\"], [\"{duration}\"]");
    let bench = bench
        .file("servers/c/server.toml", &server)
        .file("wirebench.toml", &config)
        .file("drivers/fake/driver.toml", &driver);
    let ended = bench.run(&["run"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let crashes = fs::read_to_string(bench.path("crashes")).unwrap();
    assert_eq!(crashes, "100ms\n200ms\n400ms\n");
}

#[test]
fn a_driver_that_prints_nothing() {
    broken(
        &with_driver("silent"),
        "ask@py@fake",
        "failed",
        &["drivers/fake/normalise.jq"],
    );
}

#[test]
fn a_driver_that_prints_something_else() {
    broken(
        &with_driver("foreign"),
        "ask@py@fake",
        "failed",
        &["drivers/fake/normalise.jq"],
    );
}

#[test]
fn a_driver_that_floods_the_disk() {
    broken(
        &with_driver("floods"),
        "ask@py@fake",
        "failed",
        &["wrote more than 512 MiB"],
    );
}

#[test]
fn numbers_that_break_littles_law() {
    broken(
        &with_driver("unlawful"),
        "ask@py@fake",
        "invalid",
        &["Little's law", "of 1 workers"],
    );
}

#[test]
fn a_driver_that_opens_fewer_connections_than_asked() {
    let bench = with_driver("ok").scenario("ask", "connections = 4, requests = 2000");
    let said = "4 connections were asked for, 1 were seen";
    let record = broken(&bench, "ask@py@fake", "invalid", &[said]);
    let facts = &series(&record, "ask@py@fake")["rounds"][0]["failed_checks"];
    let fact = json!({ "kind": "connections_differ", "asked": 4, "seen": 1 });
    assert!(facts.as_array().unwrap().contains(&fact), "{facts}");
}

#[test]
fn a_missing_tool_is_named_with_its_install_line() {
    let bench = with_driver("ok").file(
        "drivers/fake/driver.toml",
        "about = \"x\"\n[tool]\nprogram = \"no-such-tool\"\nversion = \"1\"\ninstall = \"apt-get install it\"\n\
         version_command = [\"{program}\"]\nversion_pattern = '(x)'\n[protocols.http]\nargs = []\n[normalise]\nargs = []\n",
    );
    nothing_can_be_measured(&bench, &["no-such-tool is not installed", "apt-get install it"]);
    // Another driver measures all the same, and the missing one is named before the builds.
    let bench = bench.driver("other", "ok");
    let ended = bench.run(&["run"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let first = ended.stderr.lines().next().unwrap_or_default();
    assert!(
        first.contains("driver fake: no-such-tool is not installed"),
        "{}",
        ended.stderr
    );
    let record = bench.record();
    let reason = series(&record, "ask@py@fake")["reason"].as_str().unwrap();
    assert!(reason.contains("no-such-tool is not installed"), "{reason}");
    assert_eq!(series(&record, "ask@py@other")["status"], "ok");
}

/// Runs a project that has no load generator: it ends before it waits for the lock, which is held, or builds.
#[track_caller]
fn nothing_can_be_measured(bench: &Bench, words: &[&str]) {
    let lock = fs::File::open(bench.path("wirebench.toml")).unwrap();
    lock.lock().unwrap();
    let ended = bench.run(&["run"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "expected {word:?} in {}", ended.stderr);
    }
    assert!(!bench.path("results").exists(), "{}", ended.stderr);
}

#[test]
fn a_tool_of_another_version_is_named_with_both() {
    let bench = Bench::new()
        .server("py", "ok", "")
        .driver_of_version("fake", "ok", "9.9.9");
    let words = ["is version 1.2.3, but 9.9.9 is needed", "apt-get install fake"];
    nothing_can_be_measured(&bench, &words);
}

#[test]
fn real_hey_sees_every_request_refused_and_exits_0() {
    let bench = Bench::new()
        .server("py", "refuses", "")
        .real_driver("hey")
        .scenario("ask", "connections = 2, requests = 20");
    broken(
        &bench,
        "ask@py@hey",
        "invalid",
        &["20 of 20 requests failed", "refused"],
    );
}

#[test]
fn real_hey_sees_some_requests_fail() {
    let bench = Bench::new().server("py", "fails-under-load", "").real_driver("hey");
    broken(
        &bench,
        "ask@py@hey",
        "invalid",
        &["of 200 requests failed", "status 500"],
    );
}

#[test]
fn a_results_folder_that_cannot_be_made() {
    let ended = with_driver("ok").run(&["run", "--out", "/proc/no/such"]);
    assert_eq!(ended.code, 1);
    assert!(
        ended.stderr.contains("/proc/no/such") && ended.stderr.contains("--out"),
        "{}",
        ended.stderr
    );
}

/// A file system of 300 kB, in a mount namespace of its own; only root may make one.
#[test]
fn a_full_disk_costs_the_series_not_the_record() {
    let bench = with_driver("ok").driver("floods-a-little", "foreign");
    let out = bench.path("small");
    fs::create_dir(&out).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=300k none {0} && {1} --root {2} run --out {0} >/dev/null; code=$?; head -c 400000 /dev/zero > {0}/fill 2>/dev/null; \
         {1} --root {2} run --out {0} >/dev/null; second=$?; cat {0}/*/run.json; exit $((code * 10 + second))",
        out.display(),
        env!("CARGO_BIN_EXE_wirebench"),
        bench.path(".").display()
    );
    let output = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .env("WIREBENCH_LOCK", bench.path("wirebench.toml"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    if text.contains("Operation not permitted") || text.contains("permission denied") {
        eprintln!("skipped: only root can make a small file system: {text}");
        return;
    }
    // The first run has one broken driver; the second has no room at all, says so, and leaves the first whole.
    assert_eq!(output.status.code(), Some(11), "{text}");
    assert!(
        text.contains("No space left on device") && text.contains("--out"),
        "{text}"
    );
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(series(&record, "ask@py@fake")["status"], "ok");
}

#[test]
fn a_server_that_forks_and_ignores_the_request_to_end_is_killed_with_its_children() {
    let bench = with_server("forks-and-ignores-term", "");
    let ended = bench.run(&["run"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

#[test]
#[ignore = "nightly"]
fn a_server_that_opens_ten_thousand_sockets_is_measured() {
    let bench = with_server("opens-sockets", "");
    let ended = bench.run(&["run"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

#[test]
#[ignore = "nightly"]
fn a_clock_that_is_set_back_moves_no_duration() {
    let bench = with_server("ok", "");
    let preload = built::faults().to_string_lossy();
    let ended = bench.run_with(
        &["run"],
        &[
            ("LD_PRELOAD", preload.as_ref()),
            ("FAULT_PROGRAM", "wirebench"),
            ("FAULT", "clock"),
        ],
    );
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    let series = series(&record, "ask@py@fake");
    assert_eq!(
        (&record["status"], &series["status"]),
        (&json!("complete"), &json!("ok"))
    );
    let ready = series["rounds"][0]["server_ready_ns"].as_u64().unwrap();
    assert!((1..60_000_000_000).contains(&ready), "{ready}");
    let at = |key: &str| record[key].as_str().unwrap().to_owned();
    assert!(at("finished_at") < at("started_at"), "the clock went on");
    let measured = record["spent"]["measure_ns"].as_u64().unwrap();
    assert!((1..600_000_000_000).contains(&measured), "{measured}");
}
