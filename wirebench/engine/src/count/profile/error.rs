//! Errors in a file that valgrind or strace wrote.

use std::fs;
use std::path::{Path, PathBuf};

/// Why a profile could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// A file that cannot be opened or read.
    #[error("{}: cannot be read: {source}; the tool writes it when the server ends: stop the server with SIGINT or SIGTERM and wait for it", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A line that the tool does not write.
    #[error("{}:{line}: {wrong}; count anew, and let nothing else write this file", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What was expected and what was found.
        wrong: String,
    },
    /// A file that is wrong as a whole, such as one that was cut off.
    #[error("{}: {wrong}", file.display())]
    Whole {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, and what to do.
        wrong: String,
    },
}

/// The file's text; bytes that are not UTF-8 (paths may have any bytes) are replaced.
pub(super) fn text_of(file: &Path) -> Result<String, ProfileError> {
    let bytes = fs::read(file).map_err(|source| ProfileError::Unreadable {
        file: file.to_owned(),
        source,
    })?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The beginning of a line, quoted for an error.
pub(super) fn quoted(line: &str) -> String {
    const SHOWN: usize = 60;
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &line[..end]),
        None => format!("{line:?}"),
    }
}
