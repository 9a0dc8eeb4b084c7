//! Runs git in a folder.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The output of git without surrounding white space; `None` if it fails.
pub fn output(folder: &Path, args: &[&str]) -> Option<String> {
    let output = command(folder, args).output().ok()?;
    let text = || String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then(text)
}

/// A git command in a folder, without the environment of a surrounding hook, without hooks, and without writing the
/// index.
pub(super) fn command(folder: &Path, args: &[&str]) -> Command {
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
    output(folder, &["rev-parse", "--show-toplevel"]).map(PathBuf::from)
}
