//! The search for the commit that made a server slower: `git bisect run` with `wirebench run --bisect`.

use crate::bench::Bench;

/// Five commits: the server of `v2` cannot be read, and a request takes three times the CPU time from `v4` on.
fn slower_from_v4() -> Bench {
    Bench::new()
        .file(
            "wirebench.toml",
            "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[count]\nenabled = false\n[compare]\nrounds = 16\ndetect = \"50%\"\nbudget = \"20m\"\n",
        )
        .scenario("ask", "connections = 1, requests = 400")
        .server("py", "works", "")
        .driver("fake", "ok")
        .commit("v1")
        .server("py", "works", "nonsense = true")
        .commit("v2")
        .server("py", "works", "")
        .file("notes.txt", "nothing that matters")
        .commit("v3")
        .server("py", "burns", "")
        .commit("v4")
        .file("notes.txt", "nothing that matters either")
        .commit("v5")
}

#[test]
#[ignore = "nightly"]
fn git_finds_the_commit_that_made_the_server_slower() {
    let bench = slower_from_v4();
    let culprit = bench.git(&["rev-parse", "v4"]);
    bench.git(&["bisect", "start", "v5", "v1"]);
    let command = bench.command_of(&["run", "--baseline", "v1", "--bisect"]);
    let output = std::process::Command::new("git")
        .args(["bisect", "run"])
        .arg(command.get_program())
        .args(command.get_args())
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(command.get_current_dir().unwrap())
        .output()
        .unwrap();
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        printed.contains(&format!("{culprit} is the first bad commit")),
        "{printed}"
    );
    let runs = std::fs::read_dir(bench.path("results")).unwrap().count();
    assert_eq!(runs, 2, "v3 and v4, each measured once: {printed}");
}

#[test]
fn a_commit_that_cannot_be_measured_is_skipped_and_a_wrong_flag_ends_the_search() {
    let bench = slower_from_v4();
    bench.git(&["checkout", "--quiet", "v2"]);
    let skipped = bench.run(&["run", "--baseline", "v1", "--bisect"]);
    assert_eq!(skipped.code, 125, "{}", skipped.stderr);
    assert!(
        skipped.stderr.contains("error: ") && skipped.stderr.contains("nonsense"),
        "{}",
        skipped.stderr
    );
    let refused = bench.run(&["run", "--baseline", "v1", "--bisect", "--nope"]);
    assert_eq!(refused.code, 128, "{}", refused.stderr);
}
