//! Stored comparisons: finds, reads, checks and writes comparison.json.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use serde_json::Value;

use crate::outcome::UsageError;
use crate::reports;
use wirebench_record::comparison::{Comparison, SCHEMA, SCHEMA_V1};

/// The name of a comparison's file in a run's folder.
pub(crate) const FILE: &str = "comparison.json";

/// Advice for when there is no comparison.
pub(crate) const MAKE_ONE: &str = "make one with: wirebench run --baseline main";

/// A comparison's path, from the path of the file or of its folder.
///
/// # Errors
/// When there is no such file.
pub(crate) fn file_at(path: &Path) -> Result<PathBuf, UsageError> {
    let below = path.is_dir().then(|| path.join(FILE));
    let file = below.unwrap_or_else(|| path.to_path_buf());
    if file.is_file() {
        return Ok(file);
    }
    let name = file.display();
    Err(UsageError(format!("{name}: there is no comparison; {MAKE_ONE}")))
}

/// Reads a comparison.
///
/// # Errors
/// When it cannot be read, is incomplete, or does not fit the schema.
pub(crate) fn read(file: &Path) -> anyhow::Result<Comparison> {
    let name = file.display();
    let text = fs::read(file).with_context(|| format!("{name}: cannot be read"))?;
    let value: Value = serde_json::from_slice(&text).map_err(|error| {
        let what = if error.is_eof() { "is cut off" } else { "is not JSON" };
        anyhow!("{name}: {what}: {error}; {MAKE_ONE}")
    })?;
    match value.get("schema").and_then(Value::as_str) {
        Some(SCHEMA | SCHEMA_V1) => {}
        Some(other) => bail!("{name}: has schema {other:?}, expected {SCHEMA}"),
        None => bail!("{name}: has no schema, expected {SCHEMA}"),
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let (place, why) = (error.path().to_string(), error.inner());
        anyhow!("{name}: {place}: {why}; it may be edited by hand, or of a newer wirebench")
    })
}

/// Reads the comparison in a run's folder; `None` if the run has none.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_if_any(folder: &Path) -> anyhow::Result<Option<Comparison>> {
    let file = folder.join(FILE);
    file.is_file().then(|| read(&file)).transpose()
}

/// Writes a comparison.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write(comparison: &Comparison, file: &Path) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(comparison)?;
    text.push(b'\n');
    reports::write_file(file, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        fs::write(&file, text).unwrap();
        read(&file).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_comparison_is_refused_by_name_and_reason() {
        for (text, why) in [
            ("", "is cut off"),
            ("{\"schema\": \"wirebench.comp", "is cut off"),
            ("comparison", "is not JSON"),
            ("[]", "has no schema"),
            ("{\"schema\": \"wirebench.comparison/v3\"}", "wirebench.comparison/v3"),
            (
                "{\"schema\": \"wirebench.comparison/v2\", \"verdict\": \"fine\"}",
                "verdict: unknown variant",
            ),
        ] {
            let error = refused(text);
            assert!(error.contains(FILE) && error.contains(why), "{text}: {error}");
        }
    }
}
