//! Facts about the clone that is examined, from git.

use std::path::Path;

use wirebench_engine::git::output;

/// A folder's path relative to the root of the repository, `.` for the root itself.
pub fn below_top(folder: &Path) -> String {
    let prefix = output(folder, &["rev-parse", "--show-prefix"]).unwrap_or_default();
    let prefix = prefix.trim_end_matches('/');
    if prefix.is_empty() { ".".into() } else { prefix.into() }
}

/// The branch whose pushes are measured: the remote's default, else the current branch, else `main`.
pub fn default_branch(folder: &Path) -> String {
    let branch = |reference| output(folder, &["symbolic-ref", "--quiet", "--short", reference]);
    let remote = branch("refs/remotes/origin/HEAD");
    let remote = remote.and_then(|name| Some(name.strip_prefix("origin/")?.to_owned()));
    let found = remote.or_else(|| branch("HEAD")).filter(|name| !name.is_empty());
    found.unwrap_or_else(|| "main".into())
}

/// The number of commits of HEAD in this clone, and whether the clone is shallow; `None` without a commit.
pub fn depth(folder: &Path) -> Option<(usize, bool)> {
    let commits = output(folder, &["rev-list", "--count", "HEAD"])?.parse().ok()?;
    let shallow = output(folder, &["rev-parse", "--is-shallow-repository"])?;
    Some((commits, shallow == "true"))
}

/// True if git ignores a path.
pub fn is_ignored(folder: &Path, path: &str) -> bool {
    output(folder, &["check-ignore", "--quiet", path]).is_some()
}

/// True if this clone has a branch or a remote-tracking branch of that name.
pub fn knows_branch(folder: &Path, name: &str) -> bool {
    let exists = |reference: String| output(folder, &["rev-parse", "--verify", "--quiet", &reference]).is_some();
    exists(format!("refs/heads/{name}")) || exists(format!("refs/remotes/origin/{name}"))
}
