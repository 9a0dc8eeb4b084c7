//! Copying the files of a history: their paths, checking them, and storing a copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::error::HistoryError;
use crate::files::{OfSchema, Written, json_files, months, read, replace, write_once};
use wirebench_record::history::{Facts, Month};
use wirebench_record::imported::Imported;
use wirebench_record::run::Run;

/// The largest run file that is copied, in bytes.
const LARGEST_RUN: u64 = 8 << 20;

/// The path of a file below the history's folder, with `/` between its parts.
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    let name = "[0-9A-Za-z][0-9A-Za-z._-]{0,199}";
    let pattern = format!(
        r"^(?:(?<run>runs/(?<year>\d{{4}})/(?<month>\d{{2}})/{name}\.json)|(?<summary>months/\d{{4}}-\d{{2}}\.json)|(?<import>imported/[a-z0-9-]+\.json)|(?<facts>history\.json))$"
    );
    Regex::new(&pattern).expect("a valid pattern")
});

/// The kind of a file of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A run of this month, `yyyy-mm`.
    Run(String),
    /// The summary of a month: derived, and written anew when runs are added.
    Month,
    /// Another program's history.
    Imported,
    /// Releases, and whether the history is made up.
    Facts,
}

impl FileKind {
    /// The kind of the file at a path below the history's folder; `None` if a history has no such file.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let parts = PATH.captures(path)?;
        if parts.name("run").is_some() {
            return Some(Self::Run(format!("{}-{}", &parts["year"], &parts["month"])));
        }
        Some(match (parts.name("summary"), parts.name("import")) {
            (Some(_), _) => Self::Month,
            (_, Some(_)) => Self::Imported,
            _ => Self::Facts,
        })
    }
}

/// The paths of all files of a history that are not derived, below its folder and in order. Each is checked: it is a regular,
/// complete file with the schema of its kind.
///
/// # Errors
/// If the folder holds no history, or a check fails; the message names the first such file.
pub fn originals(history: &Path) -> Result<Vec<String>, HistoryError> {
    let mut paths = Vec::new();
    for month in months(history)? {
        for name in &month.names {
            let file = month.folder.join(name);
            check::<Run>(&file, Some(LARGEST_RUN))?;
            paths.push(path_below(history, &file)?);
        }
    }
    for file in json_files(&history.join("imported"))? {
        check::<Imported>(&file, None)?;
        paths.push(path_below(history, &file)?);
    }
    let facts = history.join("history.json");
    if fs::exists(&facts).map_err(HistoryError::unreadable(&facts))? {
        check::<Facts>(&facts, None)?;
        paths.push(path_below(history, &facts)?);
    }
    if paths.is_empty() {
        return Err(HistoryError::empty(history));
    }
    paths.sort();
    Ok(paths)
}

fn check<T: OfSchema>(file: &Path, largest: Option<u64>) -> Result<(), HistoryError> {
    let metadata = fs::symlink_metadata(file).map_err(HistoryError::unreadable(file))?;
    if !metadata.is_file() {
        return Err(HistoryError::broken(file, "is no regular file; leave it out"));
    }
    if let Some(largest) = largest.filter(|largest| metadata.len() > *largest) {
        let message = format!("has {} bytes, of {largest} at most; leave it out", metadata.len());
        return Err(HistoryError::broken(file, message));
    }
    read::<T>(file).map(|_| ())
}

fn path_below(history: &Path, file: &Path) -> Result<String, HistoryError> {
    let path = file.strip_prefix(history).ok().and_then(Path::to_str);
    let known = path.filter(|path| FileKind::of(path).is_some());
    let message = "has a name that no file of a history has; rename it or leave it out";
    known
        .map(str::to_owned)
        .ok_or_else(|| HistoryError::broken(file, message))
}

/// Stores a copy of a file in a history. A summary replaces the existing one; no other file is ever replaced.
///
/// # Errors
/// If a history has no such file, a file of the same name has other content, or the file cannot be written.
pub fn keep_copy(history: &Path, path: &str, content: &[u8]) -> Result<(PathBuf, Written), HistoryError> {
    let file = history.join(path);
    let written = match FileKind::of(path) {
        None => {
            let message = "is no file of a history: expected runs/, months/, imported/ or history.json";
            return Err(HistoryError::broken(&file, message));
        }
        Some(FileKind::Month) => replace(&file, content).map(|()| Written::New)?,
        Some(_) => write_once(&file, content, "Move one of the two away")?,
    };
    Ok((file, written))
}

