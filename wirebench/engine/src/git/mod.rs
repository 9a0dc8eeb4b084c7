//! The project's git repository: resolves revisions, and checks their files out into worktrees of wirebench's own. The
//! user's working tree, index and branches are only read.

mod checkout;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
pub use checkout::{checkout, work_path};

use wirebench_record::history::CommitInfo;
use wirebench_record::names::is_full_commit;
use wirebench_record::run::{Variant, VariantRevision};

/// Counts changes in submodules, whatever the repository's configuration ignores.
const SUBMODULES: &str = "--ignore-submodules=none";

/// `owner/name` on GitHub, if the remote `origin` is there.
pub fn github(root: &Path) -> Option<String> {
    owner_and_name(&output(root, &["remote", "get-url", "origin"])?)
}

/// Parses `owner/name` from a remote's URL on GitHub: `https://github.com/owner/name.git`, `git@github.com:owner/name`.
fn owner_and_name(url: &str) -> Option<String> {
    let (_, path) = url.split_once("github.com")?;
    let path = path.trim_start_matches([':', '/']).trim_end_matches('/');
    let name = path.strip_suffix(".git").unwrap_or(path);
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    (name.split('/').count() == 2 && name.chars().all(is_allowed)).then(|| name.to_owned())
}

/// Tags that look like versions, each with its commit.
pub fn versions(root: &Path) -> Vec<(String, String)> {
    // An annotated tag names its commit in the second field.
    let format = "--format=%(refname:short) %(*objectname) %(objectname)";
    let listed = output(root, &["for-each-ref", format, "refs/tags/v[0-9]*"]).unwrap_or_default();
    let tag = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    };
    listed.lines().filter_map(tag).collect()
}

/// Author and first line of the message of each of these commits that the repository has.
pub fn commit_messages(root: &Path, commits: &[&str]) -> Vec<CommitInfo> {
    let known: Vec<&str> = commits
        .iter()
        .copied()
        .filter(|commit| is_full_commit(commit))
        .collect();
    let line = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        Some(CommitInfo {
            commit: parts.next()?.to_owned(),
            author: parts.next()?.to_owned(),
            message: parts.next()?.to_owned(),
        })
    };
    let log_of = |some: &[&str]| {
        let log = [
            "log",
            "--no-walk=unsorted",
            "--ignore-missing",
            "--format=%H%x09%an%x09%s",
        ];
        let text = output(root, &[&log, some].concat()).unwrap_or_default();
        text.lines().filter_map(line).collect::<Vec<CommitInfo>>()
    };
    // The length of a command line is limited.
    known.chunks(1_000).flat_map(log_of).collect()
}

/// Why git refuses the repository around a folder, in git's own words: for example because another user owns it. `None` if
/// git reads the repository, or there is none.
pub fn refusal(root: &Path) -> Option<String> {
    let result = command(root, &["rev-parse", "--show-toplevel"]).output().ok()?;
    let errors = String::from_utf8_lossy(&result.stderr);
    let lines: Vec<&str> = errors.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let refused = !result.status.success() && !lines.is_empty() && !errors.contains("not a git repository");
    refused.then(|| lines.join(" "))
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
    output(top, &args).unwrap_or_default()
}

/// The number of commits after one commit in the project's history; `None` if it is not in that history.
pub fn commits_since(root: &Path, commit: &str) -> Option<usize> {
    output(root, &["merge-base", "--is-ancestor", commit, "HEAD"])?;
    output(root, &["rev-list", "--count", &format!("{commit}..HEAD")])?
        .parse()
        .ok()
}

/// The commit that a revision names, 40 hex digits.
///
/// # Errors
/// When there is no such commit; the error says how to fetch it, if that may help.
pub fn resolve(root: &Path, revision: &str) -> Result<String, String> {
    let shallow = output(root, &["rev-parse", "--is-shallow-repository"]).ok_or_else(|| match refusal(root) {
        Some(why) => format!("git refuses the project's repository: {why}"),
        None => "the project is not in a git repository".into(),
    })?;
    let peeled = format!("{revision}^{{commit}}");
    let found = output(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled]);
    found.ok_or_else(|| match shallow.as_str() {
        "true" => format!(
            "this clone is shallow and has no commit of that name; run: {}",
            fetch(revision)
        ),
        _ => "the repository has no commit of that name".into(),
    })
}

/// The command that fetches a revision into a shallow clone.
fn fetch(revision: &str) -> String {
    if revision.contains(['~', '^', '@']) {
        "git fetch --depth 100".into()
    } else if is_full_commit(revision) {
        format!("git fetch --depth 1 origin {revision}")
    } else {
        let revision = revision.strip_prefix("origin/").unwrap_or(revision);
        format!("git fetch --depth 1 origin {revision}:{revision}")
    }
}

/// The commit that is checked out in a folder, for the candidate of a run.
pub fn state(folder: &Path) -> VariantRevision {
    let commit = output(folder, &["rev-parse", "--verify", "--quiet", "HEAD"]);
    let modified = commit
        .as_ref()
        .and_then(|_| output(folder, &["status", "--porcelain", "--untracked-files=no", SUBMODULES]))
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
    output(folder, &["status", "--porcelain", SUBMODULES]).is_some_and(|text| text.is_empty())
}

