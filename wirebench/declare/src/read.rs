//! Reads one TOML file into a type; an error names the file, the key and what was expected.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::de::DeserializeOwned;

/// An error in a declaration or in a flag that selects from it: names the file and key, or the flag, and what was expected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DeclareError(pub(crate) String);

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
    pub fn file(file: &Path) -> Self {
        Self {
            file: file.to_path_buf(),
            table: None,
        }
    }

    /// A table of a file with other tables.
    pub fn table(file: &Path, table: String) -> Self {
        Self {
            file: file.to_path_buf(),
            table: Some(table),
        }
    }

    /// A table of the declaration, such as `tiers[0]`.
    pub(crate) fn below(&self, path: &str) -> Self {
        let table = self.table.as_ref().map(|table| format!("{table}."));
        Self::table(&self.file, table.unwrap_or_default() + path)
    }

    /// Refuses a key of the declaration if it is wrong.
    pub(crate) fn refuse_if(&self, is_wrong: bool, key: &str, message: impl AsRef<str>) -> Result<(), DeclareError> {
        if is_wrong {
            return Err(self.wrong(key, message));
        }
        Ok(())
    }

    /// An error about one key of the declaration; the message names the file and the whole key.
    pub fn wrong(&self, key: &str, message: impl AsRef<str>) -> DeclareError {
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
    pub fn key(file: &Path, key: &str, message: impl AsRef<str>) -> Self {
        Self(format!("{}: {key}: {}", file.display(), message.as_ref()))
    }

    /// A file or folder cannot be read.
    pub fn unreadable(file: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |source| Self(format!("{}: cannot be read: {source}", file.display()))
    }
}

/// Reads and types one TOML file.
///
/// # Errors
/// When the file cannot be read, is not TOML, or does not fit `T`.
pub fn toml_file<T: DeserializeOwned>(file: &Path) -> Result<T, DeclareError> {
    let text = fs::read_to_string(file).map_err(DeclareError::unreadable(file))?;
    toml_text(&text, file)
}

/// Parses one TOML document; errors name `file`.
///
/// # Errors
/// When it is not TOML, or does not fit `T`.
pub fn toml_text<T: DeserializeOwned>(text: &str, file: &Path) -> Result<T, DeclareError> {
    let invalid = |key: &str, message: &str| DeclareError::key(file, key, message.trim().replace('\n', " "));
    let document = toml::Deserializer::parse(text).map_err(|error| {
        let before = &text[..error.span().map_or(0, |span| span.start.min(text.len()))];
        let line = before.matches('\n').count() + 1;
        invalid(&format!("line {line}"), error.message())
    })?;
    serde_path_to_error::deserialize(document).map_err(|error| {
        let (path, message) = (error.path().to_string(), error.inner().message());
        if path == "." {
            return DeclareError(format!("{}: {}", file.display(), message.trim().replace('\n', " ")));
        }
        invalid(&path, message)
    })
}
