//! Benchmarks: the driver criterion, as it comes with the program, on samples that criterion wrote.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, repository, run_folder, series};

/// Programs that answer as `cargo bench` does: of the one benchmark they know, criterion's own samples.
fn project(samples: u32) -> Bench {
    let recorded = repository().join("drivers/criterion/samples/good/raw");
    let recorded = recorded.to_string_lossy();
    let script = format!(
        "set -e; test \"$COLOUR $1 $2\" = \"red -- --exact\"; test -f built; test \"$3\" = known || exit 0; \
         mkdir -p \"$CRITERION_HOME/known/new\"; cp '{recorded}' \"$CRITERION_HOME/known/new/sample.json\""
    );
    let server = format!(
        "about = \"test\"\nprotocols = [\"process\"]\nbuild = [\"touch\", \"built\"]\ncommand = [\"bash\", \"-c\", {script:?}, \"bench\"]\n\
         env = {{ COLOUR = \"red\" }}\n[operations]\nask.request = {{ bench = \"known\" }}\nother.request = {{ bench = \"unknown\" }}\n"
    );
    let scenario = format!("about = \"test\"\noperation = [\"ask\", \"other\"]\nload = {{ samples = {samples} }}\n");
    let config = "builtin_drivers = [\"criterion\"]\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\nwarmup = \"1s\"\n";
    Bench::new()
        .file("wirebench.toml", config)
        .file("scenarios/ask.toml", &scenario)
        .file("servers/p/server.toml", &server)
}

const OPTIONS: [&str; 4] = ["--profile", "test", "--driver", "criterion"];

fn round<'a>(record: &'a Value, id: &str) -> &'a Value {
    &series(record, id)["rounds"][0]
}

#[test]
fn a_benchmark_is_recorded_and_one_that_is_not_there_fails() {
    let bench = project(20);
    let ended = bench.run(&[&["run"][..], &OPTIONS].concat());
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let record = bench.record();
    let known = series(&record, "ask-ask@p@criterion");
    assert_eq!(
        (&known["protocol"], &known["load"]["samples"]),
        (&json!("process"), &json!(20))
    );
    assert!(known["load"]["connections"].is_null() && known["load"]["warmup_ns"].is_null());
    let good = round(&record, "ask-ask@p@criterion");
    assert_eq!(
        (&good["status"], &good["ok_count"]),
        (&json!("ok"), &json!(20)),
        "{good}"
    );
    // The tenth of the twenty times in ascending order, and the largest.
    assert_eq!(
        (&good["latency_ns"]["p50"], &good["latency_ns"]["p99"]),
        (&json!(390), &json!(479))
    );
    assert!(good["elapsed_ns"].is_null() && good["server_cpu_ns"].is_null());
    let missing = round(&record, "ask-other@p@criterion");
    let reason = missing["reason"].as_str().unwrap();
    assert!(reason.contains("is there a benchmark of that name?"), "{reason}");

    let report = fs::read_to_string(run_folder(&bench.path("results")).join("report.md")).unwrap();
    assert!(report.contains("| p | criterion | 20 | 390 ns | 479 ns |"), "{report}");
}

#[test]
fn fewer_samples_than_asked_for_are_no_result() {
    let bench = project(30);
    let ended = bench.run(&["run", "--scenario", "ask-ask", "--driver", "criterion"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let record = bench.record();
    let reason = round(&record, "ask-ask@p@criterion")["reason"].as_str().unwrap();
    assert!(reason.contains("30 samples were asked for, 20 were taken"), "{reason}");
}

#[test]
fn there_is_nothing_to_ask_when_it_is_verified() {
    let bench = project(20);
    let ended = bench.run(&["verify", "--driver", "criterion"]);
    assert!(
        ended
            .stdout
            .contains("benchmark: known is built; there is no server to ask"),
        "{}",
        ended.stdout
    );
}
