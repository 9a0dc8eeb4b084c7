//! Checks a commit out, with its submodules, below `.wirebench/trees/`.
//!
//! Submodules of a commit, checked out from the repositories that the user has below their own files. Nothing is fetched.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::git::{as_path, command, common_folder, entries, output, prefix, top};
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
    make_worktree(root, commit, &tree)?;
    if let Some(top) = top(root) {
        check_out_submodules(&top, commit, &tree)?;
    }
    Ok(tree.join(prefix(root)))
}

/// Makes a folder a worktree with exactly a commit's files, unless it is one already.
///
/// # Errors
/// When git cannot check the commit out, or the folder cannot be replaced.
pub(super) fn make_worktree(repository: &Path, commit: &str, tree: &Path) -> anyhow::Result<()> {
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

/// Checks the submodules of a commit of the repository at `top` out into its worktree `tree`, and theirs in turn. A
/// submodule that the user has not checked out stays empty, as it is for them; so do all if git cannot list the files.
///
/// # Errors
/// When the user's clone of a submodule lacks the commit.
pub(super) fn check_out_submodules(top: &Path, commit: &str, tree: &Path) -> anyhow::Result<()> {
    let listed = entries(top, &["ls-tree", "-r", "-z", "--full-tree", commit]).unwrap_or_default();
    for (path, wanted) in listed.iter().filter_map(|entry| submodule(entry)) {
        let own = top.join(&path);
        if !own.join(".git").exists() {
            continue;
        }
        let place = tree.join(&path);
        if output(&own, &["cat-file", "-e", &wanted]).is_none() {
            anyhow::bail!(
                "submodule {}: its clone has no commit {}, which {} needs; run: git -C {} fetch origin {}",
                path.display(),
                &wanted[..12],
                &commit[..12],
                path.display(),
                wanted
            );
        }
        make_worktree(&own, &wanted, &place)?;
        check_out_submodules(&own, &wanted, &place)?;
    }
    Ok(())
}

/// The folder of a submodule, relative to the repository's root, and its commit, 40 hex digits, in an entry of `git ls-tree`, such as
/// `160000 commit 1a2b… <tab> lib`; `None` if it is no submodule.
fn submodule(entry: &[u8]) -> Option<(PathBuf, String)> {
    let commit_and_path = entry.strip_prefix(b"160000 commit ")?;
    let tab = commit_and_path.iter().position(|byte| *byte == b'\t')?;
    let (commit, path) = commit_and_path.split_at(tab);
    Some((as_path(path[1..].to_vec()), String::from_utf8(commit.to_vec()).ok()?))
}

#[cfg(test)]
mod tests {
    use crate::git::checkout;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    fn git(folder: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(folder)
            .args([
                "-c",
                "protocol.file.allow=always",
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@localhost",
            ])
            .args(args)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Writes a file, commits everything, returns the commit.
    fn commit(folder: &Path, text: &str) -> String {
        fs::write(folder.join("text"), text).unwrap();
        git(folder, &["add", "--all"]);
        git(folder, &["commit", "--quiet", "--message", text]);
        git(folder, &["rev-parse", "HEAD"])
    }

    fn repository(folder: &Path) {
        fs::create_dir(folder).unwrap();
        git(folder, &["init", "--quiet"]);
        commit(folder, "one");
    }

    #[test]
    fn a_revision_has_the_submodules_that_it_had() {
        let place = tempfile::tempdir().unwrap();
        let [inner, library, project] = ["inner", "library", "project"].map(|name| place.path().join(name));
        for folder in [&inner, &library, &project] {
            repository(folder);
        }
        let add =
            |folder: &Path, from: &Path| git(folder, &["submodule", "--quiet", "add", from.to_str().unwrap(), "sub"]);
        add(&library, &inner);
        commit(&library, "with inner");
        add(&project, &library);
        git(&project, &["submodule", "--quiet", "update", "--init", "--recursive"]);
        let before = commit(&project, "before");
        commit(&project.join("sub"), "later");
        let after = commit(&project, "after");

        let tree = checkout(&project, &before).unwrap();
        let text = |file: &str| fs::read_to_string(tree.join(file)).unwrap();
        assert_eq!(text("sub/text"), "with inner");
        assert_eq!(text("sub/sub/text"), "one");
        assert_eq!(
            fs::read_to_string(project.join("sub/text")).unwrap(),
            "later",
            "the user's own is not touched"
        );
        // Once more finds everything in place; a changed submodule is put right.
        fs::write(tree.join("sub/text"), "edited").unwrap();
        assert_eq!(checkout(&project, &before).unwrap(), tree);
        assert_eq!(text("sub/text"), "with inner");

        let newer = checkout(&project, &after).unwrap();
        assert_eq!(fs::read_to_string(newer.join("sub/text")).unwrap(), "later");
        git(
            &library,
            &[
                "commit",
                "--quiet",
                "--allow-empty",
                "--message",
                "unknown to the project",
            ],
        );
        let unknown = git(&library, &["rev-parse", "HEAD"]);
        git(
            &project,
            &["update-index", "--cacheinfo", &format!("160000,{unknown},sub")],
        );
        git(&project, &["commit", "--quiet", "--message", "ahead"]);
        let ahead = git(&project, &["rev-parse", "HEAD"]);
        let error = checkout(&project, &ahead).unwrap_err().to_string();
        assert!(
            error.contains("submodule sub") && error.contains("git -C sub fetch origin"),
            "{error}"
        );
    }
}