/// The summary in the content of a month's file; `None` if it is cut off, edited, or of another schema.
#[must_use]
pub fn month_in(content: &[u8]) -> Option<Month> {
    let month: Option<Month> = serde_json::from_slice(content).ok();
    month.filter(|month| month.schema == Month::SCHEMA)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_history_has_four_kinds_of_files_and_no_others() {
        let run = FileKind::of("runs/2026/11/0123456789ab-20261123T045000Z-1a2b.json");
        assert_eq!(run, Some(FileKind::Run("2026-11".into())));
        assert_eq!(FileKind::of("months/2026-11.json"), Some(FileKind::Month));
        assert_eq!(FileKind::of("imported/old-suite.json"), Some(FileKind::Imported));
        assert_eq!(FileKind::of("history.json"), Some(FileKind::Facts));
        for none in [
            "",
            "README.md",
            "/history.json",
            "runs/2026/11/",
            "runs/2026/11/.a.json",
            "runs/2026/11/a.json.part",
            "runs/2026/11/x/a.json",
            "runs/26/11/a.json",
            "months/2026-11.json\n",
            "imported/../history.json",
            "kept/1/comparison.json",
        ] {
            assert_eq!(FileKind::of(none), None, "{none:?}");
        }
    }

    proptest! {
        #[test]
        fn no_path_leaves_the_folder(path in "(runs/|months/|imported/|[./a-z0-9-]){0,12}(\\.json)?") {
            if FileKind::of(&path).is_some() {
                prop_assert!(!path.split('/').any(|part| part.is_empty() || part.starts_with('.')), "{}", path);
            }
        }
    }

    #[test]
    fn a_copy_never_replaces_a_run_and_does_replace_a_summary() {
        let folder = tempfile::tempdir().unwrap();
        let keep = |path: &str, content: &str| keep_copy(folder.path(), path, content.as_bytes());
        assert_eq!(keep("runs/2026/11/a.json", "1").unwrap().1, Written::New);
        assert_eq!(keep("runs/2026/11/a.json", "1").unwrap().1, Written::AlreadyThere);
        let error = keep("runs/2026/11/a.json", "2").unwrap_err().to_string();
        assert!(error.contains("a.json: is there with other content"), "{error}");
        assert_eq!(
            fs::read_to_string(folder.path().join("runs/2026/11/a.json")).unwrap(),
            "1"
        );
        keep("months/2026-11.json", "1").unwrap();
        keep("months/2026-11.json", "2").unwrap();
        assert_eq!(
            fs::read_to_string(folder.path().join("months/2026-11.json")).unwrap(),
            "2"
        );
        let error = keep("../outside.json", "1").unwrap_err().to_string();
        assert!(error.contains("is no file of a history"), "{error}");
    }

    #[test]
    fn what_is_no_whole_file_of_a_history_is_refused_by_name() {
        let refused = |path: &str, content: &str| {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, content).unwrap();
            originals(folder.path()).unwrap_err().to_string()
        };
        for (path, content, why) in [
            ("runs/2026/11/a.json", "{", "is not a whole wirebench.run/"),
            (
                "runs/2026/11/a.json",
                "{\"schema\":\"wirebench.run/v9\"}",
                "has schema wirebench.run/v9",
            ),
            ("imported/a.json", "[]", "is not a whole wirebench.imported/"),
            ("history.json", "{}", "is not a whole wirebench.history/"),
            ("README.md", "no history", "holds no history"),
        ] {
            let error = refused(path, content);
            assert!(error.contains(why), "{path}: {error}");
        }
    }

    #[test]
    fn a_link_is_no_file_of_a_history() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs/2026/11");
        fs::create_dir_all(&runs).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", runs.join("a.json")).unwrap();
        let error = originals(folder.path()).unwrap_err().to_string();
        assert!(error.contains("a.json: is no regular file"), "{error}");
    }
}
