//! `wirebench count` through the real command line: a server in C under the real valgrind and strace, driven by the real hey.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::bench::{Bench, Ended, assert_fits, record_in, series};
use crate::built;

/// A project that counts one operation, with hey.
fn counting() -> Bench {
    Bench::new()
        .file(
            "wirebench.toml",
            "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[count]\nrequests = [20, 220]\n[compare]\nrounds = 8\n",
        )
        .real_driver("hey")
}

/// The only line of `count --json`.
fn line(ended: &Ended) -> Value {
    assert_eq!(ended.stdout.lines().count(), 1, "{}{}", ended.stdout, ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

fn value(line: &Value, metric: &str) -> f64 {
    line[metric]["value"]
        .as_f64()
        .unwrap_or_else(|| panic!("{metric} of {line:#}"))
}

/// The command of the C server in a mode, as a side.
fn c(mode: &str) -> String {
    format!("c={} {mode}", built::c_server().display())
}

fn remarks(line: &Value) -> String {
    line["remarks"].to_string()
}

#[test]
fn a_request_costs_what_it_costs_and_the_record_says_so() {
    let bench = counting().c_server("c", "alloc=7", "");
    let ended = bench.run(&["count", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let line = line(&ended);
    assert_eq!(line["series"], "count-ask@c@hey");
    assert!((value(&line, "allocations") - 7.0).abs() < 0.001, "{line:#}");
    assert!((value(&line, "allocated_bytes") - 7.0 * 32.0).abs() < 0.001, "{line:#}");
    // poll, read, write.
    assert!((value(&line, "syscalls") - 3.0).abs() < 0.02, "{line:#}");
    assert!((value(&line, "segments_sent") - 1.0).abs() < 0.01, "{line:#}");
    assert!(value(&line, "wire_bytes_sent") > value(&line, "payload_bytes"));
    let instructions = &line["instructions"];
    assert!(instructions["spread"].as_f64().unwrap() < 0.005 * instructions["value"].as_f64().unwrap());
    assert_eq!(line.get("remarks"), None, "{line:#}");

    let record = bench.record();
    assert_fits("run.v1.schema.json", &record);
    assert_eq!(record["status"], "complete");
    let counts = &record["series"][0]["counts"][0];
    assert_eq!(counts["status"], "ok");
    let names: Vec<&str> = counts["syscalls"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert!(names.contains(&"poll"), "{names:?}");
    let functions = counts["functions"].as_array().unwrap();
    let allocates = functions.iter().find(|one| one["metric"] == "allocations").unwrap();
    assert_eq!(allocates["function"], "allocate");
    let stacks = counts["stacks"]["instructions"].as_str().unwrap();
    let run = crate::bench::run_folder(&bench.path("results"));
    let folded = std::fs::read_to_string(run.join(stacks)).unwrap();
    assert!(folded.contains("allocate"), "{folded}");
}

#[test]
fn a_dearer_request_is_regressed_named_by_its_function_and_fails_the_gate() {
    let bench = counting().c_server("c", "work=1000", "");
    let (before, after) = (c("work=1000"), c("work=1012"));
    let ended = bench.run(&["count", "--baseline", &before, "--candidate", &after]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("Regressed"), "{}", ended.stdout);
    let run = crate::bench::run_folder(&bench.path("results"));
    let comparison: Value = serde_json::from_slice(&std::fs::read(run.join("comparison.json")).unwrap()).unwrap();
    assert_fits("comparison.v2.schema.json", &comparison);
    assert_eq!(comparison["verdict"], "regressed");
    let series = &comparison["series"][0];
    assert_eq!(series["functions"][0]["function"], "compute", "{series:#}");
    let metrics = series["metrics"].as_array().unwrap();
    let of = |name: &str| metrics.iter().find(|one| one["metric"] == name).unwrap();
    assert_eq!(of("instructions")["verdict"], "regressed");
    for same in [
        "allocations",
        "allocated_bytes",
        "syscalls",
        "wire_bytes_sent",
        "wire_bytes_received",
    ] {
        assert_eq!(of(same)["verdict"], "unchanged", "{}", of(same));
        assert_eq!(of(same)["primary"], true);
    }
    let graph = of("instructions")["flame_graph"].as_str().unwrap();
    assert!(std::fs::read_to_string(run.join(graph)).unwrap().contains("compute"));
    assert_eq!(bench.run(&["gate"]).code, 3);
}

#[test]
#[ignore = "nightly"]
fn one_more_allocation_is_found() {
    let bench = counting().c_server("c", "alloc=10", "");
    let (metrics, _) = compared(&bench, "more", &c("alloc=10"), &c("alloc=11"));
    let metrics = metrics.as_array().unwrap();
    let allocations = metrics.iter().find(|one| one["metric"] == "allocations").unwrap();
    assert_eq!(allocations["verdict"], "regressed");
}

#[test]
#[ignore = "nightly"]
fn equal_code_is_exactly_equal() {
    let bench = counting().c_server("c", "alloc=10", "");
    let (_, equal) = compared(&bench, "equal", &c("alloc=10"), &c("alloc=10"));
    assert_eq!(equal["verdict"], "unchanged");
}

/// The metrics of the only series of a comparison of two commands of server `c`, by name, and the whole comparison.
fn compared(bench: &Bench, out: &str, before: &str, after: &str) -> (Value, Value) {
    let out_folder = bench.path(out).display().to_string();
    let sides = [
        "--baseline",
        before,
        "--candidate",
        after,
        "--measure-identical",
        "--out",
    ];
    let ended = bench.run(&[&["count"][..], &sides, &[&out_folder]].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let run = crate::bench::run_folder(&bench.path(out));
    let comparison: Value = serde_json::from_slice(&std::fs::read(run.join("comparison.json")).unwrap()).unwrap();
    (comparison["series"][0]["metrics"].clone(), comparison)
}

/// A project whose server `c` may respond with anything.
fn of_random_lengths(command: &[&str]) -> Bench {
    let server = format!(
        "about = \"test\"\nprotocols = [\"http\"]\ncommand = {command:?}\nargs = [\"{{port}}\"]\nready = {{ tcp = true }}\n\
         [operations.ask]\nrequest = {{ path = \"/ask\" }}\nexpect = {{ status = 200 }}\n"
    );
    counting().file("servers/c/server.toml", &server)
}

fn assert_no_verdict_by_chance(comparison: &Value) {
    let metrics = comparison["series"][0]["metrics"].as_array().unwrap();
    assert!(
        metrics.iter().any(|one| one["metric"] == "wire_bytes_sent"),
        "{metrics:#?}"
    );
    for metric in metrics {
        let verdict = metric["verdict"].as_str().unwrap();
        assert!(!["regressed", "improved"].contains(&verdict), "{metric:#}");
    }
}

fn assert_more_bytes_are_no_all_clear(metrics: &Value) {
    let sent = metrics
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["metric"] == "wire_bytes_sent");
    let verdict = sent.unwrap()["verdict"].as_str().unwrap();
    assert!(["regressed", "inconclusive"].contains(&verdict), "{metrics:#}");
}

#[test]
#[ignore = "nightly"]
fn equal_code_whose_responses_vary_in_length_never_changes_and_longer_responses_are_no_all_clear() {
    let bench = of_random_lengths(&[&built::c_server().to_string_lossy(), "random"]);
    let (_, equal) = compared(&bench, "equal", &c("random"), &c("random"));
    assert_no_verdict_by_chance(&equal);
    let (metrics, _) = compared(&bench, "longer", &c("random=60"), &c("random=90"));
    assert_more_bytes_are_no_all_clear(&metrics);
}

#[test]
#[ignore = "nightly"]
fn equal_code_of_an_interpreted_server_whose_responses_vary_in_length_never_changes() {
    let server = crate::bench::fixture("random_lengths.py");
    let bench = of_random_lengths(&[built::python(), "-S", &server, "80"]);
    let side = |longest: &str| format!("c={} -S {server} {longest}", built::python());
    let (_, equal) = compared(&bench, "equal", &side("80"), &side("80"));
    assert_no_verdict_by_chance(&equal);
    let (metrics, _) = compared(&bench, "longer", &side("80"), &side("110"));
    assert_more_bytes_are_no_all_clear(&metrics);
}

/// Over many requests, lengths that differ by a byte or two hardly change the bytes on the wire.
#[test]
fn the_length_of_one_response_is_no_figure_if_others_differ() {
    let payload = |longest: &str| {
        let server = crate::bench::fixture("random_lengths.py");
        let bench = of_random_lengths(&[built::python(), "-S", &server, longest]);
        line(&bench.run(&["count", "--json"]))["payload_bytes"]["value"].clone()
    };
    assert_eq!(payload("20"), 20.0);
    assert_eq!(payload("22"), Value::Null);
}

/// A stand-in for perf counts: no machine of these tests has a hardware counter.
#[test]
fn an_interpreted_program_has_its_instructions_from_the_processors_counter() {
    let server = crate::bench::fixture("counting.py");
    let side = |cost: &str| format!("c={} -S {server} {cost}", built::python());
    let bench = of_random_lengths(&[built::python(), "-S", &server, "5000"]);
    std::fs::create_dir_all(bench.path(".tools/bin")).unwrap();
    std::os::unix::fs::symlink(crate::bench::fixture("perf"), bench.path(".tools/bin/perf")).unwrap();

    let (metrics, comparison) = compared(&bench, "dearer", &side("5000"), &side("5200"));
    let mut metrics = metrics.as_array().unwrap().iter();
    let found = metrics.find(|one| one["metric"] == "instructions").unwrap();
    let sides = [&found["baseline"], &found["candidate"]].map(|value| value.as_f64().unwrap());
    assert_eq!((&found["verdict"], sides), (&"regressed".into(), [5_000.0, 5_200.0]));
    assert_eq!(
        (&comparison["verdict"], &found["null_percent"]),
        (&"regressed".into(), &0.0.into())
    );
    let record = record_in(&bench.path("dearer"));
    let counted = &series(&record, "count-ask@c@hey")["counts"][0];
    assert!(
        remarks(counted).contains("allocations and system calls are not counted"),
        "{counted:#}"
    );
    assert!(record["tools"].to_string().contains("perf"));

    let without = bench.run_with(&["count", "--json"], &[("WIREBENCH_FAKE_PERF", "<not supported>")]);
    assert_eq!(line(&without)["instructions"]["value"], Value::Null);
    let why = "the processor has no usable counter here: instructions:u is <not supported>";
    assert!(without.stderr.contains(why), "{}", without.stderr);
}

/// A busy loop for each core, ended when dropped.
struct Load(Vec<Child>);

impl Load {
    fn on_every_core() -> Self {
        let cores = std::thread::available_parallelism().unwrap().get();
        let spin = || {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]).stdout(Stdio::null());
            command.spawn().unwrap()
        };
        Self((0..cores).map(|_| spin()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
#[ignore = "nightly"]
fn a_busy_machine_counts_the_same() {
    let bench = counting().c_server("c", "good", "");
    let count = |out: &str| {
        let out_folder = bench.path(out).display().to_string();
        line(&bench.run(&["count", "--json", "--out", &out_folder]))
    };
    let quiet = count("quiet");
    let load = Load::on_every_core();
    let busy = count("busy");
    drop(load);
    for metric in [
        "instructions",
        "allocations",
        "syscalls",
        "wire_bytes_sent",
        "wire_bytes_received",
    ] {
        let spread = quiet[metric]["spread"].as_f64().unwrap() + busy[metric]["spread"].as_f64().unwrap();
        let apart = (value(&quiet, metric) - value(&busy, metric)).abs();
        assert!(apart <= spread, "{metric}: {} against {}", quiet[metric], busy[metric]);
    }
}

#[test]
fn what_valgrind_cannot_run_keeps_its_other_figures() {
    let bench = counting().c_server("c", "unknown-instruction", "");
    let ended = bench.run(&["count", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let line = line(&ended);
    let why = line["instructions"]["reason"].as_str().unwrap();
    assert!(
        why.contains("under callgrind") && why.contains("before it was ready"),
        "{why}"
    );
    assert!(value(&line, "syscalls") > 2.0 && value(&line, "wire_bytes_sent") > 0.0);
    assert_eq!(bench.record()["series"][0]["status"], "partial");
}

#[test]
fn a_counted_server_is_told_to_use_one_thread() {
    let place = tempfile::tempdir().unwrap();
    let told = place.path().join("told");
    let script = format!(
        "echo $GOMAXPROCS $TOKIO_WORKER_THREADS $RAYON_NUM_THREADS > {}",
        told.display()
    );
    let bench = of_random_lengths(&["sh", "-c", &script]);
    assert_eq!(bench.run(&["count"]).code, 1, "it ends before it listens");
    assert_eq!(std::fs::read_to_string(told).unwrap(), "1 1 1\n");
}

#[test]
fn a_server_that_never_gets_ready_or_crashes_fails_its_series_alone() {
    let bench = counting()
        .c_server("never", "never-ready", "ready_timeout = \"300ms\"")
        .c_server("crashes", "crash=5", "")
        .server("good", "good", "");
    let ended = bench.run(&["count"]);
    assert_eq!(ended.code, 1);
    let record = bench.record();
    let reason = |place: usize| {
        record["series"][place]["reason"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(record["series"][0]["id"], "count-ask@crashes@hey");
    assert!(reason(0).contains("ended by signal 6"), "{}", reason(0));
    assert_eq!(record["series"][1]["status"], "ok");
    // The limit is longer while other programs keep the machine busy.
    assert!(reason(2).contains("not ready within "), "{}", reason(2));
    assert!(ended.stderr.contains("failed: count-ask@never@hey"), "{}", ended.stderr);
}

#[test]
#[ignore = "nightly"]
fn a_driver_that_has_to_connect_again_is_not_counted() {
    let bench = counting().c_server("c", "drop=3", "");
    let ended = bench.run(&["count", "--json"]);
    let why = line(&ended)["instructions"]["reason"].to_string();
    // A request that was lost is a failure; a new connection for each is what some servers want, and no reason to fail a run.
    let expected = if why.contains("requests failed") { 1 } else { 0 };
    assert!(expected == 1 || why.contains("not counted: hey opened"), "{why}");
    assert_eq!(ended.code, expected, "{why}");
}

#[test]
#[ignore = "nightly"]
fn what_is_not_to_be_taken_at_face_value_is_remarked() {
    let bench = counting()
        .c_server("background", "background=100000", "")
        .c_server("dearer", "dearer=100", "")
        .stripped_c_server("stripped", "good", "")
        .server("python", "good", "");
    let ended = bench.run(&["count", "--json"]);
    let of = |server: &str| -> Value {
        let found = ended.stdout.lines().find(|line| line.contains(&format!("@{server}@")));
        serde_json::from_str(found.unwrap_or_else(|| panic!("{server}: {}", ended.stderr))).unwrap()
    };
    assert!(
        remarks(&of("background")).contains("of a core without being asked"),
        "{}",
        of("background")
    );
    assert!(
        remarks(&of("dearer")).contains("second half of a run"),
        "{}",
        of("dearer")
    );
    assert!(remarks(&of("stripped")).contains("no symbols"), "{}", of("stripped"));
    assert!(
        remarks(&of("python")).contains("python runs the program"),
        "{}",
        of("python")
    );
}

#[test]
fn without_valgrind_and_strace_a_run_is_still_good_and_says_what_it_lacks() {
    let bench = counting().c_server("c", "good", "");
    // Everything but the two: a folder of links to what else is needed.
    let tools = bench.path("tools");
    std::fs::create_dir_all(&tools).unwrap();
    for program in ["jq", "go", "sh", "git"] {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .output()
            .unwrap();
        let path = String::from_utf8(found.stdout).unwrap();
        std::os::unix::fs::symlink(path.trim(), tools.join(program)).unwrap();
    }
    let ended = bench.run_with(&["count", "--json"], &[("PATH", &tools.display().to_string())]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("strace is not installed") && ended.stderr.contains("valgrind is not installed"));
    let line = line(&ended);
    assert!(value(&line, "wire_bytes_sent") > 0.0);
    assert!(line["instructions"]["value"].is_null());
}

/// The series that a run of one server with one scenario makes with these arguments.
fn series_of(only: &[&str]) -> Vec<String> {
    let bench = counting()
        .c_server("c", "good", "")
        .scenario("ask", "connections = 1, requests = 2000");
    let out = bench.path("out");
    let out_folder = out.display().to_string();
    let ended = bench.run(&[&["run", "--out", &out_folder], only].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = record_in(&out);
    let ids = record["series"].as_array().unwrap().iter();
    ids.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_run_counts_and_times_in_one_go_and_counts_can_be_left_out() {
    assert_eq!(series_of(&["--scenario", "a*"]), ["ask@c@hey", "count-ask@c@hey"]);
    assert_eq!(series_of(&["--only", "timings"]), ["ask@c@hey"]);
}

#[test]
#[ignore = "nightly"]
fn a_run_without_arguments_counts_and_times_and_timings_can_be_left_out() {
    assert_eq!(series_of(&[]), ["ask@c@hey", "count-ask@c@hey"]);
    assert_eq!(series_of(&["--only", "counts"]), ["count-ask@c@hey"]);
}

#[test]
fn counting_that_is_switched_off_or_wrongly_declared_is_said() {
    let bench = Bench::new().c_server("c", "good", "").real_driver("hey");
    let ended = bench.run(&["count"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("enabled = true"), "{}", ended.stderr);
    for (text, key) in [
        ("requests = [100, 120]", "count.requests"),
        ("drivers = []", "count.drivers"),
        ("drivers = [\"[\"]", "count.drivers"),
        ("spread = 1", "spread"),
    ] {
        let toml = format!(
            "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[count]\n{text}\n"
        );
        let bench = Bench::new().file("wirebench.toml", &toml);
        let ended = bench.run(&["list"]);
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.contains(key), "{}", ended.stderr);
    }
}
