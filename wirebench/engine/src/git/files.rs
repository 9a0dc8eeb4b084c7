//! The files of a repository's working tree.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::git::command::{as_path, entries, top};

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
