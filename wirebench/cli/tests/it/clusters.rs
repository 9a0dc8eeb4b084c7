//! `wirebench run --cluster` where there is no cluster: a clear error, an exit code, and nothing left. What needs kubectl is in
//! `scripts/cluster/test.sh`.

use std::fs;
use std::os::unix::fs::symlink;

use crate::bench::{Bench, Ended, ended};

const OVERLAY: &str = "apiVersion: v1
kind: Service
metadata: { name: front, annotations: { wirebench.dev/server: py } }
spec: { ports: [{ port: 8080 }], selector: { app: front } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: front }
spec:
  selector: { matchLabels: { app: front } }
  template:
    metadata: { labels: { app: front } }
    spec: { containers: [{ name: server, image: 'servers:1', ports: [{ containerPort: 8080 }] }] }
";

/// A project whose scenario `ask` has one connection, with the overlay `one`.
fn bench() -> Bench {
    Bench::new()
        .server("py", "ok", "")
        .driver("fake", "ok")
        .file("deploy/kubernetes/rendered/one.yaml", OVERLAY)
        .file(
            "deploy/kubernetes/rendered/broken.yaml",
            "kind: Secret\nmetadata: { name: key }\n",
        )
}

const RUN: [&str; 6] = ["run", "--cluster", "--overlay", "one", "--load-image", "load:1"];

fn run(bench: &Bench, more: &[&str]) -> Ended {
    let args: Vec<&str> = RUN.iter().chain(more).copied().collect();
    bench.run(&args)
}

#[track_caller]
fn is_refused(bench: &Bench, ended: &Ended, code: i32, parts: &[&str]) {
    assert_eq!(ended.code, code, "{}", ended.stderr);
    for part in parts {
        assert!(ended.stderr.contains(part), "no {part:?} in {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
    assert!(!bench.path("results").exists(), "a folder was left");
    assert!(bench.left_behind().is_empty(), "{:?}", bench.left_behind());
}

#[test]
fn without_kubectl_it_is_said_where_to_get_it() {
    let bench = bench();
    let path = std::env::var_os("PATH").unwrap();
    let jq = std::env::split_paths(&path).map(|folder| folder.join("jq"));
    fs::create_dir(bench.path("bin")).unwrap();
    symlink(jq.filter(|path| path.is_file()).last().unwrap(), bench.path("bin/jq")).unwrap();
    let ended = ended(bench.command_of(&RUN).env("PATH", bench.path("bin")));
    is_refused(
        &bench,
        &ended,
        1,
        &["kubectl cannot be started", "https://kubernetes.io/docs/tasks/tools/"],
    );
}

#[test]
fn wrong_flags_are_refused_before_the_cluster_is_asked() {
    let bench = bench();
    for (more, parts) in [
        (
            &["--overlay", "nope"][..],
            &["rendered/nope.yaml: cannot be read", "--overlay names a file there"][..],
        ),
        (
            &["--overlay", "broken"],
            &["broken.yaml", "Secret", "expected one of Service"],
        ),
        (
            &["--baseline", "a:1", "--baseline", "b:1"],
            &["--baseline: given several times"],
        ),
        (
            &["--reference", "HEAD"],
            &["--reference, --only and --shard are not for --cluster"],
        ),
        (
            &["--only", "timings"],
            &["--reference, --only and --shard are not for --cluster"],
        ),
        (&["--profile", "nope"], &["--profile nope: no such profile"]),
        (&["--load-pods", "0"], &["--load-pods"]),
        (&["--load-pods", "101"], &["--load-pods"]),
        (&["--scenario", "nope"], &["--scenario nope: matches no scenario"]),
        // One connection cannot be shared by two pods.
        (&["--load-pods", "2"], &["nothing to measure"]),
    ] {
        is_refused(&bench, &run(&bench, more), 2, parts);
    }
    let alone = bench.run(&["run", "--cluster"]);
    is_refused(&bench, &alone, 2, &["--overlay"]);
    let without = bench.run(&["run", "--load-pods", "2"]);
    is_refused(&bench, &without, 2, &["--cluster"]);
}
