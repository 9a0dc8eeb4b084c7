//! Where a history is: in a folder, or in object storage. Commands that read one in object storage read a copy in a temporary folder.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use tempfile::TempDir;

use super::{MAKE_ONE, copies, say};
use crate::there;
use wirebench_history::append::{Admit, append};
use wirebench_history::error::HistoryError;
use wirebench_history::newest_run;
use wirebench_record::run::{Run, short_commit};
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

impl Location {
    /// Of these commits, those that the history has no run of.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub(crate) fn lacks<'a>(&self, commits: &'a [String]) -> anyhow::Result<Vec<&'a str>> {
        let stored = match self {
            Self::Folder(_) => Vec::new(),
            Self::Store(address) => Bucket::open(address)?.runs()?,
        };
        let mut missing = Vec::new();
        for commit in commits {
            let is_there = match self {
                Self::Folder(folder) => newest_run(folder, commit)?.is_some(),
                Self::Store(_) => stored.iter().any(|name| name.starts_with(short_commit(commit))),
            };
            if !is_there {
                missing.push(commit.as_str());
            }
        }
        Ok(missing)
    }

    /// Adds a run, and prints where it is.
    ///
    /// # Errors
    /// When the run is refused, another run is there under its name, or the history cannot be written.
    pub(crate) fn append(&self, run: &Run, admit: Admit) -> anyhow::Result<()> {
        match self {
            Self::Folder(folder) => {
                let (file, written) = append(folder, run, admit)?;
                println!("{}", file.display());
                say(written);
            }
            Self::Store(address) => {
                let folder = tempfile::tempdir()?;
                append(folder.path(), run, admit)?;
                copies::publish_made(folder.path(), address)?;
            }
        }
        Ok(())
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
