//! `wirebench run --cluster` where there is no cluster: a clear error, an exit code, and nothing left. Runs on a real one are in
//! `scripts/cluster/test.sh`.

use crate::bench::{Bench, Ended, ended, free_port};

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

/// A kubeconfig with one context, `here`, whose API server has this address.
fn kubeconfig(server: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\nclusters: [{{ name: c, cluster: {{ server: '{server}' }} }}]\n\
         users: [{{ name: u, user: {{ token: none }} }}]\ncontexts: [{{ name: here, context: {{ cluster: c, user: u }} }}]\n"
    )
}

const RUN: [&str; 6] = ["run", "--cluster", "--overlay", "one", "--load-image", "load:1"];

/// The command with more arguments, where only `kubeconfig` names a cluster: a file of the project, or none.
fn run(bench: &Bench, more: &[&str], kubeconfig: Option<&str>) -> Ended {
    let args: Vec<&str> = RUN.iter().chain(more).copied().collect();
    let mut command = bench.command_of(&args);
    // No kubeconfig of whoever runs the tests, and no cluster that they may run in.
    command
        .env("HOME", bench.path("home"))
        .env_remove("KUBECONFIG")
        .env_remove("KUBERNETES_SERVICE_HOST");
    if let Some(file) = kubeconfig {
        command.env("KUBECONFIG", bench.path(file));
    }
    ended(&mut command)
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
fn without_a_kubeconfig_it_is_said_what_to_set() {
    let bench = bench();
    for file in [None, Some("missing.yaml")] {
        let parts = ["no cluster: neither KUBECONFIG nor ~/.kube/config names one; set KUBECONFIG"];
        is_refused(&bench, &run(&bench, &[], file), 1, &parts);
    }
    let named = run(&bench, &["--context", "here"], None);
    is_refused(&bench, &named, 1, &["the kubeconfig cannot be read; set KUBECONFIG"]);
}

#[test]
fn a_context_that_is_not_there_is_named() {
    let bench = bench().file("kubeconfig.yaml", &kubeconfig("http://127.0.0.1:1"));
    let ended = run(&bench, &["--context", "elsewhere"], Some("kubeconfig.yaml"));
    is_refused(
        &bench,
        &ended,
        1,
        &["--context elsewhere: cannot be used", "get-contexts"],
    );
}

#[test]
fn an_api_server_that_is_not_there_is_named_by_its_address() {
    let server = format!("http://127.0.0.1:{}", free_port());
    let bench = bench().file("kubeconfig.yaml", &kubeconfig(&server));
    let ended = run(&bench, &[], Some("kubeconfig.yaml"));
    is_refused(
        &bench,
        &ended,
        1,
        &["the Kubernetes API at", &server, "does not answer"],
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
        is_refused(&bench, &run(&bench, more, None), 2, parts);
    }
    let alone = bench.run(&["run", "--cluster"]);
    is_refused(&bench, &alone, 2, &["--overlay"]);
    let without = bench.run(&["run", "--load-pods", "2"]);
    is_refused(&bench, &without, 2, &["--cluster"]);
}
