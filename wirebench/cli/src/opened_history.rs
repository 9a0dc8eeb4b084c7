//! A history that can be read: its folder, or a copy of what is in object storage.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use wirebench_history::error::HistoryError;
use wirebench_store::Bucket;

/// A history that can be read.
#[derive(Debug)]
pub(crate) enum Opened {
    Folder(PathBuf),
    /// A copy, which goes with this value, and where it is from.
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
    pub(crate) fn bring(&self, paths: impl Iterator<Item = PathBuf>) -> anyhow::Result<()> {
        if let Self::Copy(folder, bucket) = self {
            let paths: Vec<String> = paths.map(|path| path.to_string_lossy().into_owned()).collect();
            bucket.copy(folder.path(), &paths)?;
        }
        Ok(())
    }

    /// An error with the address in place of the copy's folder.
    pub(crate) fn named(&self, error: HistoryError) -> anyhow::Error {
        match self {
            Self::Folder(_) => error.into(),
            Self::Copy(..) => anyhow::Error::msg(self.describe_exit(&error.to_string())),
        }
    }

    /// Text with the address in place of the copy's folder.
    pub(crate) fn describe_exit(&self, text: &str) -> String {
        match self {
            Self::Folder(_) => text.to_owned(),
            Self::Copy(folder, bucket) => {
                text.replace(&*folder.path().to_string_lossy(), &bucket.address().to_string())
            }
        }
    }
}
