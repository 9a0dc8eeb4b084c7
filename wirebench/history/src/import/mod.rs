//! Imports histories of other programs: parses them without executing anything, stores them unchanged, and judges the values
//! that are valid.

mod check;
mod direction;
mod github_action_benchmark;
pub(super) mod traces;
mod unit;

pub use check::{check, number, sound_values};
pub use github_action_benchmark::{NotImported, parse};

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
#[must_use]
pub fn name_of(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let stem = stem.strip_suffix(".data").unwrap_or(&stem);
    let words = stem
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    if name.is_empty() { "imported".into() } else { name }
}
