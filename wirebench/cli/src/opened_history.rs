//! A history that can be read: its folder, or a copy of a history in object storage.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use wirebench_history::error::HistoryError;
use wirebench_store::Bucket;

/// A history that can be read.
#[derive(Debug)]
pub(crate) enum Opened {
    Folder(PathBuf),
    /// A temporary copy, and the object storage it is from.
    Copy(TempDir, Box<Bucket>),
}

impl Opened {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Folder(folder) => folder,
            Self::Copy(folder, _) => folder.path(),
        }
    }

    /// Copies further files, given by their paths below the history's folder.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(crate) fn copy_files(&self, paths: impl Iterator<Item = PathBuf>) -> anyhow::Result<()> {
        if let Self::Copy(folder, bucket) = self {
            let paths: Vec<String> = paths.map(|path| path.to_string_lossy().into_owned()).collect();
            bucket.copy(folder.path(), &paths)?;
        }
        Ok(())
    }

    /// An error with the address in place of the copy's folder.
    pub(crate) fn error_with_address(&self, error: HistoryError) -> anyhow::Error {
        match self {
            Self::Folder(_) => error.into(),
            Self::Copy(..) => anyhow::Error::msg(self.with_address(&error.to_string())),
        }
    }

    /// Text with the address in place of the copy's folder.
    pub(crate) fn with_address(&self, text: &str) -> String {
        match self {
            Self::Folder(_) => text.to_owned(),
            Self::Copy(folder, bucket) => {
                text.replace(&*folder.path().to_string_lossy(), &bucket.address().to_string())
            }
        }
    }
}
