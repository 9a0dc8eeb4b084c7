//! Where a history is: in a folder, or in object storage. Commands that read one in object storage read a copy in a temporary folder.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::folders::check_exists;
use crate::opened_history::Opened;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use wirebench_history::append::{Admit, Written, append};
use wirebench_history::newest_run;
use wirebench_record::run::{Run, short_commit};
use wirebench_store::{Address, Bucket, NotAnAddress, SCHEME, Wanted};

/// Advice for when there is no history.
pub(crate) const MAKE_ONE: &str = "make one with: wirebench history append --to DIR";

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

    /// The history as a folder to read: its own, or a copy of the files that a trend needs.
    ///
    /// # Errors
    /// When there is no such folder or object, or it cannot be read.
    pub(crate) fn open(&self) -> anyhow::Result<Opened> {
        match self {
            Self::Folder(folder) => {
                check_exists(folder, "HISTORY", MAKE_ONE)?;
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

    /// The commits that the history has no run of.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub(crate) fn missing_commits<'a>(&self, commits: &'a [String]) -> anyhow::Result<Vec<&'a str>> {
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
                log_written(written);
            }
            Self::Store(address) => {
                let folder = tempfile::tempdir()?;
                append(folder.path(), run, admit)?;
                publish_folder(folder.path(), address)?;
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

/// Publishes the history that a command has put into a temporary folder, and prints the addresses.
///
/// # Errors
/// When an object is there with other content, or cannot be written.
pub(crate) fn publish_folder(folder: &Path, address: &Address) -> anyhow::Result<()> {
    for one in Bucket::open(address)?.publish(folder)? {
        println!("{}", one.address);
        log_written(one.written);
    }
    Ok(())
}

/// Logs whether a file is new.
pub(crate) fn log_written(written: Written) {
    match written {
        Written::New => log::info!("added"),
        Written::AlreadyThere => log::info!("already there, nothing to do"),
    }
}
