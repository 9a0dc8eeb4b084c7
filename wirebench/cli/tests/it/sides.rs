//! Where the code of a variant comes from: a revision, a folder, prebuilt commands; and what is said when it does not come.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, Ended, fixture, git_in, record_in, series};
use crate::variants::{firsts, of, rounds, two_revisions, variant};

#[test]
#[ignore = "nightly"]
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
    let command = format!("py=python3 {} ok", fixture("server.py"));
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
            "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[count]\nenabled = false\n[compare]\ndetect = \"900%\"\nbudget = \"20m\"\nreference = \"v1\"\n",
        )
        .commit("v1");
    let ended = bench.run(&["run", "--baseline", ".", "--rounds", "1", "--measure-identical"]);
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
    let ended = bench.run(&[
        "--root",
        &root,
        "run",
        "--baseline",
        "HEAD",
        "--rounds",
        "1",
        "--measure-identical",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = record_in(&folder.join("results"));
    firsts(series(&record, "ask@py@fake"), 2);
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
        fixture("server.py")
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
    assert!(
        kept(&bench).iter().all(|(commit, _)| commit != sha),
        "a build that failed left a program"
    );
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_workspace_that_cargo_cannot_read_costs_only_its_packages() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok");
    let bench = package(bench, &working())
        .file("Cargo.toml", "nonsense")
        .commit("broken");
    let bench = package(bench, &working()).commit("works");
    let ended = bench.run(&["run", "--baseline", "broken", "--rounds", "1", "--measure-identical"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let record = bench.record();
    let reason = series(&record, "ask@tiny@fake")["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("cargo metadata failed"), "{reason}");
    let other = series(&record, "ask@py@fake");
    assert!(other["status"] == "ok" && !of(other, "baseline").is_empty(), "{other}");
}

/// Programs of revisions, by commit.
fn kept(bench: &Bench) -> Vec<(String, std::time::SystemTime)> {
    let Ok(folders) = fs::read_dir(bench.path(".wirebench/programs")) else {
        return Vec::new();
    };
    let program = |folder: fs::DirEntry| {
        let name = folder.file_name().to_string_lossy()[..12].to_owned();
        let made = fs::metadata(folder.path().join("tiny")).unwrap().modified().unwrap();
        (name, made)
    };
    let mut found: Vec<_> = folders.flatten().map(program).collect();
    found.sort();
    found
}

#[test]
fn a_revision_is_built_once_and_two_revisions_do_not_get_each_others_program() {
    let slow = "fn main() { std::process::exit(1) }\n";
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok");
    let bench = package(bench, slow).commit("exits");
    let bench = package(bench, &working()).commit("works");
    let sides = ["run", "--baseline", "works", "--candidate", "exits", "--rounds", "1"];
    let ended = bench.run(&sides);
    assert_eq!(ended.code, 1);
    assert_eq!(builds(&ended), 2, "{}", ended.stderr);
    let anew = ended
        .stderr
        .matches("; the first build there compiles everything")
        .count();
    assert_eq!(
        anew, 1,
        "only the first build says that it compiles everything: {}",
        ended.stderr
    );
    let record = bench.record();
    let found = series(&record, "ask@tiny@fake");
    assert!(
        of(found, "baseline").iter().all(|round| round["status"] == "ok"),
        "{found}"
    );
    assert!(
        of(found, "candidate").iter().all(|round| round["status"] == "failed"),
        "{found}"
    );
    let first = kept(&bench);
    let mut commits = ["works", "exits"].map(|tag| bench.git(&["rev-parse", tag])[..12].to_owned());
    commits.sort();
    assert_eq!(
        first.iter().map(|(commit, _)| commit.clone()).collect::<Vec<_>>(),
        commits
    );
    let ended = bench.run(&sides);
    assert_eq!(ended.code, 1);
    assert_eq!(kept(&bench), first, "it was built again");
    assert_eq!(builds(&ended), 0, "{}", ended.stderr);
}

#[test]
fn a_package_whose_lock_file_is_not_committed_is_built_on_both_sides_with_that_of_the_project() {
    let lock = |bench: &Bench| fs::read_to_string(bench.path("Cargo.lock")).unwrap();
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok");
    let bench = package(bench, &working()).file(".gitignore", "Cargo.lock\nresults/\n.wirebench/\n");
    fs::remove_file(bench.path("Cargo.lock")).unwrap();
    let bench = bench.commit("first");
    let sides = [
        "run",
        "--baseline",
        "first",
        "--rounds",
        "1",
        "--measure-identical",
        "--server",
        "tiny",
    ];
    let environment = [("CARGO_PROFILE_RELEASE_INCREMENTAL", "false")];
    let ended = bench.run_with(&sides, &environment);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let told = ended.stderr.matches("CARGO_PROFILE_RELEASE_INCREMENTAL=false").count();
    assert_eq!(
        told, 2,
        "each side says that the environment changes its build: {}",
        ended.stderr
    );
    let newest = lock(&bench);
    // An older format, which Cargo keeps, tells whose lock file was used.
    let older = newest.replace("version = 4", "version = 3");
    assert_ne!(older, newest);
    let bench = bench.file("Cargo.lock", &older);
    let ended = bench.run_with(&sides, &environment);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let commit = bench.git(&["rev-parse", "first"])[..12].to_owned();
    let of_baseline = bench.path(&format!(".wirebench/trees/{commit}/Cargo.lock"));
    assert_eq!(fs::read_to_string(of_baseline).unwrap(), older);
    assert_eq!(lock(&bench), older);
    assert_eq!(
        builds(&ended),
        1,
        "a program of other versions was taken from the cache: {}",
        ended.stderr
    );
}

/// How many sides a run said that it builds package tiny of, apart from the project's own programs.
fn builds(ended: &Ended) -> usize {
    let lines = ended.stderr.lines().filter(|line| line.starts_with("building "));
    lines
        .filter(|line| line.contains(": package tiny (apart from the project's own programs, in "))
        .count()
}

#[test]
#[ignore = "nightly"]
fn a_candidate_in_another_folder_is_built_apart_and_the_run_says_so() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok");
    let bench = package(bench, &working()).commit("works");
    bench.git(&["clone", "--quiet", ".", "other"]);
    let ended = bench.run(&["run", "--candidate", "other", "--server", "tiny", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(builds(&ended), 1, "{}", ended.stderr);
}

#[test]
#[ignore = "nightly"]
fn what_a_clean_checkout_built_serves_as_a_later_baseline() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok");
    let bench = package(bench, &working()).commit("first");
    assert_eq!(bench.run(&["run", "--rounds", "1"]).code, 0);
    let first = kept(&bench);
    assert_eq!(first.len(), 1, "{first:?}");
    let bench = package(bench, "fn main() { std::process::exit(1) }\n");
    assert_eq!(bench.run(&["run", "--rounds", "1"]).code, 1);
    assert_eq!(kept(&bench), first, "a program of files that are in no commit was kept");
    let ended = bench.run(&["run", "--baseline", "first", "--rounds", "1"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(
        !bench.path(".wirebench/target").exists(),
        "the baseline was built again"
    );
}

#[test]
#[ignore = "nightly"]
fn a_copied_clone_does_not_use_the_programs_that_were_built_in_the_first() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok");
    let bench = package(bench, &working()).commit("first");
    let run = |root: &str| {
        let sides = ["--baseline", "first", "--candidate", "first", "--rounds", "1"];
        let ended = bench.run(&[&["--root", root, "run"][..], &sides].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    };
    run(&bench.path(".").to_string_lossy());
    let other = tempfile::tempdir().unwrap();
    let copy = other.path().join("copy");
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([bench.path("."), copy.clone()])
        .status();
    assert!(copied.unwrap().success());
    let programs = || fs::read_dir(copy.join(".wirebench/programs")).unwrap().count();
    assert_eq!(programs(), 1);
    run(&copy.to_string_lossy());
    assert_eq!(programs(), 2);
    let tree = fs::read_dir(copy.join(".wirebench/trees"))
        .unwrap()
        .flatten()
        .next()
        .unwrap();
    let owner = fs::read_to_string(tree.path().join(".git")).unwrap();
    assert!(
        owner.contains(&*copy.canonicalize().unwrap().to_string_lossy()),
        "{owner}"
    );
}