/// When a commit was made, RFC 3339.
pub fn committed_at(folder: &Path, commit: &str) -> Option<String> {
    output(folder, &["show", "--no-patch", "--format=%cI", commit])
}

/// The commits after `good` up to `bad` along first parents, oldest first; empty when `bad` does not come after `good`. With paths, only
/// those that changed something at or below one of them.
///
/// # Errors
/// When git cannot list them.
pub fn first_parents(root: &Path, good: &str, bad: &str, paths: &[String]) -> anyhow::Result<Vec<String>> {
    let range = format!("{good}..{bad}");
    let listing = [
        "rev-list",
        "--first-parent",
        "--ancestry-path",
        "--reverse",
        &range,
        "--",
    ];
    let args: Vec<&str> = listing.into_iter().chain(paths.iter().map(String::as_str)).collect();
    let listed = output(root, &args).with_context(|| format!("git cannot list the commits of {range}"))?;
    Ok(listed.lines().map(str::to_owned).collect())
}

/// The files that git lists of the repository at `top`, with paths relative to it: those of its index, and those that are not ignored
/// unless `is_generated` recognises them. Submodules are listed as folders, and deleted files too. `None` if git fails.
pub fn files(top: &Path, is_generated: fn(&Path) -> bool) -> Option<BTreeSet<PathBuf>> {
    let list = |which: &[&str]| entries(top, &[&["ls-files", "-z"], which].concat());
    let tracked = list(&["--cached"])?.into_iter().map(as_path);
    let new = list(&["--others", "--exclude-standard"])?.into_iter().map(as_path);
    Some(tracked.chain(new.filter(|name| !is_generated(name))).collect())
}

/// Every file of the repository at `top` that exists, and every file of the repositories in it, with paths relative to
/// `top`. New files that `is_generated` recognises are left out. `None` if not all are known.
pub fn with_submodules(top: &Path, is_generated: fn(&Path) -> bool) -> Option<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    for name in files(top, is_generated)? {
        match fs::symlink_metadata(top.join(&name)) {
            Ok(entry) if entry.is_dir() => {
                let inside = in_folder(&top.join(&name), is_generated)?;
                found.extend(inside.into_iter().map(|file| name.join(file)));
            }
            // A file that was deleted, or whose folder is a file now.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Ok(_) | Err(_) => {
                found.insert(name);
            }
        }
    }
    Some(found)
}

/// The files of a folder of which git lists only the name: a submodule or another repository, or any other folder.
fn in_folder(folder: &Path, is_generated: fn(&Path) -> bool) -> Option<BTreeSet<PathBuf>> {
    // In a folder that is no repository, git reports on the repository around it.
    let is_repository = top(folder).and_then(|top| top.canonicalize().ok()) == Some(folder.canonicalize().ok()?);
    if is_repository {
        return with_submodules(folder, is_generated);
    }
    let mut found = BTreeSet::new();
    walk(folder, Path::new(""), &mut found).ok()?;
    Some(found)
}

/// Adds every file below a folder, by its path relative to the first folder.
fn walk(folder: &Path, name: &Path, found: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = name.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), &name, found)?;
        } else {
            found.insert(name);
        }
    }
    Ok(())
}

/// The output of git without surrounding white space, for text that has no names of files; `None` if it fails.
pub fn output(folder: &Path, args: &[&str]) -> Option<String> {
    bytes(folder, args).map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// The output of git as it is; `None` if it fails.
fn bytes(folder: &Path, args: &[&str]) -> Option<Vec<u8>> {
    let output = command(folder, args).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// The entries of an output that `-z` separates, each of any bytes; `None` if git fails.
fn entries(folder: &Path, args: &[&str]) -> Option<Vec<Vec<u8>>> {
    let listed = bytes(folder, args)?;
    let entries = listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    Some(entries.map(<[u8]>::to_vec).collect())
}

/// A path of any bytes.
fn as_path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// The one path that git prints, which may itself begin or end in white space; `None` if git fails.
fn path(folder: &Path, args: &[&str]) -> Option<PathBuf> {
    let mut printed = bytes(folder, args)?;
    printed.pop_if(|last| *last == b'\n');
    Some(as_path(printed))
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

/// The root folder of the repository that a folder is in.
pub fn top(folder: &Path) -> Option<PathBuf> {
    path(folder, &["rev-parse", "--show-toplevel"])
}

/// The path of a folder below the root of its repository; empty at the root, and outside of a repository.
pub fn prefix(folder: &Path) -> PathBuf {
    path(folder, &["rev-parse", "--show-prefix"]).unwrap_or_default()
}

/// The folder of the repository that a folder is in, shared by all its worktrees.
fn common_folder(folder: &Path) -> Option<PathBuf> {
    let printed = path(folder, &["rev-parse", "--git-common-dir"])?;
    folder.join(printed).canonicalize().ok()
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
