//! Judges a run that has a baseline.

use std::path::Path;

use crate::{comparisons, flames, reports};
use wirebench_declare::Project;
use wirebench_judge::compare::{self, Rules};
use wirebench_record::comparison::Comparison;
use wirebench_record::run::{Run, Variant};

/// Writes a run's reports into its folder. Where there is a baseline, judges the run, and writes the comparison and its
/// reports too.
///
/// # Errors
/// When the folder cannot be written.
pub(crate) fn judge_and_report(project: &Project, run: &Run, folder: &Path) -> anyhow::Result<Option<Comparison>> {
    reports::write(&project.root, run, folder)?;
    if run.variants.iter().all(|one| one.variant != Variant::Baseline) {
        return Ok(None);
    }
    judge(run, &Rules::from(&project.config), folder).map(Some)
}

/// Judges a run that has a baseline, and writes the comparison, its reports, and flame graphs of the counts that changed
/// into the run's folder.
///
/// # Errors
/// When the run has no baseline, or the folder cannot be written.
pub(crate) fn judge(run: &Run, rules: &Rules, folder: &Path) -> anyhow::Result<Comparison> {
    let mut comparison = compare::paired(run, rules).map_err(anyhow::Error::msg)?;
    flames::draw(run, &mut comparison, folder);
    comparisons::write(&comparison, &folder.join(comparisons::FILE))?;
    reports::write_comparison(run, &comparison, folder)?;
    Ok(comparison)
}
