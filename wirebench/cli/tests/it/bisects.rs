//! The search for the commit that made a server slower, through the command line and a real repository.

use crate::bench::Bench;

/// Four commits; a request takes three times the CPU time from `v3` on.
fn slower_from_v3() -> Bench {
    Bench::new()
        .file(
            "wirebench.toml",
            "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[count]\nenabled = false\n[compare]\nrounds = 16\ndetect = \"50%\"\nbudget = \"20m\"\n",
        )
        .scenario("ask", "connections = 1, requests = 400")
        .server("py", "works", "")
        .driver("fake", "ok")
        .commit("v1")
        .file("notes.txt", "nothing that matters")
        .commit("v2")
        .server("py", "burns", "")
        .commit("v3")
        .file("notes.txt", "nothing that matters either")
        .commit("v4")
}

#[test]
fn the_commit_that_made_the_server_slower_is_found() {
    let bench = slower_from_v3();
    let ended = bench.run(&["bisect", "v2", "v3", "--series", "ask@py@fake"]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let culprit = bench.git(&["rev-parse", "v3"]);
    assert!(
        ended
            .stdout
            .starts_with(&format!("{culprit} brought it: ask@py@fake server CPU per request")),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
    assert!(ended.stdout.contains("×"), "no size in {}", ended.stdout);
    assert!(
        ended.stderr.contains("step 1: ") && ended.stderr.contains(" is regressed: "),
        "{}",
        ended.stderr
    );
    assert_eq!(
        std::fs::read_dir(bench.path("results/bisect")).unwrap().count(),
        1,
        "one step, kept"
    );
}

#[test]
fn a_search_that_cannot_be_is_refused_before_anything_is_measured() {
    let bench = slower_from_v3();
    for (args, why) in [
        (["bisect", "v4", "v2", "--series", "ask@py@fake"], "does not come after"),
        (["bisect", "v2", "v2", "--series", "ask@py@fake"], "does not come after"),
        (
            ["bisect", "v2", "v9", "--series", "ask@py@fake"],
            "\"v9\" is no revision",
        ),
        (["bisect", "v2", "v4", "--series", "ask"], "scenario@server@driver"),
    ] {
        let ended = bench.run(&args);
        assert_eq!(ended.code, 2, "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "no {why} in {}", ended.stderr);
    }
    assert!(!bench.path("results").exists());
}

#[test]
fn a_dearer_request_is_found_by_counting_without_a_single_round_of_load() {
    let bench = Bench::new()
        .file(
            "wirebench.toml",
            "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[count]\nrequests = [20, 220]\n[compare]\nrounds = 8\n",
        )
        .real_driver("hey")
        .c_server("c", "work=1000", "")
        .commit("v1")
        .file("notes.txt", "nothing that matters")
        .commit("v2")
        .c_server("c", "work=1100", "")
        .commit("v3");
    let ended = bench.run(&[
        "bisect",
        "v1",
        "v3",
        "--series",
        "count-ask@c@hey",
        "--metric",
        "instructions",
    ]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let culprit = bench.git(&["rev-parse", "v3"]);
    assert!(
        ended.stdout.starts_with(&format!(
            "{culprit} brought it: count-ask@c@hey instructions per request"
        )),
        "{}",
        ended.stdout
    );
    assert!(!ended.stderr.contains("round 1/"), "{}", ended.stderr);
}
