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

/// Writes the files of each run. A run of a history never changes: its page is kept if the same program wrote it for the same
/// site.
///
/// # Errors
/// When a page cannot be rendered, or a file cannot be written.
pub(super) fn write(writer: &mut Writer, site: &Site) -> Result<(), PresentError> {
    let stamp = stamp(site);
    let same = fs::read(writer.path(STAMP)).is_ok_and(|before| before == stamp.as_bytes());
    for paged in site.input.runs.iter().filter(|paged| is_id(&paged.run.id)) {
        let names = names(&paged.run.id);
        let [page, record] = &names;
        let kept = same && paged.folder.is_none() && names.iter().all(|name| writer.path(name).is_file());
        if kept {
            names.iter().for_each(|name| writer.keep(name));
        } else {
            writer.page(page, run_page::render(&paged.run, site, paged.comparison.is_some()))?;
            writer.json(record, &paged.run)?;
        }
        if let Some(comparison) = &paged.comparison {
            write_comparison(writer, site, paged, comparison)?;
        }
    }
    writer.text(STAMP, stamp.as_bytes())
}

/// What pages of runs were made from, besides the runs.
const STAMP: &str = "run/made-from.txt";

/// What is the same on every page, and the build of the program: one with the same version may write other pages.
fn stamp(site: &Site) -> String {
    let program = std::env::current_exe().and_then(fs::metadata);
    let program = program.map(|program| (program.len(), program.modified().ok()));
    format!(
        "{} {:?} {} {:?} {:?} {program:?}\n",
        site.input.title,
        site.input.repository,
        site.is_synthetic(),
        site.nav,
        site.previews.site
    )
}

/// The files of a run: page and record.
fn names(id: &str) -> [String; 2] {
    [format!("run/{id}.html"), format!("data/runs/{id}.json")]
}

fn write_comparison(
    writer: &mut Writer,
    site: &Site,
    paged: &PagedRun,
    comparison: &Comparison,
) -> Result<(), PresentError> {
    let id = &paged.run.id;
    let flames = flames(writer, paged, comparison)?;
    let page = compare::render(comparison, id, site, &flames);
    writer.page(&format!("compare/{id}.html"), page)?;
    writer.json(&format!("data/comparisons/{id}.json"), comparison)
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
