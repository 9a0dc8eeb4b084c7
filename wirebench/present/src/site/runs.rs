//! The files of each run: its page, the record, and its comparison.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

use crate::PresentError;
use crate::site::frame::{PagedRun, Site};
use crate::site::shown::is_id;
use crate::site::write::Writer;
use crate::site::{compare, run_page};
use wirebench_record::comparison::Comparison;

/// Writes the files of each run.
///
/// # Errors
/// When a page cannot be rendered, or a file cannot be written.
pub(super) fn write(writer: &mut Writer, site: &Site) -> Result<(), PresentError> {
    for paged in site.input.runs.iter().filter(|paged| is_id(&paged.run.id)) {
        let (id, comparison) = (&paged.run.id, paged.comparison.as_ref());
        let page = run_page::render(&paged.run, site, comparison.is_some());
        writer.page(&format!("run/{id}.html"), page)?;
        writer.json(&format!("data/runs/{id}.json"), &paged.run)?;
        if let Some(comparison) = comparison {
            let flames = flames(writer, paged, comparison)?;
            let page = compare::render(comparison, id, site, &flames);
            writer.page(&format!("compare/{id}.html"), page)?;
            writer.json(&format!("data/comparisons/{id}.json"), comparison)?;
        }
    }
    Ok(())
}

/// Copies the flame graphs that a comparison names from the run's folder; returns the path of each, from the page.
fn flames(
    writer: &mut Writer,
    paged: &PagedRun,
    comparison: &Comparison,
) -> Result<BTreeMap<String, String>, PresentError> {
    let mut copied = BTreeMap::new();
    let Some(folder) = &paged.folder else {
        return Ok(copied);
    };
    let metrics = comparison.series.iter().flat_map(|series| &series.metrics);
    for (number, named) in metrics.filter_map(|metric| metric.flame_graph.as_ref()).enumerate() {
        // A record may have been edited: only what lies in the run's folder is copied.
        let inside = Path::new(named)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if let Some(picture) = inside.then(|| fs::read(folder.join(named)).ok()).flatten() {
            let name = format!("compare/{}-{number}.svg", paged.run.id);
            writer.text(&name, &picture)?;
            copied.insert(named.clone(), format!("../{name}"));
        }
    }
    Ok(copied)
}
