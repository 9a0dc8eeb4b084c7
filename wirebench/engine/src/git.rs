//! The project's git repository: resolves revisions, and checks their files out into worktrees of wirebench's own. The
//! user's working tree, index and branches are only read.

mod submodules;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::measure::own;
use wirebench_record::history::Told;
use wirebench_record::run::{Variant, VariantRevision};

/// Why a revision cannot be resolved.
#[derive(Debug, thiserror::Error)]
pub enum Unresolved {
    /// No git, or no repository.
    #[error("the project is not in a git repository")]
    NoRepository,
    /// There is one, and git does not read it.
    #[error("git refuses the project's repository: {0}")]
    Refused(String),
    /// Not among the commits there are.
    #[error("the repository has no commit of that name")]
    Unknown,
    /// It may exist, but its history was not fetched.
    #[error("this clone is shallow and has no commit of that name; run: {fetch}")]
    Shallow {
        /// The command that fetches it.
        fetch: String,
    },
}

/// The output of git, if it succeeds.
pub fn says(folder: &Path, args: &[&str]) -> Option<String> {
    let output = command(folder, args).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A git command in a folder, without the environment of a surrounding hook, without hooks, and without writing the
/// index.
fn command(folder: &Path, args: &[&str]) -> Command {
    let mut git = wirebench_spawn::command("git");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        git.env_remove(name);
    }
    git.env("GIT_OPTIONAL_LOCKS", "0")
        .args(["-c", "core.hooksPath=/dev/null"])
        .arg("-C")
        .arg(folder)
        .args(args);
    git
}

/// `owner/name` on GitHub, if the remote `origin` is there.
pub fn github(root: &Path) -> Option<String> {
    owner_and_name(&says(root, &["remote", "get-url", "origin"])?)
}

/// Parses `owner/name` from a remote's URL on GitHub: `https://github.com/owner/name.git`, `git@github.com:owner/name`.
fn owner_and_name(url: &str) -> Option<String> {
    let (_, path) = url.split_once("github.com")?;
    let path = path.trim_start_matches([':', '/']).trim_end_matches('/');
    let name = path.strip_suffix(".git").unwrap_or(path);
    let letters = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    (name.split('/').count() == 2 && name.chars().all(letters)).then(|| name.to_owned())
}

/// Tags that look like versions, each with its commit.
pub fn versions(root: &Path) -> Vec<(String, String)> {
    // An annotated tag names its commit in the second field.
    let format = "--format=%(refname:short) %(*objectname) %(objectname)";
    let listed = says(root, &["for-each-ref", format, "refs/tags/v[0-9]*"]).unwrap_or_default();
    let tag = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    };
    listed.lines().filter_map(tag).collect()
}

/// Author and first line of the message of each of these commits that the repository has.
pub fn told(root: &Path, commits: &[&str]) -> Vec<Told> {
    let hex = |commit: &&str| commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let known: Vec<&str> = commits.iter().copied().filter(hex).collect();
    let line = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        Some(Told {
            commit: parts.next()?.to_owned(),
            author: parts.next()?.to_owned(),
            message: parts.next()?.to_owned(),
        })
    };
    let ask = |some: &[&str]| {
        let log = [
            "log",
            "--no-walk=unsorted",
            "--ignore-missing",
            "--format=%H%x09%an%x09%s",
        ];
        let text = says(root, &[&log, some].concat()).unwrap_or_default();
        text.lines().filter_map(line).collect::<Vec<Told>>()
    };
    // A command line holds only so much.
    known.chunks(1_000).flat_map(ask).collect()
}

/// Why git refuses the repository around a folder, such as one that another user owns, in git's own words; `None` if git
/// reads it, or there is none.
pub fn refusal(root: &Path) -> Option<String> {
    let output = command(root, &["rev-parse", "--show-toplevel"]).output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let refused = !output.status.success() && !lines.is_empty() && !said.contains("not a git repository");
    refused.then(|| lines.join(" "))
}

/// The repository's root folder.
pub fn top(root: &Path) -> Option<PathBuf> {
    says(root, &["rev-parse", "--show-toplevel"]).map(PathBuf::from)
}

