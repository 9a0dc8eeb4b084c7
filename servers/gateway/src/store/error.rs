//! The error of creating a store.

use std::{fmt, io};

/// Why a store cannot be created.
#[derive(Debug)]
pub(crate) enum StoreError {
    /// There is no folder for its file.
    Folder(io::Error),
    /// The database fails.
    Database(rusqlite::Error),
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(error) => write!(out, "no place for its file: {error}"),
            Self::Database(error) => write!(out, "{error}"),
        }
    }
}
