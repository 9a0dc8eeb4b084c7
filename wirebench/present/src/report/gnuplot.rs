//! Runs gnuplot.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why a chart could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The folder or the data cannot be written.
    #[error("{}: cannot be written: {source}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// gnuplot cannot be started.
    #[error("gnuplot cannot be started: {0}; reinstall it")]
    Start(std::io::Error),
    /// gnuplot refused.
    #[error("gnuplot could not draw {}: {message}", file.display())]
    Draw {
        /// The picture.
        file: PathBuf,
        /// gnuplot's message.
        message: String,
    },
}

/// Writes a file.
pub(crate) fn write(file: &Path, text: &str) -> Result<(), ChartError> {
    fs::write(file, text).map_err(|source| ChartError::Write {
        file: file.to_path_buf(),
        source,
    })
}

/// A temporary folder with these files: name and content.
pub(crate) fn folder_with(files: &[(&str, &str)]) -> Result<tempfile::TempDir, ChartError> {
    let folder = tempfile::tempdir().map_err(|source| ChartError::Write {
        file: std::env::temp_dir(),
        source,
    })?;
    for (name, text) in files {
        write(&folder.path().join(name), text)?;
    }
    Ok(folder)
}

/// Runs gnuplot to its end. `file` is named in an error.
pub(crate) fn run(mut command: Command, file: &Path) -> Result<(), ChartError> {
    let output = command.output().map_err(ChartError::Start)?;
    if output.status.success() {
        return Ok(());
    }
    Err(ChartError::Draw {
        file: file.to_path_buf(),
        message: String::from_utf8_lossy(&output.stderr).trim().replace('\n', " "),
    })
}
