//! Judges a run that has a baseline, and draws flame graphs of every count that changed, and of sampled time, into its folder.

use std::fs;
use std::path::Path;

use crate::folders::is_inside;
use crate::{comparisons, reports};
use wirebench_declare::Project;
use wirebench_judge::compare::{self, Rules};
use wirebench_present::report::flames;
use wirebench_record::comparison::{ComparedMetric, Comparison, Verdict};
use wirebench_record::run::{Run, Series, Variant};

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
    judge(run, &project.config, folder).map(Some)
}

/// Judges a run that has a baseline, and writes the comparison, its reports, and flame graphs of the counts that changed
/// into the run's folder.
///
/// # Errors
/// When the run has no baseline, or the folder cannot be written.
pub(crate) fn judge(run: &Run, rules: &Rules, folder: &Path) -> anyhow::Result<Comparison> {
    let mut comparison = compare::paired(run, rules).map_err(anyhow::Error::msg)?;
    draw_flames(run, &mut comparison, folder);
    comparisons::write(&comparison, &folder.join(comparisons::FILE))?;
    reports::write_comparison(run, &comparison, folder)?;
    Ok(comparison)
}

/// Draws the graphs of counts that regressed or improved, and of the timed metric that sampled functions explain, if their stacks were
/// kept. A graph that cannot be drawn is left out with a warning: the verdict does not need it.
fn draw_flames(run: &Run, comparison: &mut Comparison, folder: &Path) {
    for compared in &mut comparison.series {
        let Some(series) = run.series.iter().find(|series| series.id == compared.id) else {
            continue;
        };
        let functions = &compared.functions;
        // Sampled functions are listed for one timed metric.
        let changed = |metric: &&mut ComparedMetric| {
            if metric.metric.is_counted() {
                matches!(metric.verdict, Verdict::Regressed | Verdict::Improved)
            } else {
                functions.iter().any(|one| one.metric == metric.metric)
            }
        };
        for metric in compared.metrics.iter_mut().filter(changed) {
            match graph(series, metric, folder) {
                None => {}
                Some(Ok(path)) => metric.flame_graph = Some(path),
                Some(Err(why)) => {
                    let what = metric.metric.label();
                    log::warn!("warning: no flame graph of {what} on {}: {why}", series.id);
                }
            }
        }
    }
}

/// The path of the difference's picture, relative to the run's folder; `None` if no call stacks of that metric were
/// kept.
fn graph(series: &Series, metric: &ComparedMetric, folder: &Path) -> Option<Result<String, String>> {
    let stacks = |variant| series.stacks_of(variant, metric.metric);
    let (baseline, candidate) = (stacks(Variant::Baseline)?, stacks(Variant::Candidate)?);
    let drawn = || {
        let (baseline, candidate) = (read(folder, baseline)?, read(folder, candidate)?);
        flames::write(folder, &series.id, metric.metric, &baseline, &candidate).map_err(|why| why.to_string())
    };
    Some(drawn().map(|drawn| drawn.difference))
}

/// A path in the run's folder. The record may have been edited, so paths that lead out of the folder are rejected.
fn read(folder: &Path, relative: &str) -> Result<String, String> {
    if !is_inside(relative) {
        return Err(format!("{relative}: is no path within the run's folder"));
    }
    fs::read_to_string(folder.join(relative)).map_err(|why| format!("{relative}: cannot be read: {why}"))
}
