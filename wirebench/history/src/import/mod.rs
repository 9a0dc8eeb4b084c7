//! Imports histories of other programs: parses them without executing anything, stores them unchanged, and judges the values
//! that are valid.

mod check;
mod github_action_benchmark;
pub(super) mod traces;
mod unit;

pub use check::{check, number, sound_values};
pub use github_action_benchmark::{LARGEST_FILE, NotImported, parse};

use std::path::{Path, PathBuf};

use crate::error::HistoryError;
use crate::files::{Written, json_line, write_once};
use wirebench_record::imported::Imported;
/// True if a name is valid for an import.
pub use wirebench_record::names::is_declarable as is_name;

/// Stores an imported history under a name, a word of lower-case letters, digits and hyphens.
///
/// # Errors
/// If another import has the name, or the file cannot be written. Nothing is changed then.
pub fn keep(history: &Path, name: &str, imported: &Imported) -> Result<(PathBuf, Written), HistoryError> {
    let file = history.join("imported").join(format!("{name}.json"));
    let advice = "Give this one another name with --name, or remove that file if this one holds all of it";
    let written = write_once(&file, &json_line(&file, imported)?, advice)?;
    Ok((file, written))
}

/// Derives the name of an import from a file's name: `Data File.js` becomes `data-file`.
pub fn name_of(file: &Path) -> String {
    name_of_end(file, 1)
}

/// Names for several files, none of which is in `taken`: `data`, or `dev-bench-data` if other files are called `data.js` too.
pub(super) fn distinct_names<'a>(files: &[PathBuf], taken: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = taken.map(str::to_owned).collect();
    let first = names.len();
    names.extend(files.iter().map(|file| name_of(file)));
    let is_duplicate = |names: &[String], place: usize| names.iter().filter(|name| **name == names[place]).count() > 1;
    let longest = files.iter().map(|file| file.components().count()).max().unwrap_or(0);
    for parts in 2..=longest {
        let duplicates: Vec<usize> = (first..names.len())
            .filter(|place| is_duplicate(&names, *place))
            .collect();
        for place in duplicates {
            names[place] = name_of_end(&files[place - first], parts);
        }
    }
    // The same path twice, or paths that differ only in signs that names do not have.
    for place in first..names.len() {
        let name = names[place].clone();
        let mut number = 2;
        while names[..place].contains(&names[place]) {
            names[place] = format!("{name}-{number}");
            number += 1;
        }
    }
    names.split_off(first)
}

/// Derives a name from the last parts of a file's path.
fn name_of_end(file: &Path, parts: usize) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let stem = stem.strip_suffix(".data").unwrap_or(&stem).to_owned();
    let folders = file.parent().into_iter().flat_map(Path::components).rev();
    let folders = folders
        .take(parts - 1)
        .map(|part| part.as_os_str().to_string_lossy().to_lowercase());
    let mut path: Vec<String> = [stem].into_iter().chain(folders).collect();
    path.reverse();
    let words = (path
        .iter()
        .flat_map(|part| part.split(|c: char| !c.is_ascii_alphanumeric())))
    .filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    if name.is_empty() { "imported".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[&str], taken: &[&str]) -> Vec<String> {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        distinct_names(&files, taken.iter().copied())
    }

    #[test]
    fn files_of_one_name_are_told_apart_by_their_folders() {
        assert_eq!(names(&["dev/bench/data.js"], &[]), ["data"]);
        assert_eq!(
            names(&["a/bench/data.js", "b/bench/data.js"], &[]),
            ["a-bench-data", "b-bench-data"]
        );
        assert_eq!(
            names(&["data.js", "./Other Bench/data.js"], &[]),
            ["data", "other-bench-data"]
        );
        assert_eq!(names(&["x/data.js"], &["data"]), ["x-data"]);
        assert_eq!(names(&["yew.data.js", "yew.data.js"], &[]), ["yew", "yew-2"]);
    }
}
