//! Servers on another host: the same rounds and verdicts, with the network in the latency, and nothing left there.

mod namespaces;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::bench::{Bench, repository, run_folder, series};
use crate::built;

use namespaces::{Hosts, THERE};

/// The fixture server in C, told where to listen, and hey.
fn bench(load: &str) -> Bench {
    let text = server("good");
    Bench::new()
        .scenario("ask", load)
        .file("servers/c/server.toml", &text)
        .real_driver("hey")
}

fn server(mode: &str) -> String {
    let program = built::c_server();
    format!(
        "about = \"test\"\nprotocols = [\"http\"]\ncommand = [{program:?}, \"{mode}\"]\nargs = [\"{{address}}\"]\n\
         ready = {{ http = \"/health\" }}\n[operations.ask]\nrequest = {{ path = \"/ask\" }}\n\
         expect = {{ status = 200, body = '{{\"answer\":\"forty-two\"}}' }}\n"
    )
}

fn run(hosts: &Hosts, bench: &Bench, more: &[&str]) -> Value {
    let address = Hosts::address();
    let args = [&["run", "--server-host", &address], more].concat();
    let ended = hosts.run(bench, &args);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    assert_eq!(hosts.running_there(), Vec::<String>::new());
    assert!(hosts.folders_there().is_empty(), "{:?}", hosts.folders_there());
    let record = bench.record();
    fs::remove_dir_all(bench.path("results")).unwrap();
    record
}

/// The median over the rounds of one value, ms.
fn median_ms(record: &Value, pointer: &str) -> f64 {
    let rounds = series(record, "ask@c@hey")["rounds"].as_array().unwrap();
    let mut values: Vec<f64> = rounds
        .iter()
        .map(|round| round.pointer(pointer).unwrap().as_f64().unwrap())
        .collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2] / 1e6
}

/// A run over a link that adds 5 ms each way and loses 0.5 %, beside one over a link that adds nothing: by how much p50 rose, ms.
fn rise(hosts: &Hosts, bench: &Bench, near: &Value) -> f64 {
    let link = hosts.slow_link(5.0, 0.005);
    let far = run(hosts, bench, &["--rounds", "3"]);
    let (ping, ping_before) = (median_ms(&far, "/ping/p50_ns"), median_ms(near, "/ping/p50_ns"));
    let (p50, p50_before) = (median_ms(&far, "/latency_ns/p50"), median_ms(near, "/latency_ns/p50"));
    println!(
        "p50 {p50_before:.3} → {p50:.3} ms, ping {ping_before:.3} → {ping:.3} ms, link {}",
        link.end()
    );
    // No packet leaves early: 5 ms there and 5 ms back.
    assert!(p50 - p50_before > 9.0 && ping - ping_before > 9.0);
    checked(&far);
    p50 - p50_before
}

/// The same runs over a link that adds nothing.
fn near(hosts: &Hosts, bench: &Bench) -> Value {
    let link = hosts.slow_link(0.0, 0.0);
    let near = run(hosts, bench, &["--rounds", "3"]);
    println!("without delay: {}", link.end());
    near
}

#[test]
#[ignore = "nightly"]
fn a_slow_and_lossy_link_is_added_to_the_latency_and_said() {
    let Some(hosts) = Hosts::make() else { return };
    let bench = bench("connections = 1, duration = \"2s\"");
    let near = near(&hosts, &bench);
    rise(&hosts, &bench, &near);
}

#[test]
#[ignore = "nightly"]
fn the_latency_rises_by_what_the_link_adds() {
    let Some(hosts) = Hosts::make() else { return };
    let bench = bench("connections = 2, duration = \"5s\"");
    let near = near(&hosts, &bench);
    let rises: Vec<f64> = (0..3).map(|_| rise(&hosts, &bench, &near)).collect();
    let off = rises.iter().map(|rise| (rise - 10.0).abs()).fold(f64::MAX, f64::min);
    assert!(off < 1.0, "the link adds 10 ms, and p50 rose by {rises:?} ms");
}

