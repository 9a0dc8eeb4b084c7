//! Judges a run that has a baseline, and writes comparison.json.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::{flames, stored};
use wirebench_judge::compare::{self, Rules};
use wirebench_record::comparison::Comparison;
use wirebench_record::run::Run;

/// Judges a run that has a baseline, and writes the comparison beside it, with flame graphs of the counts that changed.
pub(super) fn write(run: &Run, rules: &Rules, folder: &Path) -> anyhow::Result<Comparison> {
    let mut comparison = compare::paired(run, rules).map_err(anyhow::Error::msg)?;
    flames::draw(run, &mut comparison, folder);
    save(&comparison, &folder.join(stored::FILE))?;
    Ok(comparison)
}

/// Writes a comparison.
pub(super) fn save(comparison: &Comparison, file: &Path) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(comparison)?;
    text.push(b'\n');
    fs::write(file, text).with_context(|| format!("{}: cannot be written", file.display()))
}
