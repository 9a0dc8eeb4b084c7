//! Where a history is: in a folder, or in object storage. Commands that read one in object storage read a copy in a temporary folder.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use tempfile::TempDir;

use super::MAKE_ONE;
use crate::there;
use wirebench_history::error::HistoryError;
use wirebench_store::{Address, Bucket, NotAnAddress, SCHEME, Wanted};

/// A history's folder, or its address in object storage.
#[derive(Debug, Clone)]
pub(crate) enum Location {
    Folder(PathBuf),
    Store(Address),
}

impl Location {
    /// Reads it from the command line: what begins with `s3://` is an address, everything else a folder.
    pub(crate) fn parser() -> impl clap::builder::TypedValueParser<Value = Self> {
        OsStringValueParser::new().try_map(Self::of)
    }

    fn of(text: OsString) -> Result<Self, NotAnAddress> {
        match text.to_str().filter(|text| text.starts_with(SCHEME)) {
            Some(address) => address.parse().map(Self::Store),
            None => Ok(Self::Folder(text.into())),
        }
    }

    /// The history in a folder: its own, or a copy of what a trend needs.
    ///
    /// # Errors
    /// When there is no such folder or object, or it cannot be read.
    pub(crate) fn open(&self) -> anyhow::Result<Opened> {
        match self {
            Self::Folder(folder) => {
                there(folder, "HISTORY", MAKE_ONE)?;
                Ok(Opened::Folder(folder.clone()))
            }
            Self::Store(address) => {
                let bucket = Bucket::open(address)?;
                let folder = tempfile::tempdir()?;
                let fetched = bucket.fetch(folder.path(), Wanted::Trend)?;
                log::info!("{} files read from {address}", fetched.copied);
                Ok(Opened::Copy(folder, Box::new(bucket)))
            }
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(out, "{}", folder.display()),
            Self::Store(address) => write!(out, "{address}"),
        }
    }
}

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
            Self::Copy(..) => anyhow::Error::msg(self.in_words(&error.to_string())),
        }
    }

    /// Text with the address in place of the copy's folder.
    pub(crate) fn in_words(&self, text: &str) -> String {
        match self {
            Self::Folder(_) => text.to_owned(),
            Self::Copy(folder, bucket) => {
                text.replace(&*folder.path().to_string_lossy(), &bucket.address().to_string())
            }
        }
    }
}
