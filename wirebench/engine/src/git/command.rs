//! Runs git in a folder.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The output of git without surrounding white space, for text that has no names of files; `None` if it fails.
pub fn output(folder: &Path, args: &[&str]) -> Option<String> {
    bytes(folder, args).map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// The output of git as it is; `None` if it fails.
pub(super) fn bytes(folder: &Path, args: &[&str]) -> Option<Vec<u8>> {
    let output = command(folder, args).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// The entries of an output that `-z` separates, each of any bytes; `None` if git fails.
pub(super) fn entries(folder: &Path, args: &[&str]) -> Option<Vec<Vec<u8>>> {
    let listed = bytes(folder, args)?;
    let entries = listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    Some(entries.map(<[u8]>::to_vec).collect())
}

/// A path of any bytes.
pub(super) fn as_path(bytes: Vec<u8>) -> PathBuf {
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
    path(folder, &["rev-parse", "--show-toplevel"])
}

/// The path of a folder below the root of its repository; empty at the root, and outside of a repository.
pub fn prefix(folder: &Path) -> PathBuf {
    path(folder, &["rev-parse", "--show-prefix"]).unwrap_or_default()
}

/// The folder of the repository that a folder is in, shared by all its worktrees.
pub(super) fn common_folder(folder: &Path) -> Option<PathBuf> {
    let printed = path(folder, &["rev-parse", "--git-common-dir"])?;
    folder.join(printed).canonicalize().ok()
}
