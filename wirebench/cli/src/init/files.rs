//! The files that init writes.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use wirebench_engine::git;
use wirebench_scaffold::Found;
use wirebench_scaffold::workflows::{Told, workflows};

/// The lines for .gitignore.
pub(super) const IGNORED: [&str; 2] = ["/.wirebench/", "/results/"];

/// One file to write.
pub(super) struct Made {
    pub(super) file: PathBuf,
    pub(super) text: String,
}

/// Every file that init may write.
pub(super) fn files(folder: &Path, found: &Found, told: &Told) -> Vec<Made> {
    let mut files = vec![Made {
        file: folder.join("wirebench.toml"),
        text: found.toml.clone(),
    }];
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        files.push(Made {
            file: ignore,
            text: IGNORED.map(|line| format!("{line}\n")).concat(),
        });
    }
    let top = git::top(folder).unwrap_or_else(|| folder.to_path_buf());
    for (name, text) in workflows(told) {
        files.push(Made {
            file: top.join(".github/workflows").join(name),
            text,
        });
    }
    files
}

/// Writes a file that does not exist yet, and prints whether it did.
pub(super) fn write_new(made: &Made) -> anyhow::Result<bool> {
    let unwritable = || format!("{}: cannot be written", made.file.display());
    if let Some(folder) = made.file.parent() {
        fs::create_dir_all(folder).with_context(unwritable)?;
    }
    let opened = fs::File::options().write(true).create_new(true).open(&made.file);
    match opened {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        opened => {
            opened
                .and_then(|mut file| file.write_all(made.text.as_bytes()))
                .with_context(unwritable)?;
            Ok(true)
        }
    }
}

/// A path relative to the folder, if it is below it; otherwise the full path.
pub(super) fn shown(file: &Path, folder: &Path) -> String {
    file.strip_prefix(folder).unwrap_or(file).display().to_string()
}
