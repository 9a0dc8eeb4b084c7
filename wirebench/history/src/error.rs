//! Errors of a history: file, cause, and what to do.

use std::path::{Path, PathBuf};

/// Why a history could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A file or folder that cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Unreadable {
        /// The file or folder.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A file or folder that cannot be written.
    #[error("{}: cannot be written: {source}; nothing that was there is changed", file.display())]
    Unwritable {
        /// The file or folder.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A run that cannot be appended.
    #[error("run {id} is not appended: {reason}")]
    Refused {
        /// The run's id.
        id: String,
        /// Why, and what to do.
        reason: String,
    },
    /// A file of this name with other content.
    #[error("{}: is there with other content; stored files are never changed. {advice}", file.display())]
    Differs {
        /// The file that is there.
        file: PathBuf,
        /// What to do.
        advice: String,
    },
    /// A file whose content is not what was expected.
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

    /// A folder without a history.
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
