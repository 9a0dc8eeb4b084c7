//! Why a server or a round was not measured.

use std::io;
use std::path::Path;

/// Why a server or a round was not measured: a whole sentence, and the reasons that callers tell apart.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The user requested the stop.
    #[error("interrupted")]
    Interrupted,
    /// A server was not ready in time.
    #[error("{0}")]
    NotReady(String),
    /// The driver did not end in time.
    #[error("{0}")]
    TimedOut(String),
    /// Any other reason.
    #[error("{0}")]
    Failed(String),
}

impl From<String> for MeasureError {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// The sentence about a file of the results folder that cannot be written.
pub(crate) fn unwritable(file: &Path, error: &io::Error) -> String {
    format!(
        "{}: cannot be written: {error}; free some space or choose another folder with --out",
        file.display()
    )
}

/// Adds the file to the error of writing it.
pub(crate) fn written<T>(file: &Path, result: io::Result<T>) -> Result<T, MeasureError> {
    result.map_err(|error| unwritable(file, &error).into())
}
