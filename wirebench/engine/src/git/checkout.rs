//! Checks a commit out, with its submodules, below `.wirebench/trees/`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::git::command::{prefix, top};
use crate::git::{submodules, worktree};
use crate::measure::work_folder;

/// The path of a file in a project's work folder, which is made if it does not exist.
///
/// # Errors
/// When the folder cannot be made.
pub fn work_path(root: &Path, below: &str) -> anyhow::Result<PathBuf> {
    let folder = work_folder::make(root).with_context(|| {
        let folder = root.join(".wirebench");
        format!(
            "{}: cannot be made, and worktrees and builds go there; make {} writable for this user, or measure a copy of the project",
            folder.display(),
            root.display()
        )
    })?;
    Ok(folder.join(below))
}

/// Checks a commit and its submodules out, unless they are checked out already; returns the project's folder in the worktree.
///
/// # Errors
/// When git cannot.
pub fn checkout(root: &Path, commit: &str) -> anyhow::Result<PathBuf> {
    let tree = work_path(root, "trees")?.join(&commit[..12]);
    worktree::make(root, commit, &tree)?;
    if let Some(top) = top(root) {
        submodules::check_out(&top, commit, &tree)?;
    }
    Ok(tree.join(prefix(root)))
}