/// Every file of the repository at `top`, with paths relative to it: tracked, or new and not ignored; `None` if git
/// fails.
pub fn files(top: &Path) -> Option<BTreeSet<String>> {
    let listed = says(top, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    Some(
        listed
            .split('\0')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

/// The diff of a file between two commits, without context; the path is relative to the repository's root `top`. Empty
/// if the file is equal or git fails.
pub fn patch(top: &Path, baseline: &str, candidate: &str, file: &str) -> String {
    let plain = [
        "--unified=0",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-renames",
    ];
    let mut args = vec!["--literal-pathspecs", "diff"];
    args.extend(plain);
    args.extend([baseline, candidate, "--", file]);
    says(top, &args).unwrap_or_default()
}

/// The number of commits after one commit in the project's history; `None` if it is not in that history.
pub fn commits_since(root: &Path, commit: &str) -> Option<usize> {
    says(root, &["merge-base", "--is-ancestor", commit, "HEAD"])?;
    says(root, &["rev-list", "--count", &format!("{commit}..HEAD")])?
        .parse()
        .ok()
}

/// The commit that a revision names, 40 hex digits.
///
/// # Errors
/// When there is no such commit; the error says how to fetch it, if that may help.
pub fn resolve(root: &Path, revision: &str) -> Result<String, Unresolved> {
    let shallow = says(root, &["rev-parse", "--is-shallow-repository"])
        .ok_or_else(|| refusal(root).map_or(Unresolved::NoRepository, Unresolved::Refused))?;
    let peeled = format!("{revision}^{{commit}}");
    let found = says(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled]);
    found.ok_or_else(|| match shallow.as_str() {
        "true" => Unresolved::Shallow { fetch: fetch(revision) },
        _ => Unresolved::Unknown,
    })
}

/// The command that brings a revision into a shallow clone.
fn fetch(revision: &str) -> String {
    let is_commit = revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    if revision.contains(['~', '^', '@']) {
        "git fetch --depth 100".into()
    } else if is_commit {
        format!("git fetch --depth 1 origin {revision}")
    } else {
        let revision = revision.strip_prefix("origin/").unwrap_or(revision);
        format!("git fetch --depth 1 origin {revision}:{revision}")
    }
}

/// The commit that is checked out in a folder, for the candidate of a run.
pub fn state(folder: &Path) -> VariantRevision {
    let commit = says(folder, &["rev-parse", "--verify", "--quiet", "HEAD"]);
    let modified = commit
        .as_ref()
        .and_then(|_| says(folder, &["status", "--porcelain", "--untracked-files=no"]))
        .map(|text| !text.is_empty());
    VariantRevision {
        variant: Variant::Candidate,
        committed_at: commit.as_deref().and_then(|commit| committed_at(folder, commit)),
        commit,
        modified,
        name: None,
    }
}

/// True if a folder's repository has exactly its commit's files, and no untracked files that are not ignored.
pub fn is_clean(folder: &Path) -> bool {
    says(folder, &["status", "--porcelain"]).is_some_and(|text| text.is_empty())
}

/// When a commit was made, RFC 3339.
pub fn committed_at(folder: &Path, commit: &str) -> Option<String> {
    says(folder, &["show", "--no-patch", "--format=%cI", commit])
}

/// The commits after `good` up to `bad` along first parents, oldest first; empty when `bad` does not come after `good`.
///
/// # Errors
/// When git cannot list them.
pub fn first_parents(root: &Path, good: &str, bad: &str) -> anyhow::Result<Vec<String>> {
    let range = format!("{good}..{bad}");
    let args = [
        "rev-list",
        "--first-parent",
        "--ancestry-path",
        "--reverse",
        &range,
        "--",
    ];
    let listed = says(root, &args).with_context(|| format!("git cannot list the commits of {range}"))?;
    Ok(listed.lines().map(str::to_owned).collect())
}

/// A file in the folder that wirebench keeps worktrees and builds in, which git ignores from inside.
///
/// # Errors
/// When the folder cannot be made.
pub fn own(root: &Path, below: &str) -> anyhow::Result<PathBuf> {
    let folder = own::folder(root).with_context(|| {
        let folder = root.join(".wirebench");
        format!("{}: cannot be made; worktrees and builds go there", folder.display())
    })?;
    Ok(folder.join(below))
}

/// Checks a commit and its submodules out below `.wirebench/trees/`, unless they are there; returns the project's folder in
/// it.
///
/// # Errors
/// When git cannot.
pub fn checkout(root: &Path, commit: &str) -> anyhow::Result<PathBuf> {
    let tree = own(root, "trees")?.join(&commit[..12]);
    let prefix = says(root, &["rev-parse", "--show-prefix"]).unwrap_or_default();
    check_out(root, commit, &tree)?;
    if let Some(top) = top(root) {
        submodules::check_out(&top, commit, &tree)?;
    }
    Ok(tree.join(prefix))
}

/// Makes a folder a worktree with exactly a commit's files, unless it is one.
fn check_out(repository: &Path, commit: &str, tree: &Path) -> anyhow::Result<()> {
    if is_at(tree, commit) {
        return Ok(());
    }
    if tree.exists() {
        fs::remove_dir_all(tree).with_context(|| format!("{}: cannot be removed", tree.display()))?;
    }
    // --force replaces a registered worktree whose folder is gone.
    let output = command(repository, &["worktree", "add", "--quiet", "--force", "--detach"])
        .arg(tree)
        .arg(commit)
        .output()
        .context("git cannot be started")?;
    anyhow::ensure!(
        output.status.success() || is_at(tree, commit),
        "{}: git worktree add failed: {}",
        tree.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

/// True if a folder is a separate worktree with exactly a commit's files.
fn is_at(tree: &Path, commit: &str) -> bool {
    // Without its own .git, git would report on the surrounding repository.
    let found = tree.join(".git").is_file().then(|| state(tree));
    found.is_some_and(|found| found.commit.as_deref() == Some(commit) && found.modified == Some(false))
}

#[cfg(test)]
mod tests {
    use super::{fetch, owner_and_name};

    #[test]
    fn a_remote_on_github_names_a_repository() {
        for url in [
            "https://github.com/owner/name.git",
            "git@github.com:owner/name.git",
            "ssh://git@github.com/owner/name",
        ] {
            assert_eq!(owner_and_name(url).as_deref(), Some("owner/name"), "{url}");
        }
        for url in [
            "https://example.org/owner/name",
            "/srv/name.git",
            "https://github.com/owner",
        ] {
            assert_eq!(owner_and_name(url), None, "{url}");
        }
    }

    #[test]
    fn what_is_missing_in_a_shallow_clone_is_fetched_by_its_kind() {
        assert_eq!(fetch("HEAD~1"), "git fetch --depth 100");
        assert_eq!(fetch("v1"), "git fetch --depth 1 origin v1:v1");
        assert_eq!(fetch("origin/main"), "git fetch --depth 1 origin main:main");
        let commit = "1a2b3c4d5e6f1a2b3c4d5e6f1a2b3c4d5e6f1a2b";
        assert_eq!(fetch(commit), format!("git fetch --depth 1 origin {commit}"));
    }
}
