//! Worktrees of wirebench's own: folders with exactly the files of one commit.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::git::command::{command, common_folder, output};

/// Makes a folder a worktree with exactly a commit's files, unless it is one already.
///
/// # Errors
/// When git cannot check the commit out, or the folder cannot be replaced.
pub(super) fn make(repository: &Path, commit: &str, tree: &Path) -> anyhow::Result<()> {
    if is_at(repository, tree, commit) {
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
        output.status.success() || is_at(repository, tree, commit),
        "{}: git worktree add failed: {}",
        tree.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

/// True if a folder is a separate worktree of a repository, with exactly a commit's files.
fn is_at(repository: &Path, tree: &Path, commit: &str) -> bool {
    // Without its own .git, git would report on the surrounding repository. The worktree in a copy of a clone belongs to
    // the clone it was copied from.
    tree.join(".git").is_file()
        && common_folder(tree).is_some_and(|folder| common_folder(repository) == Some(folder))
        && output(tree, &["rev-parse", "--verify", "--quiet", "HEAD"]).as_deref() == Some(commit)
        && output(tree, &["status", "--porcelain", "--untracked-files=no"]).as_deref() == Some("")
}
