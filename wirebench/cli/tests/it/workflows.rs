//! The rules that workflows and actions keep (docs/SECURITY.md), read off their files; each rule is shown to catch a file that breaks it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::bench::repository;
use crate::jobs::{RELEASED, written};
use crate::rules::held;

/// Every job of every workflow with all that its token may do; a new job, or a new permission, is written here first.
const PERMISSIONS: [(&str, &str, &[&str]); 27] = [
    ("bench", "changes", &["contents: read"]),
    ("bench", "judge", &["contents: read"]),
    ("bench", "measure", &["contents: read", "pull-requests: read"]),
    (
        "bench",
        "publish",
        &["contents: write", "id-token: write", "issues: write", "pages: write"],
    ),
    ("ci", "dependencies", &["contents: read"]),
    ("ci", "test", &["contents: read"]),
    ("cluster", "cluster", &["contents: read"]),
    ("comment", "build", &["contents: read"]),
    (
        "comment",
        "comment",
        &[
            "actions: read",
            "checks: write",
            "contents: read",
            "pull-requests: write",
        ],
    ),
    (
        "comment",
        "rerun",
        &[
            "actions: write",
            "checks: write",
            "contents: read",
            "pull-requests: write",
        ],
    ),
    ("comparisons", "document", &["contents: read"]),
    ("comparisons", "measure", &["contents: read"]),
    ("fuzz", "defences", &["contents: read"]),
    ("fuzz", "fuzz", &["contents: read"]),
    ("peers", "peers", &["contents: read"]),
    ("measure", "measure", &["contents: read", "pull-requests: read"]),
    ("nightly", "test", &["contents: read"]),
    ("publish", "alert", &["contents: read", "issues: write"]),
    ("publish", "deploy", &["id-token: write", "pages: write"]),
    ("publish", "publish", &["contents: write"]),
    ("publish", "site", &["contents: read"]),
    ("release", "build", &["contents: read"]),
    ("release", "defences", &["contents: read"]),
    (
        "release",
        "publish",
        &["attestations: write", "contents: write", "id-token: write"],
    ),
    ("written/bench", "measure", &["contents: read", "pull-requests: read"]),
    (
        "written/bench",
        "publish",
        &["contents: write", "id-token: write", "issues: write", "pages: write"],
    ),
    (
        "written/bench-comment",
        "comment",
        &[
            "actions: write",
            "checks: write",
            "contents: read",
            "pull-requests: write",
        ],
    ),
];
/// Whose actions may be used, each at one commit.
const OWNERS: [&str; 2] = ["actions/", "benchmark-action/github-action-benchmark@"];
/// The only triggers there are; the one that hands a write token to a pull request's code is not among them.
const TRIGGERS: [&str; 8] = [
    "push",
    "schedule",
    "pull_request",
    "merge_group",
    "workflow_dispatch",
    "workflow_run",
    "workflow_call",
    "issue_comment",
];
/// The workflows that may be started by what others finished or said.
const SECOND_STAGE: [&str; 2] = ["comment", "written/bench-comment"];
const LONGEST: usize = 100;
/// Jobs that measure or build.
const SLOW: [&str; 7] = ["build", "cluster", "document", "measure", "peers", "site", "test"];

/// A workflow or an action, as text and as YAML.
struct File {
    name: String,
    text: String,
    yaml: Value,
}

impl File {
    fn new(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            yaml: serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}")),
        }
    }

    fn jobs(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.yaml["jobs"].as_object().into_iter().flatten()
    }

    /// Every step of jobs, or of a composite action.
    fn steps(&self) -> impl Iterator<Item = &Value> {
        let of_jobs = self.jobs().filter_map(|(_, job)| job["steps"].as_array());
        of_jobs.chain(self.yaml["runs"]["steps"].as_array()).flatten()
    }

    /// Everything that is used: steps' actions and jobs' workflows.
    fn used(&self) -> impl Iterator<Item = &str> {
        let jobs = self.jobs().filter_map(|(_, job)| job["uses"].as_str());
        self.steps().filter_map(|step| step["uses"].as_str()).chain(jobs)
    }
}

