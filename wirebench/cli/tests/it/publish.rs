//! `scripts/publish.sh` and `scripts/site.sh`: runs on a branch that many push to at once, and what is shown of it; with a real bare repository.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::bench::{Ended, ended, git_in, repository};

/// A bare repository, a checkout of it with uncommitted work, and histories to be published.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in ["remote.git", "checkout"] {
            fs::create_dir(place.path(folder)).unwrap();
        }
        place.remote(&["init", "--quiet", "--bare", "--initial-branch", "main"]);
        // As GitHub does: a fetch may leave the contents of files out.
        place.remote(&["config", "uploadpack.allowFilter", "true"]);
        let checkout = place.path("checkout");
        git_in(&checkout, &["init", "--quiet", "--initial-branch", "main"]);
        git_in(
            &checkout,
            &["remote", "add", "origin", &place.path("remote.git").to_string_lossy()],
        );
        git_in(&checkout, &["commit", "--quiet", "--allow-empty", "--message", "code"]);
        git_in(&checkout, &["push", "--quiet", "origin", "main"]);
        fs::write(checkout.join("unsaved"), "work").unwrap();
        place
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    pub(crate) fn remote(&self, args: &[&str]) -> String {
        git_in(&self.path("remote.git"), args)
    }

    /// A history of one run of that name.
    pub(crate) fn history(&self, name: &str, run: &str, content: &str) -> String {
        let folder = self.path(name).join("runs/2026/11");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(run), content).unwrap();
        self.path(name).to_string_lossy().into_owned()
    }

    fn start(&self, args: &[&str]) -> Child {
        self.command(args).spawn().unwrap()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(repository().join("scripts/publish.sh"));
        command
            .args(args)
            .current_dir(self.path("checkout"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env_remove("GITHUB_TOKEN")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn publish(&self, args: &[&str]) -> Ended {
        end(self.start(args))
    }

    /// Every file on the branch.
    pub(crate) fn files(&self) -> Vec<String> {
        let listed = self.remote(&["ls-tree", "-r", "--name-only", "data"]);
        listed.lines().map(str::to_owned).collect()
    }

    /// Subject, author and number of parents of each commit on the branch, the newest first.
    fn commits(&self) -> Vec<String> {
        let listed = self.remote(&["log", "--format=%s|%an|%p", "data"]);
        listed.lines().map(str::to_owned).collect()
    }
}

pub(crate) fn end(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn the_first_publish_begins_the_branch_and_leaves_the_checkout_alone() {
    let place = Place::new();
    let history = place.history("h", "a-1.json", "{}");
    fs::write(
        Path::new(&history).join("history.json"),
        "{\"schema\":\"wirebench.history/v1\"}",
    )
    .unwrap();
    fs::create_dir(Path::new(&history).join("months")).unwrap();
    fs::write(Path::new(&history).join("months/2026-11.json"), "derived").unwrap();
    let ended = place.publish(&[&history]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(place.files(), ["README.md", "history.json", "runs/2026/11/a-1.json"]);
    assert_eq!(place.remote(&["show", "data:README.md"]).lines().count(), 2);
    assert_eq!(place.commits(), ["data: add a-1.json|github-actions[bot]|"]);
    assert!(ended.stderr.contains("pushed at try 1"), "{}", ended.stderr);
    let checkout = place.path("checkout");
    assert_eq!(git_in(&checkout, &["status", "--porcelain"]), "?? unsaved");
    assert_eq!(
        git_in(&checkout, &["branch", "--all", "--format=%(refname)"])
            .lines()
            .count(),
        2
    );
}

#[test]
#[ignore = "nightly"]
fn thirty_two_at_once_lose_nothing() {
    const AT_ONCE: usize = 32;
    let place = Place::new();
    place.publish(&[&place.history("first", "0-0.json", "{}")]);
    let children: Vec<Child> = (1..=AT_ONCE)
        .map(|n| place.start(&[&place.history(&format!("h{n}"), &format!("{n}-{n}.json"), &n.to_string())]))
        .collect();
    for child in children {
        let ended = end(child);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
    for n in 1..=AT_ONCE {
        let file = format!("data:runs/2026/11/{n}-{n}.json");
        assert_eq!(place.remote(&["show", &file]), n.to_string());
    }
    assert_eq!(place.files().len(), 1 + 1 + AT_ONCE);
    let commits = place.commits();
    assert_eq!(commits.len(), 1 + AT_ONCE, "{commits:#?}");
    let parents = |commit: &String| commit.rsplit('|').next().unwrap().split_whitespace().count();
    assert!(
        commits.iter().rev().skip(1).all(|commit| parents(commit) == 1),
        "{commits:#?}"
    );
}

#[test]
fn eight_at_once_with_the_same_run_leave_one_file() {
    let place = Place::new();
    let history = place.history("h", "a-1.json", "{}");
    let children: Vec<Child> = (0..8).map(|_| place.start(&[&history])).collect();
    let ended: Vec<Ended> = children.into_iter().map(end).collect();
    assert!(ended.iter().all(|one| one.code == 0), "{}", ended[0].stderr);
    assert_eq!(place.files(), ["README.md", "runs/2026/11/a-1.json"]);
    assert_eq!(place.commits().len(), 1);
    let pushed = ended.iter().filter(|one| one.stderr.contains("pushed at try")).count();
    let known = ended
        .iter()
        .filter(|one| one.stderr.contains("has all of it already"))
        .count();
    // Two that push in the same second made the same commit.
    assert!(
        pushed >= 1 && pushed + known == 8,
        "{pushed} pushed, {known} found it there"
    );
}

#[test]
fn a_name_that_is_taken_by_other_content_is_refused_and_nothing_is_pushed() {
    let place = Place::new();
    place.publish(&[&place.history("h", "a-1.json", "{}")]);
    let before = place.remote(&["rev-parse", "data"]);
    let other = place.history("other", "a-1.json", "{\"edited\": true}");
    place.history("other", "b-2.json", "{}");
    let ended = place.publish(&[&other]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("runs/2026/11/a-1.json: the branch data has it with other content")
    );
    assert_eq!(place.remote(&["rev-parse", "data"]), before);
}

#[test]
fn what_others_keep_on_the_branch_stays() {
    let place = Place::new();
    place.publish(&[&place.history("h", "a-1.json", "{}")]);
    let other = place.path("other");
    fs::create_dir(&other).unwrap();
    git_in(
        &other,
        &[
            "clone",
            "--quiet",
            "--branch",
            "data",
            &place.path("remote.git").to_string_lossy(),
            ".",
        ],
    );
    fs::create_dir_all(other.join("dev/bench")).unwrap();
    fs::write(other.join("dev/bench/data.js"), "window.BENCHMARK_DATA = {}").unwrap();
    git_in(&other, &["add", "--all"]);
    git_in(&other, &["commit", "--quiet", "--message", "another tool"]);
    git_in(&other, &["push", "--quiet", "origin", "data"]);
    let remote = place.path("remote.git").to_string_lossy().into_owned();
    let ended = place.publish(&[&place.history("h2", "b-2.json", "{}"), &remote]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(
        place.files(),
        [
            "README.md",
            "dev/bench/data.js",
            "runs/2026/11/a-1.json",
            "runs/2026/11/b-2.json"
        ]
    );
    assert_eq!(place.commits().len(), 3);
}

/// Asks a server that refuses everybody; gives what it was sent, and what was printed.
fn refused_with(token: &str, server_is_github: bool) -> (Vec<String>, String) {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let history = place.history("h", "a-1.json", "{}");
    let mut command = place.command(&[&history, &format!("{server}/o/r.git")]);
    command.env("GITHUB_TOKEN", token);
    if server_is_github {
        command.env("GITHUB_SERVER_URL", &server);
    }
    let child = command.spawn().unwrap();
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(&stream);
    let mut sent = Vec::new();
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap() > 2 {
        sent.push(std::mem::take(&mut line).trim().to_owned());
    }
    (&stream)
        .write_all(b"HTTP/1.1 403 no\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        .unwrap();
    let ended = end(child);
    assert_ne!(ended.code, 0);
    (sent, ended.stdout + &ended.stderr)
}

#[test]
fn a_token_goes_to_its_own_server_alone_and_is_never_shown() {
    // As long as a token of a workflow is: longer than a line of base64.
    let token = "sesame".repeat(87);
    let encoded = format!("eC1hY2Nlc3MtdG9rZW46{}", "c2VzYW1l".repeat(87));
    let (sent, printed) = refused_with(&token, true);
    let header = format!("AUTHORIZATION: basic {encoded}");
    assert!(sent.contains(&header), "{sent:#?}");
    assert!(
        !printed.contains("sesame") && !printed.contains("c2VzYW1l"),
        "{printed}"
    );
    let (sent, _) = refused_with(&token, false);
    assert!(
        !sent
            .iter()
            .any(|line| line.to_ascii_lowercase().starts_with("authorization")),
        "{sent:#?}"
    );
}

#[test]
fn what_is_no_run_is_refused_and_nothing_is_pushed() {
    let refuses = |name: &str, make: &dyn Fn(&Path)| {
        let place = Place::new();
        let history = place.history("h", "a-1.json", "{}");
        make(Path::new(&history));
        let ended = place.publish(&[&history]);
        assert_eq!(ended.code, 1, "{name}: {}", ended.stderr);
        assert!(ended.stderr.contains("nothing was pushed"), "{name}: {}", ended.stderr);
        assert!(!ended.stderr.contains("\n::"), "{name}: {}", ended.stderr);
        assert_eq!(place.remote(&["branch", "--list", "data"]), "", "{name}");
    };
    for name in [
        "runs/2026/11/program",
        "runs/2026/11/page.html",
        "runs/2026/11/.json",
        "runs/2026/11/-a.json",
        "runs/2026/11/more/a-1.json",
        "runs/a-1.json",
        "runs/2026/11/b\n::error::c.json",
    ] {
        refuses(name, &|history| {
            let file = history.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "{}").unwrap();
        });
    }
    for name in ["runs/2026/11/b-2.json", "history.json"] {
        refuses(name, &|history| {
            fs::write(history.join(name), vec![b' '; 8 * 1024 * 1024 + 1]).unwrap();
        });
        refuses(name, &|history| {
            std::os::unix::fs::symlink("/etc/hostname", history.join(name)).unwrap();
        });
    }
    let place = Place::new();
    let largest = place.history("h", "a-1.json", &" ".repeat(8 * 1024 * 1024));
    assert_eq!(place.publish(&[&largest]).code, 0);
}

/// Builds the site of a checkout with a wirebench that only says what it was given.
fn site(place: &Place) -> Ended {
    let told = place.path("told");
    fs::write(&told, "#!/bin/sh\necho \"$@\"\necho \"token ${GITHUB_TOKEN-none}\"\n").unwrap();
    fs::set_permissions(&told, PermissionsExt::from_mode(0o755)).unwrap();
    let mut site = Command::new(repository().join("scripts/site.sh"));
    site.current_dir(place.path("checkout"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("WIREBENCH", told)
        .env("GITHUB_TOKEN", "sesame");
    ended(&mut site)
}

#[test]
fn the_committed_history_is_shown_only_where_there_is_no_branch() {
    let place = Place::new();
    let none = site(&place);
    assert_eq!(none.code, 0, "{}", none.stderr);
    assert!(none.stdout.contains("/results/history"), "{}", none.stdout);
    assert!(none.stdout.contains("token none"), "{}", none.stdout);

    place.publish(&[&place.history("h", "a-1.json", "{}")]);
    for name in ["a-1.json", "b-2.json"] {
        place.publish(&[&place.history("h", name, "{}")]);
        let there = site(&place);
        assert_eq!(there.code, 0, "{}", there.stderr);
        assert!(there.stdout.contains("/.wirebench/trees/data"), "{}", there.stdout);
        let kept = place.path("checkout/.wirebench/trees/data/runs/2026/11").join(name);
        assert!(kept.is_file(), "{}", there.stderr);
    }

    fs::rename(place.path("remote.git"), place.path("away.git")).unwrap();
    let unknown = site(&place);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (1, ""), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("nothing was built"), "{}", unknown.stderr);
}

#[test]
fn help_is_printed_and_no_history_is_wrong_usage() {
    let place = Place::new();
    let help = place.publish(&["--help"]);
    assert!(
        help.code == 0 && help.stdout.contains("Usage: scripts/publish.sh HISTORY"),
        "{}",
        help.stdout
    );
    assert_eq!(place.publish(&[]).code, 2);
}
