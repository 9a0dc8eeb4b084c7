//! The folder `.wirebench` of a project: worktrees, builds and other files of wirebench's own, ignored by git.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Makes the folder below `root` unless it exists, with a `.gitignore` that ignores the whole folder.
///
/// # Errors
/// When it cannot be made.
pub fn make(root: &Path) -> io::Result<PathBuf> {
    let folder = root.join(".wirebench");
    let ignore = folder.join(".gitignore");
    fs::create_dir_all(&folder)?;
    if !ignore.is_file() {
        fs::write(&ignore, "*\n")?;
    }
    Ok(folder)
}
