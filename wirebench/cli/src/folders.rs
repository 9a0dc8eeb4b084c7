//! The folders that commands read and write: the project's, and that of its runs.

use std::path::{Component, Path, PathBuf};

use crate::outcome::UsageError;
use wirebench_declare::Project;

/// Where a command looks for the project.
#[derive(Debug, Default)]
pub(crate) struct Root {
    /// The value of --root.
    pub(crate) given: Option<PathBuf>,
}

impl Root {
    /// The project's folder: the one that --root names, or the nearest one upwards that holds wirebench.toml.
    ///
    /// # Errors
    /// When --root is not given and no folder holds wirebench.toml.
    pub(crate) fn folder(&self) -> anyhow::Result<PathBuf> {
        if let Some(given) = &self.given {
            return Ok(std::path::absolute(given)?);
        }
        let start = std::env::current_dir()?;
        let found = start.ancestors().find(|folder| folder.join("wirebench.toml").is_file());
        let missing = || {
            let remedy = "go to the project, give --root DIR, or write one with: wirebench init";
            let start = start.display();
            UsageError(format!("no wirebench.toml in {start} or any folder above it; {remedy}"))
        };
        Ok(found.ok_or_else(missing)?.to_path_buf())
    }

    /// The project's folder; `None` if --root is not given and no folder holds wirebench.toml.
    ///
    /// # Errors
    /// When the folder of --root has no absolute path.
    pub(crate) fn folder_if_any(&self) -> anyhow::Result<Option<PathBuf>> {
        match self.folder() {
            Err(_) if self.given.is_none() => Ok(None),
            other => other.map(Some),
        }
    }

    /// The project.
    ///
    /// # Errors
    /// When it has no folder, or a declaration is wrong.
    pub(crate) fn project(&self) -> anyhow::Result<Project> {
        Ok(Project::read(&self.folder()?)?)
    }
}

/// The default folder for runs.
pub(crate) fn results(root: &Path) -> PathBuf {
    root.join("results")
}

/// Checks that a folder to be read exists.
///
/// # Errors
/// When it does not exist; the message names the flag or argument, and what to do.
pub(crate) fn check_exists(folder: &Path, what: &str, remedy: &str) -> Result<(), UsageError> {
    if folder.is_dir() {
        return Ok(());
    }
    let name = folder.display();
    Err(UsageError(format!("{what} {name}: no such folder; {remedy}")))
}

/// True if a path leads to no place outside of the folder that it is relative to.
pub(crate) fn is_inside(relative: &str) -> bool {
    let mut parts = Path::new(relative).components();
    parts.all(|part| matches!(part, Component::Normal(_)))
}
