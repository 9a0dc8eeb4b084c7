//! The workflows as they are, run on this machine by act in host mode: a push becomes history and data.js, a pull request an
//! artifact, and that artifact a comment, then the same comment anew.
//!
//! Needs the actions that the workflows use, as folders `OWNER/NAME` below $WIREBENCH_ACTIONS; without it, nothing is run,
//! and that is said. act 0.2.89 does not know `$/`, and takes artifacts from actions/upload-artifact 4; the copy
//! of this repository that it runs says `./` instead, with a checkout where that takes one, and leaves the one job out
//! that only GitHub's Pages can do.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Ended, ended, free_port, git_in, repository, wirebench};
use crate::github::fake::{REPOSITORY, TOKEN};
use crate::github::scene::{PULL, Scene};
use crate::releases::Releases;

const CHECKOUT: &str = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1";

/// The folder of actions, or why nothing is run.
fn actions() -> Option<PathBuf> {
    let folder = std::env::var_os("WIREBENCH_ACTIONS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: WIREBENCH_ACTIONS names no folder of actions");
    }
    folder
}

/// The commit by which a foreign repository names wirebench.
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A repository with two commits, its remote, and a release to install from.
struct Place {
    folder: TempDir,
    actions: PathBuf,
    releases: Releases,
}

impl Place {
    /// With a copy of this repository.
    fn new(actions: PathBuf) -> Self {
        let place = Self::empty(actions);
        place.copy("", "repo");
        place.simplify();
        place.commit();
        place
    }

    /// With the example in Node.js, and the workflows that `wirebench init` writes, which call those of a copy of this repository.
    fn foreign(actions: PathBuf) -> Self {
        let place = Self::empty(actions);
        place.copy("", "wirebench");
        let own = Regex::new(r"uses: \$/(\S+)").unwrap();
        for file in yaml(&place.path("wirebench")) {
            let with_commit = format!("uses: wirebench/wirebench/${{1}}@{COMMIT}");
            edit(&file, |text| {
                own.replace_all(&without_deploying(&file, text), &with_commit)
                    .into_owned()
            });
        }
        place.copy("examples/node/", "repo");
        let repo = place.path("repo");
        let wrote = ended(&mut wirebench(&[
            "init",
            "--no-probe",
            "--commit",
            COMMIT,
            &repo.to_string_lossy(),
        ]));
        assert!(
            wrote.stdout.contains("wrote     .github/workflows/bench.yml"),
            "{}{}",
            wrote.stdout,
            wrote.stderr
        );
        edit(&repo.join(".github/workflows/bench.yml"), |text| {
            // Its release is on GitHub alone.
            let called = "toolchains: \"node:.\"";
            assert!(text.contains(called), "{text}");
            text.replace(called, "budget: 20s, rounds: 8")
        });
        edit(&repo.join(".github/workflows/bench-comment.yml"), |text| {
            // Equal code gets a comment, too.
            format!("{text}      comment: always\n")
        });
        edit(&repo.join("wirebench.toml"), |text| text.replace("\"5s\"", "\"200ms\""));
        place.commit();
        place
    }

    fn empty(actions: PathBuf) -> Self {
        let releases = Releases::new();
        let packed = releases.pack(crate::releases::VERSION);
        assert_eq!(packed.code, 0, "{}", packed.stderr);
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
            actions,
            releases,
        };
        for folder in ["remote.git", "home/bin", "repo"] {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        let gh = place.path("home/bin/gh");
        fs::write(&gh, "#!/bin/sh\necho --source-ref\n").unwrap();
        fs::set_permissions(gh, fs::Permissions::from_mode(0o755)).unwrap();
        git_in(
            &place.path("remote.git"),
            &["init", "--quiet", "--bare", "--initial-branch", "main"],
        );
        git_in(&place.path("repo"), &["init", "--quiet", "--initial-branch", "main"]);
        place
    }

