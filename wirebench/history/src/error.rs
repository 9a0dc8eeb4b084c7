//! Errors of a history: file, cause, and what to do.

use std::path::{Path, PathBuf};

/// An error of reading or writing a history.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A file or folder cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Unreadable {
        /// The file or folder.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A file or folder cannot be written.
    #[error("{}: cannot be written: {source}; nothing that was there is changed", file.display())]
    Unwritable {
        /// The file or folder.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A run is not appended.
    #[error("run {id} is not appended: {reason}")]
    Refused {
        /// The run's id.
        id: String,
        /// Why, and what to do.
        reason: String,
    },
    /// A file of the same name has other content.
    #[error("{}: is there with other content; stored files are never changed. {advice}", file.display())]
    Differs {
        /// The existing file.
        file: PathBuf,
        /// What to do.
        advice: String,
    },
    /// A file has another content than expected.
    #[error("{}: {message}", file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// What was expected and what was found.
        message: String,
    },
}

impl HistoryError {
    pub(super) fn unreadable(file: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |source| Self::Unreadable {
            file: file.to_path_buf(),
            source,
        }
    }

    pub(super) fn unwritable(file: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |source| Self::Unwritable {
            file: file.to_path_buf(),
            source,
        }
    }

    /// The error for a folder without a history.
    pub(super) fn empty(history: &Path) -> Self {
        let message =
            "holds no history: no runs/, months/ or imported/; append a run with: wirebench history append --to DIR";
        Self::broken(history, message)
    }

    pub(super) fn broken(file: &Path, message: impl Into<String>) -> Self {
        Self::Broken {
            file: file.to_path_buf(),
            message: message.into(),
        }
    }
}
