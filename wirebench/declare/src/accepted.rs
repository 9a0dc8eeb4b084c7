//! `accepted.toml` in the project's folder: worsenings that are intended, one reviewed entry each.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::read::{DeclareError, Place, toml_file};
use wirebench_record::accepted::Accepted;

/// The header of a new file.
const HEADER: &str = "# Changes for the worse that are meant: an alert that an entry covers stays quiet and says why.\n\
                      # Entries are added by `wirebench accept` and reviewed like code.\n";

/// The file's content.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    accepted: Vec<Accepted>,
}

/// The file of the project in `folder`.
pub fn file(folder: &Path) -> PathBuf {
    folder.join("accepted.toml")
}

/// Reads the entries of the project in `folder`; empty if it has no such file.
///
/// # Errors
/// When the file cannot be read, or an entry's glob, commit, size or reason is wrong; names the entry and the key.
pub fn read(folder: &Path) -> Result<Vec<Accepted>, DeclareError> {
    let file = file(folder);
    if !file.exists() {
        return Ok(Vec::new());
    }
    let content: File = toml_file(&file)?;
    for (index, entry) in content.accepted.iter().enumerate() {
        check(entry, &Place::table(&file, format!("accepted[{index}]")))?;
    }
    Ok(content.accepted)
}

/// Adds an entry at the end and leaves everything else as it is written. The file is replaced only if the new text
/// parses to the old entries and the new one.
///
/// # Errors
/// When the entry or the file is wrong, or the file cannot be written. The file is then unchanged.
pub fn add(folder: &Path, entry: &Accepted) -> Result<PathBuf, DeclareError> {
    let file = file(folder);
    check(entry, &Place::file(&file))?;
    let name = file.display();
    let unwritable =
        |error: std::io::Error| DeclareError(format!("{name}: cannot be written: {error}; it is as it was"));
    let mut expected = read(folder)?;
    expected.push(entry.clone());
    let mut text = if file.exists() {
        fs::read_to_string(&file).map_err(DeclareError::unreadable(&file))?
    } else {
        HEADER.to_owned()
    };
    let addition = File {
        accepted: vec![entry.clone()],
    };
    let addition = toml::to_string(&addition).map_err(|error| DeclareError::key(&file, "reason", error.to_string()))?;
    if !text.ends_with('\n') && !text.is_empty() {
        text.push('\n');
    }
    text.push('\n');
    text.push_str(&addition);
    let whole: Result<File, _> = toml::from_str(&text);
    if whole.is_ok_and(|whole| whole.accepted == expected) {
        let mut replacement = tempfile::NamedTempFile::new_in(folder).map_err(&unwritable)?;
        replacement.write_all(text.as_bytes()).map_err(&unwritable)?;
        if let Ok(old) = fs::metadata(&file) {
            fs::set_permissions(replacement.path(), old.permissions()).map_err(&unwritable)?;
        }
        replacement.persist(&file).map_err(|error| unwritable(error.error))?;
        return Ok(file.clone());
    }
    let message = "an entry cannot be added at the end of this file; write it by hand:\n".to_owned() + &addition;
    Err(DeclareError::key(&file, "accepted", message))
}

/// Checks an entry, which lies at a place.
fn check(entry: &Accepted, place: &Place) -> Result<(), DeclareError> {
    let wrong = |error| place.wrong("series", format!("expected a glob such as \"*@http@*\": {error}"));
    entry.clone().compile().map_err(wrong)?;
    let percent = entry.at_most_percent;
    let message = format!("expected more than 0 and less than 1000, found {percent}");
    place.refuse_if(!(percent > 0.0 && percent < 1000.0), "at_most_percent", message)?;
    if let Some(commit) = &entry.commit {
        let is_hex = (7..=40).contains(&commit.len()) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let message = format!("expected 7 to 40 hex digits, found \"{commit}\"");
        place.refuse_if(!is_hex, "commit", message)?;
    }
    let message = "expected a sentence that says why the change is meant";
    place.refuse_if(entry.reason.trim().is_empty(), "reason", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::metric::Metric;

    fn entry() -> Accepted {
        Accepted {
            series: "*@http@*".into(),
            metric: Some(Metric::ServerCpu),
            at_most_percent: 8.0,
            commit: Some("1a2b3c4".into()),
            reason: "answers are \"compressed\" now\nsee the change".into(),
        }
    }

    #[test]
    fn entries_are_added_and_comments_stay() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), []);
        add(folder.path(), &entry()).unwrap();
        let file = file(folder.path());
        let written = fs::read_to_string(&file).unwrap() + "# reviewed by two";
        assert!(written.starts_with("# Changes"));
        fs::write(&file, &written).unwrap();
        let second = Accepted {
            metric: None,
            commit: None,
            ..entry()
        };
        add(folder.path(), &second).unwrap();
        assert!(fs::read_to_string(&file).unwrap().starts_with(&written));
        assert_eq!(read(folder.path()).unwrap(), [entry(), second]);
    }

    #[test]
    fn a_wrong_entry_is_refused_by_place_and_key_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = [
            Accepted {
                series: "[".into(),
                ..entry()
            },
            Accepted {
                at_most_percent: 0.0,
                ..entry()
            },
            Accepted {
                at_most_percent: f64::NAN,
                ..entry()
            },
            Accepted {
                commit: Some("main".into()),
                ..entry()
            },
            Accepted {
                reason: " ".into(),
                ..entry()
            },
        ];
        for (one, key) in wrong
            .iter()
            .zip(["series", "at_most_percent", "at_most_percent", "commit", "reason"])
        {
            let error = add(folder.path(), one).unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
        }
        assert!(!file(folder.path()).exists());
        let text = "[[accepted]]\nseries = '*'\nat_most_percent = 8\nreason = 'x'\n[[accepted]]\nseries = '*'\nat_most_percent = -8\nreason = 'x'\n";
        fs::write(file(folder.path()), text).unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("accepted[1].at_most_percent"), "{error}");
    }

    #[test]
    fn a_file_that_cannot_take_an_entry_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let text = "accepted = []\n";
        fs::write(file(folder.path()), text).unwrap();
        let error = add(folder.path(), &entry()).unwrap_err().to_string();
        assert!(error.contains("by hand") && error.contains("[[accepted]]"), "{error}");
        assert_eq!(fs::read_to_string(file(folder.path())).unwrap(), text);
    }
}
