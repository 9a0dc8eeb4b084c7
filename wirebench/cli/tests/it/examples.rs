//! The examples, as a stranger would use them: real servers in Go, Node, Python and Java, real load generators, one file.

use std::path::Path;

use serde_json::Value;

use crate::bench::{Bench, repository, series};
use crate::variants::of;

/// A copy of an example in a git repository of its own.
fn example(name: &str) -> Bench {
    let bench = Bench::empty();
    copy(&repository().join("examples").join(name), &bench.path("."));
    bench.commit("v1")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if ["node_modules", "__pycache__", ".wirebench", "results"]
            .iter()
            .any(|built| name == *built)
        {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// Makes the load small: what is tested is that it works, not how fast.
fn small(bench: Bench) -> Bench {
    let text = std::fs::read_to_string(bench.path("wirebench.toml")).unwrap();
    assert!(text.contains("duration = \"5s\""), "{text}");
    let text = text.replace("duration = \"5s\"", "requests = 10_000");
    bench.file("wirebench.toml", &text)
}

#[track_caller]
fn works(bench: &Bench, args: &[&str]) -> String {
    let ended = bench.run(args);
    assert_eq!(ended.code, 0, "{args:?}: {}{}", ended.stdout, ended.stderr);
    ended.stdout
}

const BOTH: &[(&str, &str, &str)] = &[("http", "hey", "HTTP/1.1"), ("grpc", "ghz", "gRPC")];

/// verify and a short run of each server, named with its driver and its protocol.
fn is_measured(bench: &Bench, operation: &str, servers: &[(&str, &str, &str)]) {
    let verified = works(bench, &["verify"]);
    for (_, _, protocol) in servers {
        let line = verified
            .lines()
            .find(|line| line.contains(protocol))
            .unwrap_or_default();
        assert!(line.starts_with("ok") && line.contains(operation), "{verified}");
    }
    works(bench, &["run", "--only", "timings", "--rounds", "3"]);
    let record = bench.record();
    for (server, driver, _) in servers {
        let found = series(&record, &format!("{operation}@{server}@{driver}"));
        // A round of a second beside other tests may fail a check of its timing.
        let good = |round: &&Value| round["status"] == "ok" && round["ok_count"] == 10_000;
        assert!(
            found["rounds"].as_array().unwrap().iter().any(|round| good(&round)),
            "{found:#}"
        );
    }
}

#[test]
#[ignore = "nightly"]
fn the_go_example_is_measured_and_compared_with_a_revision() {
    let bench = small(example("go"));
    is_measured(&bench, "user", BOTH);
    std::fs::remove_dir_all(bench.path("results")).unwrap();
    let compare = ["run", "--baseline", "HEAD", "--only", "timings", "--rounds", "1"];
    works(&bench, &compare);
    let record = bench.record();
    for id in ["user@http@hey", "user@grpc@ghz"] {
        let found = series(&record, id);
        assert_eq!(found["same_program"], true, "built twice, in two folders: {found}");
    }
    std::fs::remove_dir_all(bench.path("results")).unwrap();
    works(&bench, &[&compare[..], &["--measure-identical"]].concat());
    let record = bench.record();
    for id in ["user@http@hey", "user@grpc@ghz"] {
        let found = series(&record, id);
        // A busy machine has pairs dropped and measured again: how many rounds there are is not what is tested.
        for side in ["baseline", "candidate"] {
            assert!(of(found, side).iter().any(|round| round["status"] == "ok"), "{found}");
        }
    }
    let tree = bench
        .path(".wirebench/trees")
        .join(&bench.git(&["rev-parse", "HEAD"])[..12]);
    assert!(
        tree.join(".wirebench/bin/http").is_file(),
        "each side has a program of its own"
    );
    assert_eq!(bench.git(&["status", "--porcelain"]), "M wirebench.toml");
}

#[test]
#[ignore = "nightly"]
fn the_node_example_is_measured() {
    let bench = small(example("node"));
    is_measured(&bench, "weather", BOTH);
    assert_eq!(bench.git(&["status", "--porcelain"]), "M wirebench.toml");
}

#[test]
#[ignore = "nightly"]
fn the_python_example_is_measured() {
    let bench = small(example("python"));
    is_measured(&bench, "user", &BOTH[..1]);
    assert_eq!(bench.git(&["status", "--porcelain"]), "M wirebench.toml");
}

#[test]
#[ignore = "nightly"]
fn the_java_example_is_measured() {
    let bench = small(example("java"));
    is_measured(&bench, "user", &BOTH[..1]);
    assert_eq!(bench.git(&["status", "--porcelain"]), "M wirebench.toml");
}

#[test]
#[ignore = "nightly"]
fn init_finds_both_servers_of_each_example_and_what_it_writes_is_verified() {
    // The calls of Node's gRPC server take a city that no source names: that is a question, and nothing is made up.
    for (name, declared) in [("go", 2), ("node", 1)] {
        let bench = example(name);
        std::fs::remove_file(bench.path("wirebench.toml")).unwrap();
        let said = works(&bench, &["init"]);
        assert!(said.contains("grpc") && said.contains("http"), "{said}");
        assert_eq!(
            said.contains("question  grpc: weather.v1.Weather/GetWeather"),
            name == "node",
            "{said}"
        );
        // Not edited: what init saw is what verify asks.
        let verified = works(&bench, &["verify"]);
        assert_eq!(
            verified.lines().filter(|line| line.contains("ready after")).count(),
            declared,
            "{verified}"
        );
    }
}
