//! `.github/actions/changes/changes.sh`: which pull requests are not measured, because nothing that is measured changed.

use std::fs;
use std::process::Command;

use crate::bench::{Bench, ended};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.github/actions/changes/changes.sh");

/// A repository in which `build.rs` takes `docs/api.md` in.
fn repository() -> Bench {
    Bench::empty()
        .file("src/build.rs", "include_str!(\"../docs/api.md\")")
        .file("docs/api.md", "one")
        .file("docs/guide.md", "see api.md and guide.md")
        .commit("one")
}

/// What the script answers after this file was changed, with these variables; and the log.
fn answer(file: &str, variables: &[(&str, &str)]) -> (String, String) {
    let bench = repository().file(file, "changed").commit("two");
    answered(&bench, variables)
}

fn answered(bench: &Bench, variables: &[(&str, &str)]) -> (String, String) {
    let output = bench.path("output");
    let mut script = Command::new(SCRIPT);
    script.current_dir(bench.path(".")).env("GITHUB_OUTPUT", &output);
    script
        .env("GITHUB_EVENT_NAME", "pull_request")
        .env("GITHUB_RUN_ATTEMPT", "1");
    for variable in ["PATHS", "READERS"] {
        script.env_remove(variable);
    }
    let ran = ended(script.envs(variables.iter().copied()));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    (fs::read_to_string(output).unwrap(), ran.stdout)
}

#[test]
fn a_document_that_no_build_reads_is_not_measured_and_that_is_said() {
    for file in [
        "docs/guide.md",
        "LICENSE",
        "docs/picture.svg",
        ".github/ISSUE_TEMPLATE/bug.yml",
        "new.md",
    ] {
        let (output, log) = answer(file, &[]);
        assert_eq!(output, "measure=false\n", "{file}");
        assert!(
            log.starts_with("::notice::not measured: only documents changed (1)"),
            "{log}"
        );
    }
}

#[test]
fn everything_else_is_measured_and_so_is_every_doubt() {
    for file in [
        "docs/api.md",
        "src/main.rs",
        "requirements.txt",
        "logo.svg",
        "a\nb.rs",
        "Dockerfile",
    ] {
        assert_eq!(answer(file, &[]).0, "measure=true\n", "{file}");
    }
    for variables in [
        [("GITHUB_EVENT_NAME", "push")],
        [("GITHUB_EVENT_NAME", "workflow_dispatch")],
        // Somebody asked by /bench.
        [("GITHUB_RUN_ATTEMPT", "2")],
    ] {
        assert_eq!(answer("docs/guide.md", &variables).0, "measure=true\n", "{variables:?}");
    }
    let (output, _) = answered(&repository(), &[]);
    assert_eq!(output, "measure=true\n", "a commit without a parent");
    assert_eq!(answer("docs/guide.md", &[("PATHS", ":(bad)x[")]).0, "measure=false\n");
}

#[test]
fn a_document_matters_only_to_the_files_that_builds_read() {
    assert_eq!(answer("docs/api.md", &[("READERS", "docs")]).0, "measure=false\n");
    assert_eq!(answer("docs/api.md", &[("READERS", "docs src")]).0, "measure=true\n");
}

#[test]
fn a_change_beside_the_paths_is_not_measured() {
    let paths = [("PATHS", "services/api/** go.mod")];
    for (file, measured) in [
        ("services/api/a/b.go", "true"),
        ("go.mod", "true"),
        ("services/web/a.go", "false"),
        ("services/api/README.md", "false"),
    ] {
        let (output, log) = answer(file, &paths);
        assert_eq!(output, format!("measure={measured}\n"), "{file}: {log}");
    }
}

#[test]
fn a_merge_group_is_answered_without_a_measurement() {
    let (output, log) = answer("src/main.rs", &[("GITHUB_EVENT_NAME", "merge_group")]);
    assert_eq!(output, "measure=false\n");
    assert!(log.contains("::notice::not measured: a merge group"), "{log}");
}
