//! Draws flame graphs of every count that changed into a run's folder, and adds their paths to its comparison.

use std::fs;
use std::path::{Component, Path};

use wirebench_present::report::flames;
use wirebench_record::comparison::{ComparedMetric, Comparison, Verdict};
use wirebench_record::run::{Run, Series, Variant};

/// Draws the graphs of the metrics that regressed or improved and whose stacks were kept. A graph that cannot be drawn
/// is left out with a warning: the verdict does not need it.
pub(crate) fn draw(run: &Run, comparison: &mut Comparison, folder: &Path) {
    for compared in &mut comparison.series {
        let Some(series) = run.series.iter().find(|series| series.id == compared.id) else {
            continue;
        };
        let changed = |metric: &&mut ComparedMetric| {
            metric.metric.is_counted() && matches!(metric.verdict, Verdict::Regressed | Verdict::Improved)
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
    let stacks = |variant| series.counts_of(variant)?.stacks.get(&metric.metric);
    let (baseline, candidate) = (stacks(Variant::Baseline)?, stacks(Variant::Candidate)?);
    let drawn = || {
        let (baseline, candidate) = (read(folder, baseline)?, read(folder, candidate)?);
        flames::write(folder, &series.id, metric.metric, &baseline, &candidate).map_err(|why| why.to_string())
    };
    Some(drawn().map(|drawn| drawn.difference))
}

/// A path in the run's folder. The record may have been edited, so paths that lead out of the folder are rejected.
fn read(folder: &Path, relative: &str) -> Result<String, String> {
    let inside = Path::new(relative)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !inside {
        return Err(format!("{relative}: is no path within the run's folder"));
    }
    fs::read_to_string(folder.join(relative)).map_err(|why| format!("{relative}: cannot be read: {why}"))
}
