//! The files that init writes.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::programs::Found;
use crate::workflows::{WorkflowFacts, workflows};
use wirebench_engine::git;

/// The lines for .gitignore.
pub const IGNORED: [&str; 2] = ["/.wirebench/", "/results/"];

/// A file to write.
#[derive(Debug)]
pub struct SetupFile {
    /// Where it goes.
    pub file: PathBuf,
    /// Its content.
    pub text: String,
}

/// Every file that init may write.
pub fn files(folder: &Path, found: &Found, facts: &WorkflowFacts) -> Vec<SetupFile> {
    let mut files = vec![(folder.join("wirebench.toml"), found.toml.clone())];
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        files.push((ignore, IGNORED.map(|line| format!("{line}\n")).concat()));
    }
    let top = git::top(folder).unwrap_or_else(|| folder.to_path_buf());
    let workflows = workflows(facts).into_iter();
    files.extend(workflows.map(|(name, text)| (top.join(".github/workflows").join(name), text)));
    files.into_iter().map(|(file, text)| SetupFile { file, text }).collect()
}

impl SetupFile {
    /// Writes the file unless there is one already, and returns whether it did.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_new(&self) -> io::Result<bool> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        match fs::File::options().write(true).create_new(true).open(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            opened => opened?.write_all(self.text.as_bytes()).map(|()| true),
        }
    }

    /// Its path relative to the folder, if it is below it; otherwise the full path.
    pub fn shown(&self, folder: &Path) -> String {
        let shown = self.file.strip_prefix(folder).unwrap_or(&self.file);
        shown.display().to_string()
    }
}
