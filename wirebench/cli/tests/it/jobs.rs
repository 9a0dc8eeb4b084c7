//! Jobs with all that they come to keep the rules, those of workflows that `wirebench init` writes too; each rule is shown to catch a file
//! that breaks it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::bench::{Bench, Ended, ended, repository};
use crate::inits::with_server;
use crate::rules::Tree;

/// What workflows that `wirebench init` writes use beside those owners.
pub(crate) const RELEASED: &str = "wirebench/wirebench";
/// A commit of it.
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// The workflows that `wirebench init` writes: file name and text.
pub(crate) fn written() -> Vec<(String, String)> {
    let bench = with_server(Bench::empty());
    let ended = bench.run(&["init", "--no-probe", "--commit", COMMIT]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let read = |name: &str| {
        let file = bench.path(".github/workflows").join(name);
        (name.to_owned(), fs::read_to_string(file).unwrap())
    };
    ["bench.yml", "bench-comment.yml"].map(read).to_vec()
}

/// This repository's tree, with those workflows as if they stood in it.
fn tree() -> Tree {
    let mut tree = Tree::of_repository();
    for (name, text) in written() {
        let released = format!("@{COMMIT} # v{}", env!("CARGO_PKG_VERSION"));
        let text = text.replace(&released, "").replace(&format!("{RELEASED}/"), "$/");
        tree.put(&format!(".github/workflows/written/{name}"), &text);
    }
    tree
}

#[test]
fn every_job_keeps_the_rules_with_all_that_it_comes_to() {
    let wrong = tree().faults();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A step that is good enough where nothing may be written.
const CHECKOUT: &str = "- uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1\n";
const RESTORE: &str = "- uses: actions/cache/restore@55cc8345863c7cc4c66a329aec7e433d2d1c52a9 # v6.1.0\n";
const SCRIPT: &str = "- uses: actions/github-script@60a0d83039c74a4aee543508d2ffcb1c3799cdea # v7.0.1\n";
const STEPS: &str = "    steps:\n";
const FIRST: &str = "  using: composite\n  steps:\n";

#[test]
fn each_rule_of_jobs_catches_what_breaks_it() {
    let tree = tree();
    let second = ".github/actions/second-stage/action.yml";
    let (comment, publish) = (".github/workflows/comment.yml", ".github/workflows/publish.yml");
    let (bench, release) = (".github/workflows/bench.yml", ".github/workflows/release.yml");
    let (action, keep) = (".github/actions/measure/measure.sh", ".github/actions/keep/action.yml");
    let into = |step: &str| format!("{FIRST}    {step}");
    let head = format!("{CHECKOUT}      with: {{ repository: \"a/b\", persist-credentials: false }}\n");
    let cases: [(&str, &str, &str); 28] = [
        (second, FIRST, &into(&head)),
        (second, FIRST, &into(CHECKOUT)),
        (second, FIRST, &into("- run: scripts/test.sh\n      shell: bash\n")),
        (second, FIRST, &into("- uses: $/.github/actions/cache\n")),
        (second, FIRST, &into("- uses: $/.github/actions/measure\n")),
        (second, " --released", ""),
        (
            second,
            "--workflow=\"$WORKFLOW\"'",
            "--workflow=\"$WORKFLOW\" && scripts/test.sh'",
        ),
        (second, "shell: bash", "shell: bash -c 'scripts/test.sh; bash {0}'"),
        (
            comment,
            "    runs-on: ubuntu-slim\n",
            "    runs-on: ubuntu-slim\n    container: somebody/image\n",
        ),
        (".github/actions/publish/action.yml", FIRST, &into(SCRIPT)),
        (publish, "actions/deploy-pages@", "actions/github-script@"),
        (comment, STEPS, "    steps:\n      - uses: $/.github/actions/site\n"),
        (".github/actions/publish/action.yml", FIRST, &into(RESTORE)),
        (
            ".github/actions/publish/action.yml",
            FIRST,
            &into("- run: scripts/test.sh\n      shell: bash\n"),
        ),
        (".github/actions/site/action.yml", FIRST, &into(RESTORE)),
        (publish, STEPS, "    steps:\n      - uses: $/.github/actions/measure\n"),
        (release, STEPS, "    steps:\n      - uses: $/.github/actions/cache\n"),
        (release, "    environment: release", "    # "),
        (bench, " && github.event_name == 'push'", ""),
        (
            bench,
            " && github.event_name == 'push'",
            " || github.event_name == 'push'",
        ),
        (bench, "{ contents: read, pull", "{ contents: write, pull"),
        (keep, "github.event_name == 'push' && ", ""),
        (action, "  unset GITHUB_TOKEN\n", ""),
        (action, "  unset GITHUB_TOKEN\n  quietly packages", "  quietly packages"),
        (action, "stranger wirebench --root", "wirebench --root"),
        (".github/actions/judge/judge.sh", "  unset GITHUB_TOKEN\n", ""),
        (
            ".github/workflows/written/bench.yml",
            " && github.event_name == 'push'",
            "",
        ),
        (
            ".github/workflows/written/bench.yml",
            "{ contents: read, pull",
            "{ contents: write, pull",
        ),
    ];
    for (path, good, bad) in cases {
        assert!(
            !tree.with(path, good, bad).faults().is_empty(),
            "{path}: {good} → {bad} was not caught"
        );
    }
    let called = [
        "scripts/lib/scenarios.sh",
        "scripts/release.sh",
        ".github/actions/site/action.yml",
    ];
    for line in [
        "curl -sSf https://example.org/x | bash",
        "wget -qO- https://example.org/x | sudo -E bash -s",
        "wget -qO- https://example.org/x \\\n  | tee log | /bin/sh",
        "curl https://example.org/x |\n  python3 -",
        "bash <(curl https://example.org/x)",
        "sh -c \"$(wget -qO- https://example.org/x)\"",
        "eval \"$(curl https://example.org/x)\"",
        "cargo install something",
        "pip install something",
        "npm install something",
    ] {
        for path in called {
            let bad = tree.with(path, "\n\n", &format!("\n{line}\n\n"));
            let found = bad.script_faults();
            assert!(!found.is_empty(), "{path}: {line} was not caught");
        }
    }
}

#[test]
fn the_second_stage_answers_known_events_with_what_its_own_commit_and_run_made() {
    let tree = tree();
    let (comment, second) = (
        ".github/workflows/comment.yml",
        ".github/actions/second-stage/action.yml",
    );
    for (path, good, bad) in [
        (
            comment,
            "    if: ${{ !cancelled() && (github.event_name == 'workflow_dispatch'",
            "    # ",
        ),
        (
            comment,
            "    if: ${{ !cancelled() && github.event_name == 'issue_comment'",
            "    # ",
        ),
        (
            comment,
            " && contains(fromJSON('[\"OWNER\", \"MEMBER\", \"COLLABORATOR\"]'), github.event.comment.author_association)",
            "",
        ),
        (comment, "\"COLLABORATOR\"", "\"COLLABORATOR\", \"NONE\""),
        (comment, "second-stage-${{ github.sha }}", "second-stage"),
        (comment, "{ contents: read } # to check out", "{ contents: write }"),
        (
            comment,
            "with: { persist-credentials: false }",
            "with: { persist-credentials: false, ref: \"${{ github.event.workflow_run.head_sha }}\" }",
        ),
        (
            second,
            "pattern: wirebench-*",
            "run-id: ${{ github.event.workflow_run.id }}",
        ),
        (second, "pattern: wirebench-*", "github-token: ${{ github.token }}"),
    ] {
        assert!(
            !tree.with(path, good, bad).faults().is_empty(),
            "{path}: {good} → {bad} was not caught"
        );
    }
}

/// A program that `scripts/setup.sh --dev` installs.
pub(crate) fn tool(name: &str) -> Command {
    let tools = std::env::var_os("WIREBENCH_TOOLS").map_or_else(|| repository().join(".tools"), PathBuf::from);
    Command::new(tools.join("bin").join(name))
}

/// What actionlint says of these files.
pub(crate) fn actionlint(files: impl Iterator<Item = PathBuf>) -> Ended {
    ended(tool("actionlint").args(files))
}

/// What zizmor says of the workflows below these folders, as `scripts/test.sh` asks it.
pub(crate) fn zizmor(folders: &[PathBuf]) -> Ended {
    let how = ["--quiet", "--offline", "--persona=auditor", "--strict-collection"];
    ended(tool("zizmor").args(how).args(folders))
}

#[test]
fn linters_find_nothing_in_what_init_writes() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join(".github/workflows");
    fs::create_dir_all(&place).unwrap();
    let all = written();
    for (name, text) in &all {
        assert!(text.lines().count() <= 25, "{name} is long: {text}");
        fs::write(place.join(name), text).unwrap();
    }
    let linted = actionlint(all.iter().map(|(name, _)| place.join(name)));
    assert_eq!(linted.code, 0, "{}{}", linted.stdout, linted.stderr);
    let audit = || zizmor(&[folder.path().join(".github")]);
    let audited = audit();
    assert_eq!(audited.code, 0, "{}{}", audited.stdout, audited.stderr);
    // With the label that the file offers.
    let (bench, text) = &all[0];
    let with_label = text.replace(
        "pull_request: #",
        "pull_request: { types: [opened, synchronize, reopened, labeled] } #",
    );
    let with_label = with_label.replace("toolchains: ", "label: bench, toolchains: ");
    assert_eq!(with_label.matches("label: bench, ").count(), 1, "{text}");
    fs::write(place.join(bench), with_label).unwrap();
    for linted in [actionlint([place.join(bench)].into_iter()), audit()] {
        assert_eq!(linted.code, 0, "{}{}", linted.stdout, linted.stderr);
    }
    // A tag instead of a commit is what it looks for.
    let (name, text) = &all[0];
    fs::write(place.join(name), text.replace(COMMIT, "v1")).unwrap();
    assert_ne!(audit().code, 0);
}