    fn commit(&self) {
        let repo = self.path("repo");
        let remote = format!("file://{}", self.path("remote.git").display());
        git_in(&repo, &["remote", "add", "origin", &remote]);
        for message in ["before", "after"] {
            fs::write(repo.join("change"), message).unwrap();
            git_in(&repo, &["add", "--all"]);
            git_in(&repo, &["commit", "--quiet", "--message", message]);
        }
        git_in(&repo, &["push", "--quiet", "origin", "main"]);
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// Every file below a folder of this repository that git knows of, as it is now.
    fn copy(&self, below: &str, to: &str) {
        let listed = git_in(
            &repository(),
            &["ls-files", "--cached", "--others", "--exclude-standard"],
        );
        for file in listed.lines().filter_map(|file| file.strip_prefix(below)) {
            let from = repository().join(below).join(file);
            let to = self.path(to).join(file);
            if from.is_file() {
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::copy(from, to).unwrap();
            }
        }
    }

    /// What act does not know is written as it knows it; rounds are short; the servers are built already.
    fn simplify(&self) {
        let repo = self.path("repo");
        for file in yaml(&repo) {
            edit(&file, |text| {
                let text = text.replace("uses: $/", "uses: ./");
                let text = text.replace("version: source", &format!("version: {}", crate::releases::VERSION));
                let text = without_building(&text);
                // Equal code gets a comment, too.
                let text = text.replace("inputs.comment || 'changed'", "inputs.comment || 'always'");
                let stage = "      - uses: ./.github/actions/second-stage";
                let text = text.replace(stage, &format!("      - uses: {CHECKOUT}\n{stage}"));
                without_deploying(&file, text)
            });
        }
        let short = [
            ("requests_at_most = 30_000", "requests_at_most = 2_000"),
            ("duration_at_most = \"1s\"", "duration_at_most = \"200ms\""),
            ("starts_at_most   = 10", "starts_at_most   = 2"),
            ("warmup           = \"200ms\"", "warmup           = \"50ms\""),
            ("budget  = \"10m\"", "budget  = \"20s\""),
            ("rounds  = 10 ", "rounds  = 8 "),
        ];
        edit(&repo.join("wirebench.toml"), |mut text| {
            for (long, short) in short {
                assert!(text.contains(long), "{long}");
                text = text.replace(long, short);
            }
            text
        });
        let target = Path::new(env!("CARGO_BIN_EXE_wirebench")).ancestors().nth(2).unwrap();
        for package in ["http-server", "grpc-server"] {
            let mut cargo = Command::new("cargo");
            cargo.args(["build", "--quiet", "--release", "--locked", "--package", package]);
            let built = ended(cargo.arg("--target-dir").arg(target).current_dir(repository()));
            assert_eq!(built.code, 0, "{}", built.stderr);
        }
        let package = Regex::new(r#"package\s*=\s*"([a-z-]+)""#).unwrap();
        for server in ["http", "grpc"] {
            edit(&repo.join("servers").join(server).join("server.toml"), |text| {
                let name = package.captures(&text).unwrap()[1].to_owned();
                let command = format!("command = [{:?}]", target.join("release").join(name));
                package.replace(&text, command.replace('$', "$$")).into_owned()
            });
        }
    }

    /// Which folder stands for each action that is used.
    fn local(&self) -> Vec<String> {
        let used = Regex::new(r"uses: ([\w-]+/[\w-]+)(?:/[\w-]+)*@([0-9a-f]{40})").unwrap();
        let own = self.path("wirebench");
        let mut args = vec![
            "--local-repository".to_owned(),
            format!("https://github.com/wirebench/wirebench@{COMMIT}={}", own.display()),
        ];
        let folders = [self.path("repo"), own];
        let files = folders.iter().flat_map(|folder| yaml(folder));
        let mut texts: Vec<String> = files.map(|file| fs::read_to_string(file).unwrap()).collect();
        // An action may use others.
        let nested = self.actions.join("actions/upload-pages-artifact/action.yml");
        texts.extend(fs::read_to_string(nested));
        for found in texts.iter().flat_map(|text| used.captures_iter(text)) {
            let folder = self.actions.join(&found[1]);
            assert!(
                folder.is_dir() || &found[1] == "actions/attest",
                "{} is missing",
                folder.display()
            );
            args.push("--local-repository".to_owned());
            args.push(format!(
                "https://github.com/{}@{}={}",
                &found[1],
                &found[2],
                folder.display()
            ));
        }
        args
    }

    fn act(&self, event: &str, workflow: &str, file: &Path, more: &[(&str, &str)]) -> Ended {
        let tools = std::env::var_os("WIREBENCH_TOOLS").map_or_else(|| repository().join(".tools"), PathBuf::from);
        let home = std::env::var("HOME").unwrap_or_default();
        let mirror = self.releases.mirror();
        let mut act = Command::new(tools.join("bin/act"));
        act.current_dir(self.path("repo")).env("HOME", self.path("home"));
        // The release is this test's own: nobody attested it.
        let path = std::env::var("PATH").unwrap_or_default();
        act.env("PATH", format!("{}:{path}", self.path("home/bin").display()));
        act.args([event, "--workflows", &format!(".github/workflows/{workflow}.yml")]);
        act.args([
            "--platform",
            "ubuntu-24.04=-self-hosted",
            "--platform",
            "ubuntu-slim=-self-hosted",
            "--action-offline-mode",
            "--eventpath",
        ])
        .arg(file);
        act.args([
            "--artifact-server-addr",
            "127.0.0.1",
            "--cache-server-addr",
            "127.0.0.1",
        ]);
        act.arg("--artifact-server-port").arg(free_port().to_string());
        act.arg("--artifact-server-path").arg(self.path("artifacts"));
        act.args(["--secret", &format!("GITHUB_TOKEN={TOKEN}"), "--concurrent-jobs", "1"])
            .args(self.local());
        let remote = format!("url.file://{}.insteadOf", self.path("remote.git").display());
        let address = format!("https://x-access-token:{TOKEN}@github.com/{REPOSITORY}.git");
        let rustup = std::env::var("RUSTUP_HOME").unwrap_or(format!("{home}/.rustup"));
        let cargo = std::env::var("CARGO_HOME").unwrap_or(format!("{home}/.cargo"));
        let tools = tools.to_string_lossy().into_owned();
        let common = [
            ("GITHUB_REPOSITORY", REPOSITORY),
            ("WIREBENCH_RELEASES", mirror.as_str()),
            ("WIREBENCH_TOOLS", tools.as_str()),
            ("RUSTUP_HOME", rustup.as_str()),
            ("CARGO_HOME", cargo.as_str()),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", remote.as_str()),
            ("GIT_CONFIG_VALUE_0", address.as_str()),
        ];
        for (name, value) in common.iter().chain(more) {
            act.args(["--env", &format!("{name}={value}")]);
        }
        ended(&mut act)
    }

    fn event(&self, name: &str, event: &Value) -> PathBuf {
        let file = self.path(name);
        fs::write(&file, event.to_string()).unwrap();
        file
    }

    fn head(&self) -> String {
        git_in(&self.path("repo"), &["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Paths on the branch that is published to.
    fn published(&self) -> String {
        git_in(&self.path("remote.git"), &["ls-tree", "-r", "--name-only", "data"])
    }

    /// The bytes of an artifact that a job left.
    fn artifact(&self, name: &str, log: &str) -> Vec<u8> {
        let runs = fs::read_dir(self.path("artifacts")).unwrap().flatten();
        let file = runs
            .map(|run| run.path().join(name).join(format!("{name}.zip")))
            .find(|file| file.is_file());
        fs::read(file.unwrap_or_else(|| panic!("there is no artifact {name}: {log}"))).unwrap()
    }
}

/// The workflows and actions of a repository.
fn yaml(repo: &Path) -> Vec<PathBuf> {
    let entries = |folder: &str| {
        fs::read_dir(repo.join(".github").join(folder))
            .into_iter()
            .flatten()
            .flatten()
    };
    let actions = entries("actions").map(|entry| entry.path().join("action.yml"));
    let workflows = entries("workflows").map(|entry| entry.path());
    let own = Some(repo.join("action.yml")).filter(|file| file.is_file());
    actions.chain(workflows).chain(own).collect()
}

/// Publishing ends with a job that only GitHub's Pages can do, and the one after it.
fn without_deploying(file: &Path, text: String) -> String {
    match text.split_once("\n  deploy:\n") {
        Some((before, _)) if file.ends_with("publish.yml") => format!("{before}\n"),
        _ => text,
    }
}

/// A workflow without the job that builds this repository's second stage: a release is there to install.
fn without_building(text: &str) -> String {
    let built = r"(?s)  # Not called by another repository.*?\n\n|    needs: build\n|    with: \{ version: built \}\n";
    let text = Regex::new(built).unwrap().replace_all(text, "");
    let version = Regex::new(r"version: \$\{\{ inputs\.workflow && .*\}\}").unwrap();
    version
        .replace_all(&text, "version: $${{ inputs.version }}")
        .into_owned()
}

fn edit(file: &Path, change: impl Fn(String) -> String) {
    let text = fs::read_to_string(file).unwrap();
    fs::write(file, change(text)).unwrap();
}

fn described() -> Value {
    let (owner, name) = REPOSITORY.split_once('/').unwrap();
    json!({ "full_name": REPOSITORY, "name": name, "owner": { "login": owner }, "default_branch": "main" })
}

/// The event of a push of the newest commit.
fn pushed(place: &Place) -> Value {
    let head = place.head();
    let person = json!({ "name": "a", "email": "a@example.invalid", "username": "a" });
    json!({
        "ref": "refs/heads/main", "before": "0".repeat(40), "after": head, "repository": described(),
        "head_commit": {
            "id": head, "message": "after", "timestamp": "2026-11-21T09:00:00Z", "author": person, "committer": person,
            "url": format!("https://github.com/{REPOSITORY}/commit/{head}"),
        },
    })
}

/// A push is measured, and is on the branch `data` afterwards, with data.js; a series of that name is in it.
fn assert_that_a_push_is_published(place: &Place, series: &str) {
    let ran = place.act("push", "bench", &place.event("push.json", &pushed(place)), &[]);
    let log = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.code, 0, "{log}");
    let published = place.published();
    let head = place.head();
    assert!(published.contains(&format!("/{}-", &head[..12])), "{published}\n{log}");
    assert!(published.contains("dev/bench/data.js"), "{published}");
    let data = git_in(&place.path("remote.git"), &["show", "data:dev/bench/data.js"]);
    for suite in ["wirebench, smaller is better", "wirebench, bigger is better"] {
        assert!(data.contains(suite), "{data}");
    }
    assert!(data.contains(series), "{data}");
    assert!(!place.artifact("github-pages", &log).is_empty());
    assert!(!log.contains(TOKEN), "the token was printed");
}

/// A pull request leaves an artifact, from which the second stage makes one comment, and then the same comment anew.
fn assert_that_a_pull_request_is_commented(place: &Place, second_stage: &str) {
    let event = json!({
        "action": "synchronize", "number": PULL, "repository": described(),
        "pull_request": { "number": PULL, "head": { "sha": place.head(), "ref": "faster" }, "base": { "ref": "main" } },
    });
    let ran = place.act("pull_request", "bench", &place.event("pull.json", &event), &[]);
    let log = format!("{}{}", ran.stdout, ran.stderr);
    // Equal code in very short rounds on a busy machine: the gate may be closed, the artifact must be there.
    let artifact = place.artifact("bench-result", &log);
    let scene = Scene::with(&artifact);
    for turn in 1..=2 {
        let api = scene.fake.url.clone();
        let ran = place.act(
            "workflow_run",
            second_stage,
            &scene.event_file(),
            &[("GITHUB_API_URL", &api)],
        );
        assert_eq!(ran.code, 0, "{turn}: {}{}\nafter\n{log}", ran.stdout, ran.stderr);
        let known = scene.fake.known();
        let bodies: Vec<&Value> = known.comments[&PULL].iter().map(|comment| &comment["body"]).collect();
        assert_eq!(bodies.len(), 1, "{turn}: {bodies:?}");
        assert!(
            bodies[0].as_str().unwrap().contains("\n### wirebench: "),
            "{}",
            bodies[0]
        );
    }
    let methods: Vec<String> = scene.fake.writes().iter().map(|asked| asked.method.clone()).collect();
    assert!(
        methods.contains(&"POST".to_owned()) && methods.contains(&"PATCH".to_owned()),
        "{methods:?}"
    );
}

#[test]
fn a_push_is_measured_kept_and_shown() {
    let Some(actions) = actions() else { return };
    assert_that_a_push_is_published(&Place::new(actions), "weather-fixed-count@http@hey");
}

#[test]
fn a_pull_request_becomes_an_artifact_and_that_one_comment() {
    let Some(actions) = actions() else { return };
    assert_that_a_pull_request_is_commented(&Place::new(actions), "comment");
}

#[test]
fn what_init_writes_does_the_same_in_a_foreign_repository() {
    let Some(actions) = actions() else { return };
    let place = Place::foreign(actions);
    assert_that_a_push_is_published(&place, "weather@http@hey");
    assert_that_a_pull_request_is_commented(&place, "bench-comment");
}

#[test]
fn a_missing_label_a_merge_group_and_a_crash_are_answered() {
    let Some(actions) = actions() else { return };
    let place = Place::foreign(actions);
    edit(&place.path("repo/.github/workflows/bench.yml"), |text| {
        text.replace("with: { config: .,", "with: { config: ., label: bench,")
    });
    // Nothing of these is measured, and the job ends well, so that a required check does not wait.
    let pull = |labels: &Value| {
        json!({
            "action": "synchronize", "number": PULL, "repository": described(),
            "pull_request": { "number": PULL, "labels": labels, "head": { "sha": place.head() }, "base": { "ref": "main" } },
        })
    };
    for (name, event) in [
        ("pull_request", pull(&json!([]))),
        ("pull_request", pull(&json!([{ "name": "documentation" }]))),
        (
            "merge_group",
            json!({ "action": "checks_requested", "repository": described(), "merge_group": { "head_sha": place.head() } }),
        ),
    ] {
        let ran = place.act(name, "bench", &place.event("event.json", &event), &[]);
        let log = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, 0, "{event}: {log}");
        assert!(!log.contains("building"), "{event}: {log}");
        assert!(
            !place.path("artifacts").exists() || !log.contains("bench-result"),
            "{event}: {log}"
        );
    }
    // A server that ends at once fails the job, which leaves all that is published. act runs no job after one that failed.
    let repo = place.path("repo");
    fs::write(repo.join("src/http.js"), "process.exit(3);\n").unwrap();
    git_in(&repo, &["commit", "--quiet", "--all", "--message", "crash"]);
    let ran = place.act("push", "bench", &place.event("push.json", &pushed(&place)), &[]);
    let log = format!("{}{}", ran.stdout, ran.stderr);
    assert_ne!(ran.code, 0, "{log}");
    assert!(log.contains("exited with status 3"), "{log}");
    assert!(!place.artifact("bench-history", &log).is_empty());
}