fn workflows() -> Vec<File> {
    read(".github/workflows", Path::to_path_buf)
}

/// Those that `wirebench init` writes.
fn written_workflows() -> Vec<File> {
    let file = |(name, text): &(String, String)| File::new(&format!("written/{}", name.trim_end_matches(".yml")), text);
    written().iter().map(file).collect()
}

fn actions() -> Vec<File> {
    let mut all = read(".github/actions", |folder| folder.join("action.yml"));
    let root = fs::read_to_string(repository().join("action.yml")).unwrap();
    all.push(File::new("wirebench", &root));
    all
}

fn read(folder: &str, file: impl Fn(&Path) -> std::path::PathBuf) -> Vec<File> {
    let mut all = Vec::new();
    for entry in fs::read_dir(repository().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        all.push(File::new(&name, &fs::read_to_string(file(&path)).unwrap()));
    }
    assert!(all.len() > 4, "{folder} was not read");
    all
}

/// What is wrong with any file, workflow or action.
fn faults(file: &File) -> Vec<String> {
    let mut faults = Vec::new();
    let mut say = |what: String| faults.push(format!("{}: {what}", file.name));
    for used in file.used() {
        let own = used.strip_prefix("$/").map(|path| repository().join(path));
        let pinned = used.rsplit_once('@').is_some_and(|(_, commit)| {
            let line = file.text.lines().find(|line| line.contains(used)).unwrap_or_default();
            let version = line.split_once(" # v").map(|(_, version)| version.split('.').count());
            commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()) && version == Some(3)
        });
        match own {
            Some(path) if path.is_file() || path.join("action.yml").is_file() => {}
            None if pinned && OWNERS.iter().any(|owner| used.starts_with(owner)) => {}
            None if pinned && file.name.starts_with("written/") && used.starts_with(RELEASED) => {}
            _ => say(format!(
                "{used} is neither our own nor pinned to the commit of a version"
            )),
        }
    }
    for step in file.steps() {
        let checks_out = step["uses"]
            .as_str()
            .is_some_and(|used| used.starts_with("actions/checkout@"));
        if checks_out && step["with"]["persist-credentials"] != Value::Bool(false) {
            say("a checkout leaves its token behind".into());
        }
        if let Some(run) = step["run"].as_str() {
            let ours = [
                "scripts/",
                "lab/scripts/",
                ".github/scripts/",
                ".github/actions/",
                "\"$GITHUB_ACTION_PATH/",
                "\"$RUNNER_TEMP/wirebench/bin/wirebench\" ",
            ];
            if run.trim().lines().count() != 1 || !ours.iter().any(|start| run.starts_with(start)) {
                say(format!("`{run}` is not one line that calls a script or wirebench"));
            }
            if run.contains("${{") || run.contains("GITHUB_ENV") || run.contains("GITHUB_PATH") {
                say(format!(
                    "`{run}` puts an expression into a shell, or writes what later steps run with"
                ));
            }
        }
    }
    if file.text.contains("secrets.") || file.text.contains("secrets:") {
        say("no secret is needed anywhere".into());
    }
    faults
}

