//! Reads one TOML file into a type; an error names the file, the key and what was expected.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// An error in a declaration: file, key, and what was expected.
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
    /// Text that is not TOML, an unknown key, or a value of the wrong type.
    #[error("{}: {key}{message}", file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// The dotted key followed by `: `, or empty for the whole file.
        key: String,
        /// What was expected and what was found.
        message: String,
    },
    /// Two declarations with one name.
    #[error("{kind} \"{name}\" is declared twice: {first} and {second}; rename one")]
    Twice {
        /// `scenario`, `server` or `driver`.
        kind: &'static str,
        /// The name.
        name: String,
        /// Where it was read first.
        first: String,
        /// The place of the second one.
        second: String,
    },
}

/// The place of a declaration: a file of its own, or a table of `wirebench.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The dotted table in it, such as `servers.api`; `None` for the whole file.
    pub table: Option<String>,
}

impl Place {
    /// A file of its own.
    #[must_use]
    pub fn file(file: &Path) -> Self {
        Self {
            file: file.to_path_buf(),
            table: None,
        }
    }

    /// A table of a file with other tables.
    #[must_use]
    pub fn table(file: &Path, table: String) -> Self {
        Self {
            file: file.to_path_buf(),
            table: Some(table),
        }
    }

    /// An error about one key of the declaration; the message names the file and the whole key.
    pub fn wrong(&self, key: &str, message: impl Into<String>) -> DeclareError {
        match &self.table {
            None => DeclareError::key(&self.file, key, message),
            Some(table) => DeclareError::key(&self.file, &format!("{table}.{key}"), message),
        }
    }
}

impl std::fmt::Display for Place {
    /// `wirebench.toml: servers.api`, or only the file.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{}", self.file.display())?;
        self.table.as_ref().map_or(Ok(()), |table| write!(to, ": {table}"))
    }
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
    toml_text(&text, file)
}

/// Parses one TOML document; errors name `file`.
///
/// # Errors
/// When it is not TOML, or does not fit `T`.
pub fn toml_text<T: DeserializeOwned>(text: &str, file: &Path) -> Result<T, DeclareError> {
    let invalid = |key: String, message: &str| DeclareError::Invalid {
        file: file.to_path_buf(),
        key,
        message: message.trim().replace('\n', " "),
    };
    let document = toml::Deserializer::parse(text).map_err(|error| {
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
