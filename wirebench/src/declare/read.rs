//! Reads one TOML file into a type; an error names the file, the key and what was expected.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// What is wrong with a declaration, complete enough to mend it.
#[derive(Debug, thiserror::Error)]
pub enum DeclareError {
    /// A file or folder that cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Unreadable {
        /// The file or folder.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A file that cannot be written.
    #[error("{}: cannot be written: {source}; it is as it was", file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// Text that is not TOML, a key nobody knows, or a value of the wrong kind.
    #[error("{}: {key}{message}", file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// The dotted key followed by `: `, or nothing when the whole file is meant.
        key: String,
        /// What was expected and what was found.
        message: String,
    },
    /// Two declarations that claim one name.
    #[error("{kind} \"{name}\" is declared twice: {} and {}; rename one", first.display(), second.display())]
    Twice {
        /// `scenario`, `server` or `driver`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The file that was read first.
        first: PathBuf,
        /// The file that repeats the name.
        second: PathBuf,
    },
}

impl DeclareError {
    /// An error about one key of a file.
    pub fn key(file: &Path, key: &str, message: impl Into<String>) -> Self {
        Self::Invalid {
            file: file.to_path_buf(),
            key: format!("{key}: "),
            message: message.into(),
        }
    }
}

/// Reads and types one TOML file.
///
/// # Errors
/// When the file cannot be read, is not TOML, or does not fit `T`.
pub fn toml_file<T: DeserializeOwned>(file: &Path) -> Result<T, DeclareError> {
    let text = fs::read_to_string(file).map_err(|source| DeclareError::Unreadable {
        file: file.to_path_buf(),
        source,
    })?;
    let invalid = |key: String, message: &str| DeclareError::Invalid {
        file: file.to_path_buf(),
        key,
        message: message.trim().replace('\n', " "),
    };
    let document = toml::Deserializer::parse(&text).map_err(|error| {
        let line = error
            .span()
            .map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        invalid(format!("line {line}: "), error.message())
    })?;
    serde_path_to_error::deserialize(document).map_err(|error| {
        let path = error.path().to_string();
        let key = if path == "." {
            String::new()
        } else {
            format!("{path}: ")
        };
        invalid(key, error.inner().message())
    })
}
