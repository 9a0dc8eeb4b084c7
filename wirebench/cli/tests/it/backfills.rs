//! Past commits measured into a history, through the command line and a real repository.

use serde_json::Value;

use crate::bench::Bench;

/// Five commits of a server that answers, the third and the last tagged as versions too.
fn five_commits() -> Bench {
    Bench::new()
        .file(
            "wirebench.toml",
            "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 2\n[count]\nenabled = false\n[compare]\ndetect = \"900%\"\n",
        )
        // About 0.3 s: in a few milliseconds, one tick of the hypervisor's is more than 5 % of the time, and the pair is dropped.
        .scenario("ask", "connections = 1, requests = 3_000")
        .server("py", "ok", "")
        .driver("fake", "ok")
        .commit("c1")
        .file("notes.txt", "two")
        .commit("c2")
        .file("notes.txt", "three")
        .commit("v0.3.0")
        .file("notes.txt", "four")
        .commit("c4")
        .file("notes.txt", "five")
        .commit("v0.5.0")
}

fn trend(bench: &Bench) -> Value {
    let ended = bench.run(&["history", "trend", "h", "--json"]);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stderr))
}

#[test]
fn past_commits_are_measured_beside_one_reference_and_never_twice() {
    let bench = five_commits();
    let listed = bench.run(&["backfill", "c1..v0.5.0", "--to", "h", "--every", "2", "--dry-run"]);
    let [second, newest] = ["c2", "v0.5.0"].map(|name| bench.git(&["rev-parse", name]));
    let third = bench.git(&["rev-parse", "v0.3.0"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert!(
        !listed.stdout.contains(&second) && listed.stdout.contains(&third),
        "{}",
        listed.stdout
    );
    assert!(!bench.path("h").exists());

    let tags = ["backfill", "c1..v0.5.0", "--to", "h", "--tags"];
    let ended = bench.run(&tags);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let found = trend(&bench);
    assert_eq!(found["runs"], 2);
    let cpu = found["traces"]
        .as_array()
        .unwrap()
        .iter()
        .find(|trace| trace["metric"] == "server_cpu");
    let segment = &cpu.unwrap()["segments"][0];
    assert_eq!(
        (&segment["first"]["commit"], &segment["last"]["commit"]),
        (&third.as_str().into(), &newest.as_str().into()),
        "{found:#}"
    );

    let again = bench.run(&tags);
    assert!(
        again.code == 0 && again.stderr.contains("2 commits, 2 of them in h already"),
        "{}",
        again.stderr
    );
    let rest = bench.run(&["backfill", "c1..v0.5.0", "--to", "h", "--reference", "v0.5.0"]);
    assert!(
        rest.code == 0 && rest.stderr.contains("4 commits, 2 of them"),
        "{}",
        rest.stderr
    );
    assert_eq!(trend(&bench)["runs"], 4);
}

/// Most commits of a repository of many parts do not touch its server.
#[test]
fn only_commits_that_touched_a_path_are_measured() {
    let bench = five_commits().file("api/handler", "new").commit("v0.6.0");
    let listed = bench.run(&[
        "backfill",
        "c1..v0.6.0",
        "--to",
        "h",
        "--path",
        "api",
        "--path",
        "docs",
        "--dry-run",
    ]);
    assert_eq!(
        (listed.code, listed.stdout),
        (0, bench.git(&["rev-parse", "v0.6.0"]) + "\n")
    );
    let none = bench.run(&["backfill", "c1..v0.6.0", "--to", "h", "--path", "docs", "--dry-run"]);
    assert!(
        none.code == 2
            && none
                .stderr
                .contains("no commit of c1..v0.6.0 along first parents changed docs"),
        "{}",
        none.stderr
    );
}

#[test]
fn a_backfill_that_cannot_be_is_refused_before_anything_is_measured() {
    let bench = five_commits();
    for (range, why) in [
        ("c1", "expected OLD..NEW"),
        ("c1..", "expected OLD..NEW"),
        ("c4..c2", "does not come after"),
        ("c1..nowhere", "\"nowhere\" is no revision"),
    ] {
        let ended = bench.run(&["backfill", range, "--to", "h"]);
        assert!(
            ended.code == 2 && ended.stderr.contains(why),
            "{range}: {}",
            ended.stderr
        );
    }
    let ended = bench.run(&["backfill", "c1..c2", "--to", "h", "--tags"]);
    assert!(
        ended.code == 2 && ended.stderr.contains("no commit of c1..c2 has a tag"),
        "{}",
        ended.stderr
    );
    assert!(!bench.path("h").exists());
}

#[test]
fn an_old_history_is_stale_only_if_commits_came_after_it() {
    let bench = five_commits();
    let commit = [
        "commit",
        "--quiet",
        "--amend",
        "--no-edit",
        "--date",
        "2020-01-01T00:00:00Z",
    ];
    bench.git(&commit);
    bench.git(&[
        "rebase",
        "--quiet",
        "--force-rebase",
        "--committer-date-is-author-date",
        "HEAD~1",
    ]);
    let ended = bench.run(&["backfill", "HEAD~1..HEAD", "--to", "h"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let overview = |bench: &Bench| {
        let ended = bench.run(&["site", "build", "h", "--out", "s"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        std::fs::read_to_string(bench.path("s/index.html")).unwrap()
    };
    assert!(!overview(&bench).contains("Stale: "));
    let bench = bench.file("notes.txt", "six").commit("c6");
    assert!(overview(&bench).contains("Stale: the newest run is of 2020-01-01"));
}
