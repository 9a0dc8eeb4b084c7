//! Errors of a history: file, cause, and what to do.

use std::io;
use std::path::Path;

/// Why a history cannot be read or written, as a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HistoryError(pub(super) String);

impl HistoryError {
    pub(super) fn unreadable(file: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self(format!("{}: cannot be read: {source}", file.display()))
    }

    pub(super) fn unwritable(file: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        let file = file.display();
        move |source| {
            Self(format!(
                "{file}: cannot be written: {source}; nothing that was there is changed"
            ))
        }
    }

    /// The error for a file with another content than expected.
    pub(super) fn broken(file: &Path, message: impl AsRef<str>) -> Self {
        Self(format!("{}: {}", file.display(), message.as_ref()))
    }
}