/// What else is wrong with a workflow.
fn workflow_faults(file: &File) -> Vec<String> {
    let mut faults = faults(file);
    let mut say = |what: String| faults.push(format!("{}: {what}", file.name));
    let lines = file.text.lines().count();
    if lines > LONGEST {
        say(format!("{lines} lines, of {LONGEST}"));
    }
    if file.yaml["permissions"] != serde_json::json!({}) {
        say("`permissions: {}` does not stand at its top".into());
    }
    for trigger in file.yaml["on"].as_object().into_iter().flatten().map(|(name, _)| name) {
        let outside = ["workflow_run", "issue_comment"].contains(&trigger.as_str());
        if !TRIGGERS.contains(&trigger.as_str()) || (outside && !SECOND_STAGE.contains(&file.name.as_str())) {
            say(format!("may not be started by {trigger}"));
        }
    }
    let on = &file.yaml["on"];
    // A push to the branch of a pull request would start the jobs a second time.
    if on.get("pull_request").is_some() && on.get("push").is_some() && on["push"]["branches"].is_null() {
        say("a pull request of the own repository starts it twice: limit `push` to branches".into());
    }
    for (name, job) in file.jobs() {
        let held = held(&job["permissions"]);
        let known = PERMISSIONS.iter().find(|(of, job, _)| *of == file.name && job == name);
        if known.is_none_or(|(_, _, allowed)| held != *allowed) {
            say(format!("job {name} holds {held:?}, which PERMISSIONS does not list"));
        }
        if job["uses"].is_string() {
            continue;
        }
        let on = job["runs-on"].as_str().unwrap_or_default();
        // One processor of a shared machine, whose image moves: never where something is measured or built.
        let is_slim = on == "ubuntu-slim" && !SLOW.contains(&name.as_str());
        if on != "ubuntu-24.04" && on != "${{ matrix.on }}" && on != "${{ matrix.runner }}" && !is_slim {
            say(format!("job {name} runs on {on}, which may move"));
        }
        if is_slim && job["timeout-minutes"].as_u64().is_none_or(|minutes| minutes > 15) {
            say(format!("job {name} on ubuntu-slim may take 15 minutes at most"));
        }
        if !job["timeout-minutes"].is_u64() {
            say(format!("job {name} has no time limit"));
        }
    }
    faults
}

#[test]
fn every_workflow_and_action_keeps_the_rules() {
    let mut files = workflows();
    files.extend(written_workflows());
    let mut wrong: Vec<String> = files.iter().flat_map(workflow_faults).collect();
    wrong.extend(actions().iter().flat_map(faults));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let jobs: usize = files.iter().map(|file| file.jobs().count()).sum();
    assert_eq!(jobs, PERMISSIONS.len(), "PERMISSIONS lists jobs that are gone");
}

/// A workflow that keeps the rules, with one line replaced.
fn with(good: &str, bad: &str) -> String {
    const WORKFLOW: &str = "name: ci
on:
  push:
permissions: {}
jobs:
  test:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with: { persist-credentials: false }
      - run: scripts/test.sh
";
    assert!(WORKFLOW.contains(good), "{good}");
    WORKFLOW.replace(good, bad)
}

#[test]
fn each_rule_catches_what_breaks_it() {
    assert_eq!(
        workflow_faults(&File::new("ci", &with("name", "name"))),
        Vec::<String>::new()
    );
    let long = format!(
        "{}      - run: scripts/test.sh",
        "      - run: scripts/test.sh\n".repeat(100)
    );
    for (good, bad) in [
        ("permissions: {}", "permissions: read-all"),
        ("permissions: {}\n", ""),
        ("  push:", "  pull_request_target:"),
        ("  push:", "  workflow_run:"),
        ("  push:", "  issue_comment:"),
        ("  push:", "  push:\n  pull_request:"),
        ("ubuntu-24.04", "ubuntu-latest"),
        ("ubuntu-24.04", "ubuntu-slim"),
        ("    timeout-minutes: 5\n", ""),
        ("contents: read", "contents: write"),
        ("    permissions:\n      contents: read\n", ""),
        ("  test:", "  other:"),
        ("persist-credentials: false", "persist-credentials: true"),
        ("        with: { persist-credentials: false }\n", ""),
        ("3d3c42e5aac5ba805825da76410c181273ba90b1", "v7"),
        (" # v7.0.1", ""),
        (" # v7.0.1", " # v7"),
        ("actions/checkout@", "somebody/checkout@"),
        (
            "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1",
            "$/.github/actions/none",
        ),
        ("run: scripts/test.sh", "run: cargo install something"),
        (
            "run: scripts/test.sh",
            "run: \"scripts/test.sh ${{ github.head_ref }}\"",
        ),
        ("run: scripts/test.sh", "run: scripts/test.sh >>$GITHUB_ENV"),
        (
            "run: scripts/test.sh",
            "run: |\n          scripts/test.sh\n          make",
        ),
        (
            "run: scripts/test.sh",
            "env: { A: \"${{ secrets.TOKEN }}\" }\n        run: scripts/test.sh",
        ),
        ("      - run: scripts/test.sh", &long),
    ] {
        let faults = workflow_faults(&File::new("ci", &with(good, bad)));
        assert!(!faults.is_empty(), "{good} → {bad} was not caught");
    }
}

