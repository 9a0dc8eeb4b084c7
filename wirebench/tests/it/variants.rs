//! Two or three variants in one run: where their code comes from, in which order they are measured, what is missing.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::bench::{Bench, git_in, series};

/// A project whose first commit is `v1` and whose second, with another server argument, is `v2`.
fn two_revisions() -> Bench {
    Bench::new()
        .server("py", "ok", "")
        .driver("fake", "ok")
        .commit("v1")
        .server("py", "ok", "env = { SECOND = \"yes\" }")
        .commit("v2")
}

fn rounds(series: &Value) -> &Vec<Value> {
    series["rounds"].as_array().unwrap()
}

fn of<'a>(series: &'a Value, variant: &str) -> Vec<&'a Value> {
    let all = rounds(series).iter();
    all.filter(|round| round["variant"] == variant).collect()
}

fn variant<'a>(record: &'a Value, name: &str) -> &'a Value {
    let mut all = record["variants"].as_array().unwrap().iter();
    all.find(|one| one["variant"] == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

/// The rounds with one number lie side by side and hold each variant once; returns which one came first, by pair.
#[track_caller]
fn firsts(series: &Value, variants: usize) -> Vec<String> {
    let by_position: Vec<&Value> = rounds(series).iter().collect();
    let mut firsts = Vec::new();
    for pair in by_position.chunks(variants) {
        let position = |round: &Value| round["position"].as_u64().unwrap();
        let seen: BTreeSet<&str> = pair.iter().map(|round| round["variant"].as_str().unwrap()).collect();
        assert_eq!(seen.len(), variants, "{pair:?}");
        assert!(pair.iter().all(|round| round["round"] == pair[0]["round"]), "{pair:?}");
        assert_eq!(position(pair[variants - 1]), position(pair[0]) + variants as u64 - 1);
        firsts.push(pair[0]["variant"].as_str().unwrap().to_owned());
    }
    firsts
}

#[test]
fn two_revisions_are_measured_in_pairs_and_the_checkout_is_left_alone() {
    let bench = two_revisions();
    fs::write(bench.path("scenarios/ask.toml.orig"), "untracked").unwrap();
    fs::write(bench.path(".git/hooks/post-checkout"), "#!/bin/sh\ntouch hooked\n").unwrap();
    let before = (bench.git(&["status", "--porcelain"]), bench.git(&["branch", "--all"]));
    let index = fs::read(bench.path(".git/index")).unwrap();

    let ended = bench.run(&[
        "run",
        "--baseline",
        "v1",
        "--candidate",
        "main",
        "--rounds",
        "8",
        "--seed",
        "3",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(
        before,
        (bench.git(&["status", "--porcelain"]), bench.git(&["branch", "--all"]))
    );
    assert_eq!(index, fs::read(bench.path(".git/index")).unwrap());
    assert!(!bench.path("hooked").exists());

    let record = bench.record();
    let found = series(&record, "ask@py@fake");
    assert_eq!(found["status"], "ok", "{found}");
    let first: BTreeSet<String> = firsts(found, 2).into_iter().collect();
    assert_eq!(first.len(), 2, "one side was always first");
    assert!(of(found, "baseline").len() >= 8 && of(found, "candidate").len() >= 8);
    assert!(found["baseline_digest"].is_string(), "its environment is another one");

    for (name, tag) in [("baseline", "v1"), ("candidate", "v2")] {
        let told = variant(&record, name);
        assert_eq!(told["commit"], bench.git(&["rev-parse", tag]));
        assert_eq!(told["modified"], false);
        assert_eq!(
            told["committed_at"],
            bench.git(&["show", "--no-patch", "--format=%cI", tag])
        );
    }
    assert_eq!(variant(&record, "candidate")["name"], "main");
    assert_eq!(record["stages"][0]["rounds"], 8);
    assert_eq!(record["stages"][0]["series"][0], "ask@py@fake");
    let repeat = record["repeat"].as_str().unwrap();
    assert!(
        repeat.contains("--baseline ") && repeat.contains("--candidate "),
        "{repeat}"
    );
    for said in ["stage 1/2: screen of every series", "stage 1/2 screen · round 2/8 · "] {
        assert!(ended.stderr.contains(said), "no {said:?} in {}", ended.stderr);
    }
}

#[test]
fn a_worktree_is_used_again_mended_and_made_anew() {
    let bench = two_revisions();
    let run = || {
        let ended = bench.run(&["run", "--baseline", "v1", "--rounds", "1"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    };
    run();
    let tree = bench
        .path(".wirebench/trees")
        .join(&bench.git(&["rev-parse", "v1"])[..12]);
    let untracked = tree.join("kept");
    fs::write(&untracked, "").unwrap();
    run();
    assert!(untracked.exists(), "the worktree was not used again");
    fs::write(tree.join("wirebench.toml"), "changed by hand").unwrap();
    run();
    assert_ne!(
        fs::read_to_string(tree.join("wirebench.toml")).unwrap(),
        "changed by hand"
    );
    fs::remove_dir_all(&tree).unwrap();
    run();
    assert!(tree.join("wirebench.toml").is_file());
}

#[test]
fn three_variants_from_a_folder_a_revision_and_a_prebuilt_command() {
    let bench = two_revisions();
    let other = tempfile::tempdir().unwrap();
    let project = bench.path(".").to_string_lossy().into_owned();
    let clone = other.path().join("clone").to_string_lossy().into_owned();
    git_in(other.path(), &["clone", "--quiet", &project, &clone]);
    let command = format!("py=python3 {} ok", crate::bench::fixture("server.py"));
    let ended = bench.run(&[
        "run",
        "--baseline",
        &clone,
        "--candidate",
        &command,
        "--reference",
        "v1",
        "--rounds",
        "3",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    let found = series(&record, "ask@py@fake");
    firsts(found, 3);
    assert_eq!(of(found, "reference").len(), of(found, "candidate").len());
    assert_eq!(variant(&record, "baseline")["name"], clone);
    assert_eq!(variant(&record, "candidate")["name"], command);
    assert_eq!(variant(&record, "candidate")["commit"], Value::Null);
    assert_eq!(found["baseline_digest"], Value::Null);
}

#[test]
fn the_reference_of_the_project_file_is_measured_beside_a_baseline() {
    let bench = Bench::new()
        .server("py", "ok", "")
        .driver("fake", "ok")
        .file(
            "wirebench.toml",
            "default_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[compare]\nreference = \"v1\"\n",
        )
        .commit("v1");
    let ended = bench.run(&["run", "--baseline", ".", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    firsts(series(&bench.record(), "ask@py@fake"), 3);
    fs::remove_dir_all(bench.path("results")).unwrap();
    bench.run(&["run"]);
    assert_eq!(rounds(series(&bench.record(), "ask@py@fake")).len(), 1);
}

#[test]
fn a_side_that_is_nothing_is_refused_with_what_was_looked_for() {
    let bench = two_revisions();
    for (args, words) in [
        (
            vec!["--baseline", "no-such"],
            vec![
                "--baseline no-such",
                "no-such/wirebench.toml",
                "git revision",
                "SERVER=COMMAND",
                "py",
            ],
        ),
        (vec!["--baseline="], vec!["not a git revision"]),
        (vec!["--baseline=--help"], vec!["not a git revision"]),
        (vec!["--baseline", "HEAD:wirebench.toml"], vec!["not a git revision"]),
        (vec!["--baseline", "other=x"], vec!["not a git revision", "py"]),
        (vec!["--baseline", "py="], vec!["expected a command after py="]),
        (
            vec!["--baseline", "v1", "--baseline", "py=x"],
            vec!["each must be SERVER=COMMAND"],
        ),
        (vec!["--baseline", "py=x", "--baseline", "py=y"], vec!["given twice"]),
    ] {
        let ended = bench.run(&[&["run"], args.as_slice()].concat());
        assert_eq!(ended.code, 2, "{args:?}: {}", ended.stderr);
        for word in words {
            assert!(ended.stderr.contains(word), "no {word:?} in {}", ended.stderr);
        }
    }
    assert!(!bench.path("results").exists(), "a refused run leaves nothing");
}

#[test]
fn outside_a_repository_and_in_a_shallow_clone_a_revision_says_what_to_do() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok");
    let ended = bench.run(&["run", "--baseline", "main"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("not in a git repository"), "{}", ended.stderr);

    let full = two_revisions();
    let other = tempfile::tempdir().unwrap();
    let url = format!("file://{}", full.path(".").display());
    let clone = other.path().join("clone");
    git_in(other.path(), &["clone", "--quiet", "--depth", "1", &url, "clone"]);
    fs::create_dir_all(clone.join("drivers/lib")).unwrap();
    let root = clone.to_string_lossy().into_owned();
    let ended = full.run(&["--root", &root, "run", "--baseline", "HEAD~1"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("git fetch --depth 100"), "{}", ended.stderr);
}

#[test]
fn a_project_below_the_top_of_its_repository() {
    let bench = two_revisions();
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("deep/bench");
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    let copied = std::process::Command::new("cp")
        .args(["-r", &bench.path(".").to_string_lossy(), &folder.to_string_lossy()])
        .status()
        .unwrap();
    assert!(copied.success());
    fs::remove_dir_all(folder.join(".git")).unwrap();
    git_in(outer.path(), &["init", "--quiet"]);
    git_in(outer.path(), &["add", "--all"]);
    git_in(outer.path(), &["commit", "--quiet", "--message", "all"]);
    let root = folder.to_string_lossy().into_owned();
    let ended = bench.run(&["--root", &root, "run", "--baseline", "HEAD", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = crate::bench::record_in(&folder.join("results"));
    firsts(series(&record, "ask@py@fake"), 2);
}

#[test]
fn servers_that_only_one_side_has_are_named_and_fail_nothing() {
    let bench = Bench::new()
        .server("both", "ok", "")
        .server("old", "ok", "")
        .driver("fake", "ok")
        .commit("v1")
        .server("new", "ok", "");
    fs::remove_dir_all(bench.path("servers/old")).unwrap();
    let ended = bench.run(&["run", "--baseline", "v1", "--rounds", "2"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    assert_eq!(record["status"], "complete");
    firsts(series(&record, "ask@both@fake"), 2);

    let added = series(&record, "ask@new@fake");
    assert_eq!(
        (&added["missing_in"], &added["status"]),
        (&"baseline".into(), &"ok".into())
    );
    assert_eq!(of(added, "candidate").len(), 2);
    assert_eq!(rounds(added).len(), 2);

    let removed = series(&record, "ask@old@fake");
    assert_eq!(
        (&removed["missing_in"], &removed["status"]),
        (&"candidate".into(), &"ok".into())
    );
    assert!(rounds(removed).is_empty());
}

#[test]
fn a_baseline_from_before_there_were_servers_leaves_the_candidate_alone() {
    let bench = Bench::new()
        .commit("v0")
        .server("py", "ok", "")
        .driver("fake", "ok")
        .commit("v1");
    let ended = bench.run(&["run", "--baseline", "v0", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("declares no servers yet"), "{}", ended.stderr);
    let record = bench.record();
    let found = series(&record, "ask@py@fake");
    assert_eq!(found["missing_in"], "baseline");
    assert_eq!(rounds(found).len(), 1);
}

#[test]
fn a_baseline_whose_declarations_are_wrong_is_named() {
    let bench = Bench::new()
        .server("py", "ok", "")
        .driver("fake", "ok")
        .file("servers/py/server.toml", "nonsense = 1\n")
        .commit("v1")
        .server("py", "ok", "");
    let ended = bench.run(&["run", "--baseline", "v1", "--rounds", "3"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let record = bench.record();
    let found = series(&record, "ask@py@fake");
    assert_eq!(found["status"], "failed");
    let reason = found["reason"].as_str().unwrap();
    assert!(
        reason.contains("baseline v1 (") && reason.contains("server.toml"),
        "{reason}"
    );
    // Without a baseline there is nothing to compare with: after two failures in a row the series is left alone.
    assert_eq!(of(found, "baseline").len(), 2);
    assert!(of(found, "candidate").len() <= 2);
}

/// A cargo package without dependencies that is the fixture server behind an exec.
fn package(bench: Bench, body: &str) -> Bench {
    let text = fs::read_to_string(bench.path("servers/py/server.toml")).unwrap();
    let command = text
        .lines()
        .find(|line| line.starts_with("command"))
        .unwrap()
        .to_owned();
    let declared = text.replace(&command, "package = \"tiny\"");
    bench
        .file("servers/tiny/server.toml", &declared)
        .file(
            "Cargo.toml",
            "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
        )
        .file(
            "Cargo.lock",
            "version = 4\n\n[[package]]\nname = \"tiny\"\nversion = \"0.1.0\"\n",
        )
        .file("src/main.rs", body)
}

fn working() -> String {
    format!(
        "use std::os::unix::process::CommandExt;\nfn main() {{\n    let port = std::env::args().nth(1).unwrap();\n    \
         let error = std::process::Command::new(\"python3\").args([{:?}, \"ok\", &port]).exec();\n    panic!(\"{{error}}\");\n}}\n",
        crate::bench::fixture("server.py")
    )
}

#[test]
fn a_build_failure_is_named_as_its_sides() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok");
    let bench = package(bench, "fn main() { nonsense }\n").commit("broken");
    let bench = package(bench, &working()).commit("works");
    let ended = bench.run(&["run", "--baseline", "broken", "--rounds", "2"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let record = bench.record();
    let found = series(&record, "ask@tiny@fake");
    let reason = found["reason"].as_str().unwrap();
    let sha = &bench.git(&["rev-parse", "broken"])[..12];
    let expected = format!("baseline broken ({sha}): cargo build --release --package tiny failed");
    assert!(reason.contains(&expected), "expected {expected:?} in {reason:?}");
    assert!(of(found, "baseline").iter().all(|round| round["status"] == "failed"));
    assert!(
        of(found, "candidate").iter().all(|round| round["status"] == "ok"),
        "{found}"
    );
    assert_eq!(series(&record, "ask@py@fake")["status"], "ok");
    assert!(bench.path(".wirebench/target").join(sha).is_dir());
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}
