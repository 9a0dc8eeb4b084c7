//! Why a slot gave no result.

use std::path::{Path, PathBuf};

use crate::measure::drive::DriveError;
use crate::measure::target::TargetError;
use wirebench_declare::args::MissingValue;

/// Why a slot gave no result.
#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    /// The server is at fault.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The driver is at fault, or the server under it.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The driver's declaration does not fit the load.
    #[error("driver: {0}")]
    Arguments(#[from] MissingValue),
    /// The results folder cannot be written.
    #[error("{}: cannot be written: {source}; free some space or choose another folder with --out", file.display())]
    Write {
        /// The file or folder.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
}

impl SlotError {
    /// Whether the user requested the stop.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Target(TargetError::Interrupted) | Self::Drive(DriveError::Interrupted)
        )
    }
}

/// Adds the file to the error of writing it.
pub(in crate::measure) fn written<T>(file: &Path, result: std::io::Result<T>) -> Result<T, SlotError> {
    result.map_err(|source| SlotError::Write {
        file: file.to_path_buf(),
        source,
    })
}
