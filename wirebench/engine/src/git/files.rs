//! The files of a repository's working tree.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::git::command::{as_path, entries, top};

/// The files that git lists, with paths relative to the repository's root. Submodules are listed as folders, and deleted
/// files too.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// Files of the index.
    pub tracked: BTreeSet<PathBuf>,
    /// Files that are not in the index and not ignored.
    pub new: BTreeSet<PathBuf>,
}

impl Listed {
    /// Whether a file is among them.
    pub fn has(&self, file: &Path) -> bool {
        self.tracked.contains(file) || self.new.contains(file)
    }
}

/// The files of the repository at `top`, without those of its submodules; `None` if git fails.
pub fn files(top: &Path) -> Option<Listed> {
    let list = |which: &[&str]| -> Option<BTreeSet<PathBuf>> {
        let listed = entries(top, &[&["ls-files", "-z"], which].concat())?;
        Some(listed.into_iter().map(as_path).collect())
    };
    Some(Listed {
        tracked: list(&["--cached"])?,
        new: list(&["--others", "--exclude-standard"])?,
    })
}

/// Every file of the repository at `top` that exists, and every file of the repositories in it, with paths relative to
/// `top`. New files that `is_generated` recognises are left out. `None` if not all are known.
pub fn with_submodules(top: &Path, is_generated: fn(&Path) -> bool) -> Option<BTreeSet<PathBuf>> {
    let Listed { tracked, new } = files(top)?;
    let new = new.into_iter().filter(|name| !is_generated(name));
    let mut found = BTreeSet::new();
    for name in tracked.into_iter().chain(new) {
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
