//! A pull request whose run has ended, and the second stage run on it, as sentences.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::bench::{Ended, ended, wirebench};
use crate::github::fake::{Fake, REPOSITORY, REPOSITORY_ID, TOKEN, repository};

pub(crate) const HEAD: &str = "b81e05d44c7f9a236e10bb58cf7214d90a3e6d72";
pub(crate) const BASE: &str = "3f9d2c71a0b84e5596c8d17e2fa4b03c9d51e8f6";
pub(crate) const OTHER: &str = "0123456789abcdef0123456789abcdef01234567";
pub(crate) const WORKFLOW: &str = ".github/workflows/bench.yml";
pub(crate) const RUN: u64 = 500;
pub(crate) const PULL: u64 = 7;
pub(crate) const ARTIFACT: u64 = 600;
pub(crate) const FORK: u64 = 9001;

/// An API with one pull request from a fork, its run and its artifact.
pub(crate) struct Scene {
    pub(crate) fake: Fake,
    folder: TempDir,
}

impl Scene {
    /// The artifact holds the comparison of that name, as the first stage would have left it.
    pub(crate) fn of(golden: &str) -> Self {
        Self::with(&zipped(&comparison(golden).to_string().into_bytes()))
    }

    /// The artifact is these bytes.
    pub(crate) fn with(artifact: &[u8]) -> Self {
        let fake = Fake::start();
        {
            let mut known = fake.known();
            known.runs.push(run());
            known.pulls.push(pull(PULL, HEAD, FORK));
            known.artifacts.insert(RUN, vec![listed(artifact.len())]);
            known.archives.insert(ARTIFACT, artifact.to_vec());
        }
        let scene = Self {
            fake,
            folder: tempfile::tempdir().unwrap(),
        };
        scene.completed();
        scene
    }

    /// The event of the next second stage is that the run has ended.
    pub(crate) fn completed(&self) {
        let run = run();
        self.event(
            &json!({ "action": "completed", "workflow_run": run, "repository": repository(REPOSITORY_ID, REPOSITORY) }),
        );
    }

    /// Puts another event into the file that the workflow names.
    pub(crate) fn event(&self, event: &Value) {
        fs::write(self.event_file(), event.to_string()).unwrap();
    }

    pub(crate) fn event_file(&self) -> PathBuf {
        self.folder.path().join("event.json")
    }

    /// Runs a command as a workflow does, outside of any project; whatever it does, the token stays where it belongs.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        let mut command = wirebench(args);
        command.current_dir(self.folder.path());
        for variable in [
            "http_proxy",
            "https_proxy",
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "all_proxy",
        ] {
            command.env_remove(variable);
        }
        command
            .env("GITHUB_API_URL", &self.fake.url)
            .env("GITHUB_SERVER_URL", "https://github.com")
            .env("GITHUB_REPOSITORY", REPOSITORY)
            .env("GITHUB_TOKEN", TOKEN)
            .env("GITHUB_EVENT_PATH", self.event_file());
        let ended = ended(&mut command);
        assert_eq!(self.fake.wrong(), Vec::<String>::new());
        for text in [&ended.stdout, &ended.stderr] {
            // Nor a part of it.
            assert!(!text.contains("made_up_secret"), "the token was printed: {text}");
            for line in text.lines() {
                let line = line.trim_start();
                assert!(
                    !line.starts_with("::") && !line.contains("##["),
                    "a command for the runner: {line}"
                );
            }
        }
        ended
    }

    pub(crate) fn comment(&self) -> Ended {
        self.run(&["github", "comment"])
    }

    /// Runs the second stage, which must write nothing and say why.
    pub(crate) fn refused(&self) -> String {
        let why = self.refused_in_the_log();
        assert!(self.fake.writes().is_empty(), "{:#?}", self.fake.writes());
        why
    }

    /// Runs the second stage, which must write a failing check alone, and say there and in the log why.
    pub(crate) fn refused_by_the_check(&self) -> String {
        let why = self.refused_in_the_log();
        let writes = self.fake.writes();
        assert!(
            writes.iter().all(|write| write.path.starts_with("/check-runs")),
            "{writes:#?}"
        );
        let known = self.fake.known();
        let check = &known.checks[0];
        let shown = check["output"]["summary"].as_str().unwrap();
        assert_eq!(check["conclusion"], "failure", "{shown}");
        let said = why.trim_start_matches("error: ").replace('`', "'");
        assert!(shown.starts_with(&format!("`{said}`\n")), "{why} in\n{shown}");
        why
    }

    fn refused_in_the_log(&self) -> String {
        let ended = self.comment();
        assert_eq!(ended.code, 1, "{}", ended.stderr);
        let error = ended.stderr.lines().find(|line| line.starts_with("error: "));
        error
            .unwrap_or_else(|| panic!("no reason: {}", ended.stderr))
            .to_owned()
    }

    /// The text of the only comment by the second stage, which comments on every run.
    pub(crate) fn said(&self) -> String {
        let ended = self.run(&["github", "comment", "--comment", "always"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let known = self.fake.known();
        let bodies: Vec<&str> = known.comments[&PULL]
            .iter()
            .filter_map(|comment| comment["body"].as_str())
            .collect();
        assert_eq!(bodies.len(), 1);
        bodies[0].to_owned()
    }
}

/// The run of the pull request, which has ended.
pub(crate) fn run() -> Value {
    json!({
        "id": RUN, "name": "bench", "event": "pull_request", "path": WORKFLOW, "status": "completed",
        "conclusion": "success", "head_sha": HEAD, "head_branch": "faster", "run_attempt": 1,
        "head_repository": repository(FORK, "stranger/weather"), "repository": repository(REPOSITORY_ID, REPOSITORY),
        "created_at": "2026-11-21T09:00:00Z", "run_started_at": "2026-11-21T09:00:00Z", "pull_requests": [],
    })
}

/// An open pull request from branch `faster` of a repository.
pub(crate) fn pull(number: u64, head: &str, repository: u64) -> Value {
    let owner = if repository == REPOSITORY_ID {
        "octo"
    } else {
        "stranger"
    };
    json!({
        "number": number, "state": "open",
        "head": { "sha": head, "ref": "faster", "user": { "login": owner }, "repo": { "id": repository } },
        "base": { "sha": BASE, "ref": "main", "user": { "login": "octo" }, "repo": { "id": REPOSITORY_ID } },
    })
}

/// The artifact as the API lists it.
pub(crate) fn listed(size: usize) -> Value {
    json!({
        "id": ARTIFACT, "name": "bench-result", "size_in_bytes": size, "expired": false,
        "created_at": "2026-11-21T09:08:00Z", "workflow_run": { "id": RUN, "head_sha": HEAD },
    })
}

/// A reviewed comparison as JSON.
pub(crate) fn comparison(golden: &str) -> Value {
    let file = format!("{}/tests/golden/comparison/{golden}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// A zip with that one file.
pub(crate) fn zipped(content: &[u8]) -> Vec<u8> {
    zip_of(
        &[("comparison.json", content)],
        SimpleFileOptions::default().unix_permissions(0o644),
    )
}

/// A zip with those files.
pub(crate) fn zip_of(files: &[(&str, &[u8])], options: SimpleFileOptions) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
