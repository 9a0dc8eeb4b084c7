//! Servers with processes behind them: started in order, measured one by one, stopped the other way round.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, fixture, run_folder, series};
use crate::built::python;

/// A server `py` that asks the tier `service`, which asks the tier `store`, in a mode; each writes its name to `goodbyes` when
/// it is asked to end.
fn chain(bench: Bench, store: &str, more: &str) -> Bench {
    let (python, script) = (python(), fixture("server.py"));
    let process = |name: &str, mode: &str, args: &str| {
        format!(
            "command = [{python:?}, {script:?}, {mode:?}]\nargs = [\"{{port}}\"{args}]\nready = {{ http = \"/health\" }}\n\
             env = {{ NAME = {name:?}, GOODBYES = \"goodbyes\" }}\n"
        )
    };
    let text = format!(
        "about = \"test\"\nprotocols = [\"http\"]\n{}\n[[tiers]]\nname = \"store\"\n{}{more}\n\
         [[tiers]]\nname = \"service\"\n{}\n\
         [operations.ask]\nrequest = {{ path = \"/ask\" }}\nexpect = {{ body = '{{\"answer\":\"forty-two\"}}' }}\n",
        process("py", "front", ", \"{service}\""),
        process("store", store, ""),
        process("service", "front", ", \"{store}\""),
    );
    bench.file("servers/py/server.toml", &text)
}

fn digest(bench: &Bench) -> String {
    let ended = bench.run(&["list", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let line: Value = serde_json::from_str(ended.stdout.lines().next().unwrap()).unwrap();
    line["digest"].as_str().unwrap().to_owned()
}

#[test]
fn every_process_of_a_chain_is_measured_and_shown() {
    let bench = Bench::new().scenario("ask", "connections = 3, duration = \"1s\"");
    let bench = chain(bench, "ok", "").real_driver("hey");
    let ended = bench.run(&["run"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    let round = &series(&record, "ask@py@hey")["rounds"][0];
    let processes = round["processes"].as_array().unwrap();
    let names: Vec<&str> = processes.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["py", "service", "store"]);
    let sum = |of: &dyn Fn(&Value) -> u64| processes.iter().map(of).sum::<u64>();
    let cpu = |cpu: &Value| cpu["user"].as_u64().unwrap() + cpu["system"].as_u64().unwrap();
    for one in processes {
        assert!(cpu(&one["cpu_ns"]) > 0, "{one}");
        assert!(one["rss_bytes"].as_u64().unwrap() > 1_000_000, "{one}");
    }
    // The kernel keeps memory by thread and sums it up now and then.
    let peaks = sum(&|one| one["peak_rss_bytes"].as_u64().unwrap());
    let peak = round["server_peak_rss_bytes"].as_u64().unwrap();
    assert!(
        peaks.abs_diff(peak) < peak / 10,
        "memory is the chain's: {peaks}, {peak}"
    );
    let (all, parts) = (cpu(&round["server_cpu_ns"]), sum(&|one| cpu(&one["cpu_ns"])));
    assert!(parts > all / 2 && parts < all * 2, "{parts} of {all}");
    // The front holds the driver's connections and as many of its own; those that it accepted are counted.
    let connections: Vec<Option<u64>> = processes.iter().map(|one| one["connections_seen"].as_u64()).collect();
    assert_eq!(connections, [Some(3), Some(3), Some(3)]);
    assert_eq!(round["status"], "ok", "{}", round["reason"]);
    let goodbyes = fs::read_to_string(bench.path("goodbyes")).unwrap();
    assert_eq!(goodbyes, "py\nservice\nstore\n", "the front is stopped first");
    for report in ["report.md", "report.html"] {
        let text = fs::read_to_string(run_folder(&bench.path("results")).join(report)).unwrap();
        assert!(text.contains("Processes of the chain"), "{report}");
    }
}

#[test]
fn a_tier_that_dies_under_load_is_named() {
    let bench = chain(Bench::new(), "dies-under-load", "").driver("fake", "ok");
    let ended = bench.run(&["run"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let record = bench.record();
    let found = series(&record, "ask@py@fake");
    assert_eq!(found["status"], "failed", "{found}");
    let reason = found["reason"].as_str().unwrap();
    for word in ["tier store exited with status 7 under load", "giving up on purpose"] {
        assert!(reason.contains(word), "expected {word:?} in {reason:?}");
    }
}

#[test]
fn a_tier_that_never_gets_ready_is_named() {
    let bench = chain(Bench::new(), "never-ready", "ready_timeout = \"300ms\"\n").driver("fake", "ok");
    let ended = bench.run(&["verify"]);
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    assert!(
        ended.stdout.contains("server py, tier store: not ready within 300ms"),
        "{}",
        ended.stdout
    );
}

#[test]
fn another_tier_is_another_question_and_a_chain_is_not_counted() {
    let one = digest(&chain(Bench::new(), "ok", "").driver("fake", "ok"));
    assert_eq!(
        one,
        digest(&chain(Bench::new(), "ok", "ready_timeout = \"9s\"\n").driver("fake", "ok"))
    );
    assert_ne!(one, digest(&chain(Bench::new(), "wrong", "").driver("fake", "ok")));
    let toml = "builtin_drivers = []\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[count]\ndrivers = [\"fake\"]\n";
    let counted = chain(Bench::new().file("wirebench.toml", toml), "ok", "").driver("fake", "ok");
    let listed = counted.run(&["list"]);
    assert!(
        listed.stdout.contains("ask@py@fake"),
        "{}{}",
        listed.stdout,
        listed.stderr
    );
    assert!(!listed.stdout.contains("count-ask@py@fake"), "{}", listed.stdout);
}