/// What a record says of the other host, and what it does not.
fn checked(record: &Value) {
    let host = &record["hosts"][0];
    assert_eq!(
        (&record["hosts"].as_array().unwrap().len(), &host["role"]),
        (&1, &Value::from("server"))
    );
    assert!(host["host"]["cpu_count"].as_u64().unwrap() > 0);
    let offset = host["clock_offset_ns"].as_i64().unwrap();
    // Both namespaces have one clock.
    assert!(offset.unsigned_abs() <= host["clock_uncertainty_ns"].as_u64().unwrap());
    for round in series(record, "ask@c@hey")["rounds"].as_array().unwrap() {
        assert_eq!(round["status"], "ok", "{round}");
        // A handshake that lost a packet makes the driver open another.
        assert!(round["connections_seen"].as_u64().unwrap() >= 1, "{round}");
        let cpu = &round["server_cpu_ns"];
        assert!(cpu["user"].as_u64().unwrap() + cpu["system"].as_u64().unwrap() > 0);
        assert!(round["server_peak_rss_bytes"].as_u64().unwrap() > 100_000);
        assert_eq!(round["ping"]["sent"], 20);
    }
    let text = record.to_string();
    assert!(
        !text.contains(THERE) && !text.contains("root@"),
        "the record names the host"
    );
}

#[test]
#[ignore = "nightly"]
fn over_a_slow_and_lossy_link_a_slower_server_regresses_and_an_equal_one_does_not() {
    let Some(hosts) = Hosts::make() else { return };
    let _link = hosts.slow_link(5.0, 0.005);
    let config = "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 8\n\
                  [count]\nenabled = false\n[compare]\nbudget = \"20m\"\n";
    for (mode, verdict) in [("work=90000", "regressed"), ("work=30000", "not regressed")] {
        // Of several workers, the others idle at the end of a round while one waits 200 ms for a lost packet.
        let bench = bench("connections = 1, requests = 60")
            .file("wirebench.toml", config)
            .file("servers/c/server.toml", &server("work=30000"))
            .commit("v1")
            .file("servers/c/server.toml", &server(mode))
            .commit("v2");
        let sides = [
            "--baseline",
            "v1",
            "--candidate",
            "v2",
            "--rounds",
            "8",
            "--budget",
            "160s",
            "--measure-identical",
        ];
        let record = run_kept(&hosts, &bench, &sides);
        let words = record["verdict"].as_str().unwrap_or_default().to_owned();
        println!("{mode}: {words}");
        assert_eq!(words == "regressed", verdict == "regressed", "{record}");
    }
}

/// The comparison of a run.
fn run_kept(hosts: &Hosts, bench: &Bench, more: &[&str]) -> Value {
    let address = Hosts::address();
    let ended = hosts.run(bench, &[&["run", "--server-host", &address], more].concat());
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let file = run_folder(&bench.path("results")).join("comparison.json");
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// Starts a run of many rounds, and waits until the second begins.
fn begun(hosts: &Hosts, bench: &Bench) -> (std::process::Child, impl Iterator<Item = String>) {
    begun_with(hosts, bench, "--server-host")
}

fn begun_with(hosts: &Hosts, bench: &Bench, flag: &str) -> (std::process::Child, impl Iterator<Item = String> + use<>) {
    let address = Hosts::address();
    let args = ["run", flag, &address, "--rounds", "50"];
    let mut command = hosts.command(bench, &args, "config");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok);
    talk.by_ref()
        .find(|line| line.starts_with("round 2/50"))
        .expect("a second round");
    (child, talk)
}

