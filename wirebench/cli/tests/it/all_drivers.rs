//! This repository's own servers under the real load generators. Tests start in the order of their names: the longest goes early.

use std::fs;

use serde_json::Value;

use crate::bench::{ended, record_in, repository, run_folder, series, wirebench};

fn rounds(series: &Value) -> &Vec<Value> {
    series["rounds"].as_array().unwrap()
}

#[test]
#[ignore = "nightly"]
fn verify_finds_every_tool_and_asks_every_server() {
    let ended = ended(wirebench(&["verify"]).current_dir(repository()));
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    for needed in [
        "hey v",
        "ghz v",
        "h2load: h2load ",
        "hyperfine: hyperfine ",
        "gnuplot: ",
        "jq: ",
        "http · weather · HTTP/1.1",
        "grpc · weather · gRPC",
    ] {
        assert!(ended.stdout.contains(needed), "no {needed:?} in\n{}", ended.stdout);
    }
}

#[test]
fn a_quick_run_measures_both_servers_with_every_driver() {
    let out = tempfile::tempdir().unwrap();
    let out_path = out.path().to_string_lossy().into_owned();
    let args = [
        "run",
        "--profile",
        "quick",
        "--only",
        "timings",
        "--rounds",
        "1",
        "--seed",
        "1",
        "--out",
        &out_path,
    ];
    let ended = ended(wirebench(&args).current_dir(repository()));
    let record = record_in(out.path());
    // A round may be invalid on a busy machine, and says why; every series must have been measured.
    for id in [
        "start-up@grpc@hyperfine",
        "start-up@http@hyperfine",
        "weather-fixed-count@grpc@ghz",
        "weather-fixed-count@grpc@h2load",
        "weather-fixed-count@http@h2load",
        "weather-fixed-count@http@hey",
        "weather-fixed-duration@grpc@ghz",
        "weather-fixed-duration@http@hey",
        "weather-multiplexed@grpc@ghz",
        "weather-multiplexed@grpc@h2load",
        "weather-multiplexed@http@h2load",
        "users-stream@grpc@messages",
        "users-stream@http@messages",
    ] {
        let found = series(&record, id);
        assert_eq!(rounds(found).len(), 1, "{found}");
        for round in rounds(found) {
            assert_ne!(round["status"], "failed", "{id}: {}", round["reason"]);
            assert_eq!(round["failed_count"], 0, "{id}: {}", round["reason"]);
            assert!(round["ok_count"].as_u64().unwrap() > 0, "{id}");
            // Most messages of a stream arrive together with the one before.
            let quantile = if id.starts_with("users-stream") { "p99" } else { "p50" };
            assert!(round["latency_ns"][quantile].as_u64().unwrap() > 0, "{id}");
            assert!(round["payload_bytes"].as_u64().unwrap() > 20, "{id}");
            if !id.starts_with("start-up") {
                assert!(round["server_cpu_ns"]["user"].as_u64().is_some(), "{id}");
                let driver_cpu = &round["driver_cpu_ns"];
                let driver_cpu = ["user", "system"].map(|kind| driver_cpu[kind].as_u64().unwrap());
                assert!(driver_cpu.iter().sum::<u64>() > 0, "{id}");
                assert!(round["server_peak_rss_bytes"].as_u64().unwrap() > 100_000, "{id}");
            }
        }
    }
    let multiplexed = series(&record, "weather-multiplexed@http@h2load");
    assert_eq!(multiplexed["protocol"], "h2c");
    assert_eq!(rounds(multiplexed)[0]["connections_seen"], 1);
    assert_eq!(
        rounds(series(&record, "weather-fixed-count@grpc@ghz"))[0]["ok_count"],
        30_000
    );

    let folder = run_folder(out.path());
    let report = fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(
        report.contains("| http | hey |") && report.contains("| grpc | ghz |"),
        "{report}"
    );
    for picture in [
        "weather-fixed-count-throughput",
        "weather-fixed-count-latency",
        "weather-multiplexed-cpu",
        "start-up-start",
    ] {
        let svg = fs::read_to_string(folder.join("charts").join(format!("{picture}.svg"))).unwrap_or_default();
        assert!(
            svg.contains("</svg>") && svg.contains("grpc · "),
            "{picture}.svg\n{}",
            ended.stderr
        );
        let png = fs::read(folder.join("charts").join(format!("{picture}.png"))).unwrap_or_default();
        assert!(png.starts_with(b"\x89PNG"), "{picture}.png");
    }
    assert!(
        ended.stdout.contains("weather-fixed-count") && ended.stdout.contains("hey"),
        "{}",
        ended.stdout
    );
    assert!(ended.stderr.contains("left"), "no remaining time in\n{}", ended.stderr);
}