/// Groups of jobs that publish: a fork's workflow can name each group of the repository, and cancel the jobs in it.
fn publishing_in_a_group(file: &File) -> Vec<String> {
    let publishes = |job: &Value| {
        let used = job["uses"].as_str().unwrap_or_default();
        job["permissions"]["contents"] == "write" || used.contains("/publish.yml")
    };
    let named = |name: &str| file.yaml["jobs"].get(name).cloned().unwrap_or_default();
    let mut faults = Vec::new();
    for (name, job) in file.jobs().filter(|(_, job)| publishes(job)) {
        if !file.yaml["concurrency"].is_null() || !job["concurrency"].is_null() {
            faults.push(format!("{}: {name} can be cancelled by its group", file.name));
        }
        // What it needs must have a result, or the job would publish nothing.
        let needed = job["needs"].as_str().unwrap_or_default();
        let when = job["if"].as_str().unwrap_or_default();
        let needed_job = named(needed);
        let measures = needed_job["uses"]
            .as_str()
            .is_some_and(|used| used.contains("/measure.yml"));
        if (measures || !needed_job["concurrency"].is_null())
            && !when.contains(&format!("needs.{needed}.result != 'cancelled'"))
        {
            faults.push(format!("{}: {name} runs after {needed} was cancelled", file.name));
        }
    }
    faults
}

#[test]
fn no_job_that_publishes_can_be_cancelled_by_a_group() {
    let mut files = workflows();
    files.extend(written_workflows());
    for file in &files {
        assert_eq!(publishing_in_a_group(file), Vec::<String>::new());
    }
    let texts: BTreeMap<&str, &str> = files.iter().map(|file| (file.name.as_str(), &*file.text)).collect();
    let group = "    concurrency: { group: publish, cancel-in-progress: false }\n";
    for (name, after, added) in [
        ("publish", "    name: keep the run\n", group),
        ("bench", "permissions: {}\n", "concurrency: { group: x }\n"),
        ("written/bench", "    needs: measure\n", group),
    ] {
        let broken = texts[name].replacen(after, &format!("{after}{added}"), 1);
        assert!(!publishing_in_a_group(&File::new(name, &broken)).is_empty(), "{name}");
    }
    let cancelled = texts["written/bench"].replace(" && needs.measure.result != 'cancelled'", "");
    assert!(!publishing_in_a_group(&File::new("written/bench", &cancelled)).is_empty());
    let bench = &files.iter().find(|file| file.name == "bench").unwrap().yaml;
    assert_eq!(
        bench["jobs"]["publish"]["if"],
        "${{ !cancelled() && github.event_name == 'push' }}"
    );
    assert_eq!(bench["on"]["push"]["branches"], serde_json::json!(["main"]));
    assert_eq!(bench["jobs"]["publish"]["needs"], "judge");
}

#[test]
fn caches_are_saved_on_main_alone() {
    const ON_MAIN: [&str; 2] = [
        "github.ref == 'refs/heads/main'",
        "github.ref_name == github.event.repository.default_branch",
    ];
    for file in workflows().iter().chain(&actions()) {
        for step in file.steps() {
            let used = step["uses"].as_str().unwrap_or_default();
            assert!(!used.starts_with("actions/cache@"), "{}: saves by itself", file.name);
            if used.starts_with("actions/cache/save@") {
                let when = step["if"].as_str().unwrap_or_default();
                assert!(ON_MAIN.iter().any(|term| when.contains(term)), "{}: {when}", file.name);
                assert!(!when.contains("||"), "{}: {when}", file.name);
            }
        }
    }
}