fn is_clean_within(hosts: &Hosts, time: Duration) -> bool {
    let end = Instant::now() + time;
    loop {
        if hosts.running_there().is_empty() && hosts.folders_there().is_empty() {
            return true;
        }
        if Instant::now() > end {
            println!("left there: {:?} {:?}", hosts.running_there(), hosts.folders_there());
            return false;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The command lines, with their ports, of the tier behind the server on the second host.
fn tiers_there(hosts: &Hosts) -> Vec<String> {
    let mut running = hosts.running_there();
    // The server replaces = in its command line.
    running.retain(|line| line.contains(" work 7 ") && !line.starts_with("sh "));
    running
}

#[test]
#[ignore = "nightly"]
fn a_kept_tier_runs_there_until_the_run_ends() {
    let Some(hosts) = Hosts::make() else { return };
    let _link = hosts.slow_link(0.0, 0.0);
    let tier = format!(
        "[[tiers]]\nname = \"store\"\ncommand = [{:?}, \"work=7\"]\nargs = [\"{{address}}\"]\nready = {{ tcp = true }}\nkeep = true\n",
        built::c_server()
    );
    let bench = bench("connections = 1, duration = \"500ms\"");
    let bench = bench.file("servers/c/server.toml", &format!("{}{tier}", server("good")));
    let (mut child, mut talk) = begun(&hosts, &bench);
    let first = tiers_there(&hosts);
    talk.find(|line| line.starts_with("round 4/50"))
        .expect("a fourth round");
    assert_eq!((first.len(), tiers_there(&hosts)), (1, first));
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    let rest: Vec<String> = talk.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(is_clean_within(&hosts, Duration::from_secs(120)), "{rest:?}");
    for round in series(&bench.record(), "ask@c@hey")["rounds"].as_array().unwrap() {
        assert_eq!(round["status"], "ok", "{round}");
        assert_eq!(round["processes"][1]["name"], "store", "{round}");
    }
}

#[test]
fn nothing_is_left_there_after_ctrl_c_or_a_kill() {
    let Some(hosts) = Hosts::make() else { return };
    let _link = hosts.slow_link(1.0, 0.0);
    let bench = bench("connections = 1, duration = \"500ms\"");
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let (mut child, talk) = begun(&hosts, &bench);
        kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
        let status = child.wait().unwrap();
        let rest: Vec<String> = talk.collect();
        if signal == Signal::SIGINT {
            assert_eq!(status.code(), Some(130), "{rest:?}");
            assert_eq!(bench.record()["status"], "incomplete");
        }
        assert!(
            is_clean_within(&hosts, Duration::from_secs(120)),
            "after {signal}: {rest:?}"
        );
        // ssh ends when the shell there has.
        wirebench_testing::holds_within(Duration::from_secs(120), || bench.left_behind().is_empty());
        assert_eq!(bench.left_behind(), Vec::<String>::new());
        fs::remove_dir_all(bench.path("results")).unwrap();
    }
}

#[test]
#[ignore = "nightly"]
fn a_connection_that_dies_fails_the_rounds_and_leaves_nothing_there() {
    let Some(hosts) = Hosts::make() else { return };
    let _link = hosts.slow_link(1.0, 0.0);
    let bench = bench("connections = 1, duration = \"500ms\"");
    let (mut child, talk) = begun(&hosts, &bench);
    hosts.cut();
    let rest: Vec<String> = talk.collect();
    // The first round is good, so the series has a figure.
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest:?}");
    let record = bench.record();
    let text = series(&record, "ask@c@hey").to_string();
    assert!(text.contains("the connection to the other host is lost"), "{text}");
    // sshd does not notice: the shell there waits half a minute for a sign of life.
    assert!(is_clean_within(&hosts, Duration::from_secs(180)));
}

#[test]
fn what_cannot_be_reached_or_run_says_where_and_what_to_do() {
    let Some(hosts) = Hosts::make() else { return };
    let _link = hosts.slow_link(0.0, 0.0);
    let bench = bench("connections = 1, requests = 10").file(
        "servers/script/server.toml",
        &server("good").replace(&format!("{:?}", built::c_server()), "\"python3\""),
    );
    let said = |address: &str, config: &str| {
        let args = ["run", "--server-host", address, "--server", "c"];
        let output = hosts.command(&bench, &args, config).output().unwrap();
        assert_ne!(output.status.code(), Some(0));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let root = Hosts::address();
    for (address, config, words) in [
        (&*root, "stranger", ["Host key verification failed", "known_hosts"]),
        (
            "ssh://root@10.77.0.2:2222",
            "config",
            ["Connection refused", "nobody answers"],
        ),
        ("ssh://-oProxyCommand=x", "config", ["expected ssh://", "--server-host"]),
    ] {
        let said = said(address, config);
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    assert!(!hosts.file("empty").exists(), "the key of an unknown host is not taken");
    let scripted = hosts.run(&bench, &["run", "--server-host", &root, "--server", "script"]);
    assert_eq!(scripted.code, 1);
    assert!(scripted.stderr.contains("native program"), "{}", scripted.stderr);
}

/// The record of a run with the load on the other host.
fn loaded_from_there(hosts: &Hosts, bench: &Bench) -> Value {
    let address = Hosts::address();
    let ended = hosts.run(bench, &["run", "--driver-host", &address, "--rounds", "2"]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    assert_eq!(hosts.running_there(), Vec::<String>::new());
    assert!(hosts.folders_there().is_empty(), "{:?}", hosts.folders_there());
    assert!(ended.stdout.contains("load from another host"), "{}", ended.stdout);
    bench.record()
}

#[test]
fn load_comes_from_another_host_with_its_cpu_time_its_raw_output_and_the_network() {
    let Some(hosts) = Hosts::make() else { return };
    let link = hosts.slow_link(5.0, 0.0);
    // hey prints all it measured, and h2load writes a file of its own.
    let bench = bench("connections = 2, duration = \"2s\"").real_driver("h2load");
    let record = loaded_from_there(&hosts, &bench);
    println!("link {}", link.end());
    assert_eq!(record["hosts"][0]["role"], "driver");
    for id in ["ask@c@hey", "ask@c@h2load"] {
        let rounds = series(&record, id)["rounds"].as_array().unwrap();
        // On a busy machine the load generator may not get to its next request in time, which is noticed.
        let (good, others): (Vec<&Value>, Vec<&Value>) = rounds.iter().partition(|round| round["status"] == "ok");
        assert!(!good.is_empty(), "{id}: {rounds:?}");
        assert!(
            others
                .iter()
                .all(|round| round["failed_checks"][0]["kind"] == "in_flight"),
            "{id}: {others:?}"
        );
        for round in good {
            let cpu = |side: &str| round[side]["user"].as_u64().unwrap() + round[side]["system"].as_u64().unwrap();
            assert!(cpu("server_cpu_ns") > 0 && cpu("driver_cpu_ns") > 0, "{id}: {round}");
            for time in ["/latency_ns/p50", "/ping/p50_ns"] {
                let ms = round.pointer(time).unwrap().as_f64().unwrap() / 1e6;
                assert!(
                    (9.0..20.0).contains(&ms),
                    "{id}: {time} is {ms} ms over a link of 10 ms"
                );
            }
        }
    }
    let text = record.to_string();
    assert!(
        !text.contains(THERE) && !text.contains("root@"),
        "the record names the host"
    );
    let again = record["repeat"].as_str().unwrap();
    assert!(again.contains("--driver-host ssh://HOST"), "{again}");
}

#[test]
#[ignore = "nightly"]
fn grpc_files_go_to_the_host_that_loads_and_both_sides_may_be_elsewhere() {
    let Some(hosts) = Hosts::make() else { return };
    let _link = hosts.slow_link(0.0, 0.0);
    let address = Hosts::address();
    let bench = Bench::empty();
    let (root, out) = (repository(), bench.path("results"));
    let (root, out) = (root.to_string_lossy(), out.to_string_lossy());
    let quick = [
        "--root",
        &root,
        "run",
        "--out",
        &out,
        "--profile",
        "quick",
        "--rounds",
        "1",
    ];
    let quick = [
        &quick[..],
        &["--scenario", "weather-fixed-duration", "--driver-host", &address],
    ]
    .concat();
    for more in [
        &["--server", "grpc", "--driver", "ghz"][..],
        &["--server", "grpc", "--driver", "h2load"],
        &["--server", "http", "--driver", "hey", "--server-host", &address],
    ] {
        let ended = hosts.run(&bench, &[&quick, more].concat());
        assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
        assert!(hosts.folders_there().is_empty(), "{:?}", hosts.folders_there());
        assert_eq!(bench.record()["hosts"].as_array().unwrap().len(), more.len() / 2 - 1);
        fs::remove_dir_all(bench.path("results")).unwrap();
    }
}

#[test]
#[ignore = "nightly"]
fn a_driver_that_is_interrupted_there_leaves_nothing() {
    let Some(hosts) = Hosts::make() else { return };
    let _link = hosts.slow_link(1.0, 0.0);
    let bench = bench("connections = 1, duration = \"500ms\"");
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let (mut child, talk) = begun_with(&hosts, &bench, "--driver-host");
        kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
        child.wait().unwrap();
        let rest: Vec<String> = talk.collect();
        assert!(
            is_clean_within(&hosts, Duration::from_secs(120)),
            "after {signal}: {rest:?}"
        );
        fs::remove_dir_all(bench.path("results")).unwrap();
    }
}
