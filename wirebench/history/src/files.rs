//! The paths of a history's files, and reading and writing them without losing any.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::error::HistoryError;
use wirebench_record::history::{self, Month, StoredRun};
use wirebench_record::run::short_commit;

/// The result of writing a file that must not change later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// The file is new.
    New,
    /// The file existed with the same content.
    AlreadyThere,
}

/// The run files of one month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MonthFiles {
    /// `yyyy-mm`.
    pub(super) month: String,
    pub(super) folder: PathBuf,
    /// Names of the files, in order.
    pub(super) names: Vec<String>,
}

/// The folder of a month's run files.
pub(super) fn runs_folder(history: &Path, month: &str) -> PathBuf {
    history.join("runs").join(month.replace('-', "/"))
}

/// The summary of a month.
pub(super) fn month_file(history: &Path, month: &str) -> PathBuf {
    history.join("months").join(format!("{month}.json"))
}

/// The run files of every month, in order.
pub(super) fn months(history: &Path) -> Result<Vec<MonthFiles>, HistoryError> {
    let runs = history.join("runs");
    let mut months = Vec::new();
    for year in names(&runs)?.iter().filter(|name| is_number(name, 4)) {
        for month in names(&runs.join(year))?.iter().filter(|name| is_number(name, 2)) {
            let folder = runs.join(year).join(month);
            let mut names = names(&folder)?;
            names.retain(|name| is_json(name));
            months.push(MonthFiles {
                month: format!("{year}-{month}"),
                folder,
                names,
            });
        }
    }
    Ok(months)
}

/// The path of a run that is in a summary.
pub fn run_file(history: &Path, stored: &StoredRun) -> PathBuf {
    let month = stored.started_at.get(..7).unwrap_or_default();
    runs_folder(history, month).join(&stored.file)
}

/// The newest stored run of a commit, given by its full or shortened id; `None` if there is none.
///
/// # Errors
/// When a folder of the history cannot be read.
pub fn newest_run(history: &Path, commit: &str) -> Result<Option<PathBuf>, HistoryError> {
    let mut newest = None;
    // A name is the commit and the run id, which begins with the time: the last file of a commit is its newest.
    for month in months(history)? {
        let of_commit = month.names.iter().rfind(|name| name.starts_with(short_commit(commit)));
        newest = of_commit.map(|name| month.folder.join(name)).or(newest);
    }
    Ok(newest)
}

/// The JSON files of a folder, in order; empty if the folder does not exist.
pub(super) fn json_files(folder: &Path) -> Result<Vec<PathBuf>, HistoryError> {
    let names = names(folder)?.into_iter().filter(|name| is_json(name));
    Ok(names.map(|name| folder.join(name)).collect())
}

fn names(folder: &Path) -> Result<Vec<String>, HistoryError> {
    let entries = match fs::read_dir(folder) {
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(HistoryError::unreadable(folder))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(HistoryError::unreadable(folder))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn is_number(name: &str, digits: usize) -> bool {
    name.len() == digits && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// A leading dot marks a file that is being written.
fn is_json(name: &str) -> bool {
    !name.starts_with('.') && Path::new(name).extension().is_some_and(|ending| ending == "json")
}

/// Reads a file of one schema, which `schema` finds in the content; an error names another version.
pub(super) fn read<T: DeserializeOwned>(
    file: &Path,
    expected: &str,
    schema: fn(&T) -> &str,
) -> Result<T, HistoryError> {
    #[derive(Deserialize)]
    struct Named {
        schema: String,
    }
    let bytes = fs::read(file).map_err(HistoryError::unreadable(file))?;
    let content: Result<T, serde_json::Error> = serde_json::from_slice(&bytes);
    let schema = match &content {
        Ok(content) => Some(schema(content).to_owned()),
        Err(_) => serde_json::from_slice(&bytes).ok().map(|named: Named| named.schema),
    };
    if let Some(schema) = schema.filter(|schema| schema != expected) {
        let message = format!("has schema {schema}, expected {expected}; a newer wirebench may read it");
        return Err(HistoryError::broken(file, message));
    }
    content.map_err(|error| {
        let message =
            format!("is not a whole {expected} file; it may be cut off, edited, or of a newer wirebench: {error}");
        HistoryError::broken(file, message)
    })
}

/// Reads the summary of a month.
pub(super) fn read_month(file: &Path) -> Result<Month, HistoryError> {
    read(file, history::SCHEMA, |month: &Month| &month.schema)
}

/// The content of a JSON file: compact, with a newline at its end.
pub(super) fn json_line(file: &Path, content: &impl Serialize) -> Result<Vec<u8>, HistoryError> {
    let json = serde_json::to_vec(content);
    let mut bytes = json.map_err(|error| HistoryError::broken(file, error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes a file that must not change later: atomically, and never over an existing one.
pub(super) fn write_once(file: &Path, content: &[u8], advice: &str) -> Result<Written, HistoryError> {
    let temporary = temporary(file, content).map_err(HistoryError::unwritable(file))?;
    match temporary.persist_noclobber(file) {
        Ok(_) => Ok(Written::New),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            let existing = fs::read(file).map_err(HistoryError::unreadable(file))?;
            if existing == content {
                return Ok(Written::AlreadyThere);
            }
            let message = format!("is there with other content; stored files are never changed. {advice}");
            Err(HistoryError::broken(file, message))
        }
        Err(error) => Err(HistoryError::unwritable(file)(error.error)),
    }
}

/// Replaces a derived file atomically.
pub(super) fn replace(file: &Path, content: &[u8]) -> Result<(), HistoryError> {
    let temporary = temporary(file, content).map_err(HistoryError::unwritable(file))?;
    let persisted = temporary.persist(file).map_err(|error| error.error);
    persisted.map(|_| ()).map_err(HistoryError::unwritable(file))
}

/// Writes the content to a temporary file in the folder of `file`, readable by everyone who may read the folder.
fn temporary(file: &Path, content: &[u8]) -> io::Result<NamedTempFile> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut temporary = tempfile::Builder::new()
        .prefix(".")
        .suffix(".part")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)?;
    temporary.write_all(content)?;
    Ok(temporary)
}
