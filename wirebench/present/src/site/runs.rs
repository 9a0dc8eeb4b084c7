//! The pages of runs: one each, and those that are of several.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Component, Path};

use crate::site::frame::Site;
use crate::site::gather::Source;
use crate::site::run_list::Listed;
use crate::site::run_summary::summary;
use crate::site::shown::is_id;
use crate::site::write::Writer;
use crate::site::{
    Input, PagedRun, SiteError, compare, comparisons as published, head_to_head, health, run_list, run_page,
};
use wirebench_record::comparison::Comparison;
use wirebench_record::run::Run;

/// Writes the pages that are of several runs; `with_page` are those that have one of their own.
pub(super) fn of_all(
    writer: &mut Writer,
    site: &Site,
    (input, sources): (&Input, &[Source]),
    with_page: &HashSet<&str>,
) -> Result<(), SiteError> {
    let listed = input
        .runs
        .iter()
        .filter_map(|paged| Listed::of(&paged.run, paged.comparison.as_ref(), site));
    let listed: Vec<Listed> = listed.collect();
    let runs: Vec<&Run> = input.runs.iter().map(|paged| &paged.run).collect();
    let comparisons: Vec<&Comparison> = input
        .runs
        .iter()
        .filter_map(|paged| paged.comparison.as_ref())
        .collect();
    let has_page = |id: &str| with_page.contains(id);
    if site.runs {
        writer.page("run/index.html", run_list::render(&listed, site))?;
        writer.page("compare/index.html", compare::choice::render(&listed, site))?;
        let head_to_head = head_to_head::render(runs.iter().copied(), site, &has_page);
        writer.page("head-to-head.html", head_to_head)?;
    }
    let measured: Vec<&Run> = input.measured().collect();
    if let Some(page) = published::render(input.claims, &measured, site, &has_page) {
        writer.page("comparisons.html", page)?;
    }
    let health = health::render(&runs, &comparisons, (Some(&input.followed.trend), sources), site);
    writer.page("health.html", health)
}

/// Writes what there is of each run: its page, the record, its rounds as a table, and its comparison. A run of a history never
/// changes, so that its page is kept when the same program made it for the same site.
pub(super) fn each(writer: &mut Writer, site: &Site, runs: &[PagedRun]) -> Result<(), SiteError> {
    let stamp = stamp(site);
    let same = fs::read(writer.path(STAMP)).is_ok_and(|before| before == stamp.as_bytes());
    for paged in runs.iter().filter(|paged| is_id(&paged.run.id)) {
        let names = names(&paged.run.id);
        let kept = same && paged.folder.is_none() && names.iter().all(|name| writer.path(name).is_file());
        if kept {
            names.iter().for_each(|name| writer.keep(name));
        } else {
            one(writer, site, paged, &names)?;
        }
        compared(writer, site, paged)?;
    }
    writer.text(STAMP, stamp.as_bytes())
}

/// What pages of runs were made from, besides the runs.
const STAMP: &str = "run/made-from.txt";

/// The site, and which build of the program: one with the same version may write other pages.
fn stamp(site: &Site) -> String {
    let program = std::env::current_exe().and_then(fs::metadata);
    let program = program.map(|program| (program.len(), program.modified().ok()));
    format!(
        "{} {:?} {} {} {program:?}\n",
        site.name, site.repository, site.synthetic, site.comparisons
    )
}

/// The files of a run: page, record, medians, rounds.
fn names(id: &str) -> [String; 4] {
    [
        format!("run/{id}.html"),
        format!("data/runs/{id}.json"),
        format!("data/runs/{id}.summary.json"),
        format!("data/runs/{id}.csv"),
    ]
}

fn one(writer: &mut Writer, site: &Site, paged: &PagedRun, names: &[String; 4]) -> Result<(), SiteError> {
    let run = &paged.run;
    let [page, record, medians, rounds] = names;
    writer.page(page, run_page::render(run, site, paged.comparison.is_some()))?;
    writer.json(record, run)?;
    writer.json(medians, &summary(run))?;
    writer.text(rounds, run_page::csv(run).as_bytes())
}

fn compared(writer: &mut Writer, site: &Site, paged: &PagedRun) -> Result<(), SiteError> {
    let id = &paged.run.id;
    let Some(comparison) = &paged.comparison else {
        return Ok(());
    };
    let flames = flames(writer, paged, comparison)?;
    let page = compare::render(comparison, id, site, &flames);
    writer.page(&format!("compare/{id}.html"), page)?;
    writer.json(&format!("data/comparisons/{id}.json"), comparison)
}

/// Copies the flame graphs that a comparison names and the run's folder holds; gives where each one is, from the page.
fn flames(
    writer: &mut Writer,
    paged: &PagedRun,
    comparison: &Comparison,
) -> Result<BTreeMap<String, String>, SiteError> {
    let mut found = BTreeMap::new();
    let Some(folder) = &paged.folder else {
        return Ok(found);
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
            found.insert(named.clone(), format!("../{name}"));
        }
    }
    Ok(found)
}
