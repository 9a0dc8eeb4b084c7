//! The folder `.wirebench` of a project, which holds what wirebench makes for itself and which git ignores.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Makes the folder below `root`, unless it is there, with a file that makes git ignore it from inside.
///
/// # Errors
/// When it cannot be made.
pub fn folder(root: &Path) -> io::Result<PathBuf> {
    let folder = root.join(".wirebench");
    let ignore = folder.join(".gitignore");
    fs::create_dir_all(&folder)?;
    if !ignore.is_file() {
        fs::write(&ignore, "*\n")?;
    }
    Ok(folder)
}
