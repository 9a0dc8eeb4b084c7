//! The workflows as they are, run on this machine by act in host mode: a push becomes history and data.js, a pull request an
//! artifact, and that artifact a comment, then the same comment anew.
//!
//! Needs the actions that the workflows use, as folders `OWNER/NAME` below $WIREBENCH_ACTIONS; without it, nothing is run,
//! and that is said. act 0.2.89 does not know `$/`, and takes artifacts from actions/upload-artifact 4; the copy
//! of this repository that it runs says `./` instead, with a checkout where that takes one, and leaves the one job out
//! that only GitHub's Pages can do.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Ended, ended, free_port, git_in, repository};
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

/// A copy of this repository with two commits, its remote, and a release to install from.
struct Place {
    folder: TempDir,
    actions: PathBuf,
    releases: Releases,
}

impl Place {
    fn new(actions: PathBuf) -> Self {
        let releases = Releases::new();
        let packed = releases.pack(crate::releases::VERSION);
        assert_eq!(packed.code, 0, "{}", packed.stderr);
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
            actions,
            releases,
        };
        fs::create_dir_all(place.path("remote.git")).unwrap();
        fs::create_dir_all(place.path("home/bin")).unwrap();
        symlink("/bin/true", place.path("home/bin/gh")).unwrap();
        git_in(
            &place.path("remote.git"),
            &["init", "--quiet", "--bare", "--initial-branch", "main"],
        );
        place.copy();
        place.simplify();
        let repo = place.path("repo");
        let remote = format!("file://{}", place.path("remote.git").display());
        git_in(&repo, &["init", "--quiet", "--initial-branch", "main"]);
        git_in(&repo, &["remote", "add", "origin", &remote]);
        for message in ["before", "after"] {
            fs::write(repo.join("change"), message).unwrap();
            git_in(&repo, &["add", "--all"]);
            git_in(&repo, &["commit", "--quiet", "--message", message]);
        }
        git_in(&repo, &["push", "--quiet", "origin", "main"]);
        place
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// Every file that git knows of, as it is now.
    fn copy(&self) {
        let listed = git_in(
            &repository(),
            &["ls-files", "--cached", "--others", "--exclude-standard"],
        );
        for file in listed.lines().filter(|file| repository().join(file).is_file()) {
            let to = self.path("repo").join(file);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(repository().join(file), to).unwrap();
        }
    }

    /// What act does not know is written as it knows it; rounds are short; the servers are built already.
    fn simplify(&self) {
        let repo = self.path("repo");
        for file in self.yaml() {
            edit(&file, |text| {
                let text = text.replace("uses: $/", "uses: ./");
                let text = text.replace("version: source", &format!("version: {}", crate::releases::VERSION));
                let text = without_building(&text);
                // Equal code gets a comment, too.
                let text = text.replace("inputs.comment || 'changed'", "inputs.comment || 'always'");
                let stage = "      - uses: ./.github/actions/second-stage";
                let text = text.replace(stage, &format!("      - uses: {CHECKOUT}\n{stage}"));
                match text.split_once("\n  deploy:\n") {
                    Some((before, _)) if file.ends_with("publish.yml") => format!("{before}\n"),
                    _ => text,
                }
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

    fn yaml(&self) -> Vec<PathBuf> {
        let github = self.path("repo/.github");
        let mut files = vec![self.path("repo/action.yml")];
        let workflows = fs::read_dir(github.join("workflows")).unwrap().flatten();
        files.extend(workflows.map(|entry| entry.path()));
        let actions = fs::read_dir(github.join("actions")).unwrap().flatten();
        files.extend(actions.map(|entry| entry.path().join("action.yml")));
        files
    }

    /// Which folder stands for each action that is used.
    fn local(&self) -> Vec<String> {
        let used = Regex::new(r"uses: ([\w-]+/[\w-]+)(?:/[\w-]+)*@([0-9a-f]{40})").unwrap();
        let mut args = Vec::new();
        let mut texts: Vec<String> = self
            .yaml()
            .iter()
            .map(|file| fs::read_to_string(file).unwrap())
            .collect();
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

#[test]
fn a_push_is_measured_kept_and_shown() {
    let Some(actions) = actions() else { return };
    let place = Place::new(actions);
    let head = place.head();
    let person = json!({ "name": "a", "email": "a@example.invalid", "username": "a" });
    let event = json!({
        "ref": "refs/heads/main", "before": "0".repeat(40), "after": head, "repository": described(),
        "head_commit": {
            "id": head, "message": "after", "timestamp": "2026-11-21T09:00:00Z", "author": person, "committer": person,
            "url": format!("https://github.com/{REPOSITORY}/commit/{head}"),
        },
    });
    let ran = place.act("push", "bench", &place.event("push.json", &event), &[]);
    let log = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.code, 0, "{log}");
    let published = place.published();
    assert!(published.contains(&format!("/{}-", &head[..12])), "{published}\n{log}");
    assert!(published.contains("dev/bench/data.js"), "{published}");
    let data = git_in(&place.path("remote.git"), &["show", "data:dev/bench/data.js"]);
    for suite in ["wirebench, smaller is better", "wirebench, bigger is better"] {
        assert!(data.contains(suite), "{data}");
    }
    assert!(data.contains("weather-fixed-count@http@hey"), "{data}");
    assert!(!place.artifact("github-pages", &log).is_empty());
    assert!(!log.contains(TOKEN), "the token was printed");
}

#[test]
fn a_pull_request_becomes_an_artifact_and_that_one_comment() {
    let Some(actions) = actions() else { return };
    let place = Place::new(actions);
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
            "comment",
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
