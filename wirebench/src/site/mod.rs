//! A history → the dashboard: real pages with facts, tables and pictures in them, and the data from which their scripts draw.
//! Judges nothing: what is worse is the history's word, what a run compared is the comparison's.

mod about;
mod buckets;
mod changes;
mod columns;
mod compare;
mod encode;
mod frame;
mod gather;
mod head_to_head;
mod health;
mod names;
mod offered;
mod overview;
mod run_list;
mod run_page;
mod run_summary;
#[cfg(test)]
mod samples;
mod scale;
mod scripts;
mod series_page;
mod shown;
mod spark;
mod stills;
mod svg;
mod timeline;
mod trust;
#[cfg(test)]
mod well_formed;
mod words;
mod write;

pub use run_page::report;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;

use crate::history::follow::Followed;
use crate::record::comparison::Comparison;
use crate::record::history::Released;
use crate::record::run::Run;
use crate::record::site::{ColumnHead, MANIFEST, Manifest};
use crate::site::columns::{Named, column};
use crate::site::frame::{Place, Site};
use crate::site::gather::{Source, gather};
use crate::site::run_list::Listed;
use crate::site::run_summary::summary;
use crate::site::shown::is_id;
use crate::site::timeline::pushes;
use crate::site::write::Writer;

/// Why a site could not be built.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The folder holds something else.
    #[error("{}: is not empty and holds no dashboard (no data/manifest.json); give a new or empty folder", out.display())]
    NoSite {
        /// The folder.
        out: PathBuf,
    },
    /// A file or folder that cannot be written.
    #[error("{}: cannot be written: {source}", file.display())]
    Unwritable {
        /// The file or folder.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A page that cannot be made.
    #[error("{page}: cannot be made: {source}")]
    Page {
        /// The page.
        page: String,
        /// The template engine's reason.
        source: askama::Error,
    },
    /// The still pictures cannot be drawn.
    #[error("{0}")]
    Stills(String),
}

impl SiteError {
    fn unwritable(file: &Path, source: std::io::Error) -> Self {
        Self::Unwritable {
            file: file.to_path_buf(),
            source,
        }
    }
}

/// A run that gets a page.
#[derive(Debug)]
pub struct PagedRun {
    /// The record.
    pub run: Run,
    /// What it says of its baseline, when it measured one.
    pub comparison: Option<Comparison>,
    /// The run's own folder, where its flame graphs lie; none for a run of a history, which keeps none.
    pub folder: Option<PathBuf>,
}

/// What a site is built from.
#[derive(Debug)]
pub struct Input<'a> {
    /// The history, followed.
    pub followed: &'a Followed,
    /// The runs that get pages of their own, the newest last.
    pub runs: &'a [PagedRun],
    /// Commits that were released.
    pub releases: &'a [Released],
    /// The site's name.
    pub title: String,
    /// `owner/name` on GitHub.
    pub repository: Option<String>,
    /// When it is built.
    pub now: Timestamp,
    /// Commits after the newest run's that were not measured, where that is known.
    pub untested: Option<usize>,
    /// The gnuplot that draws the still pictures; without it there are none.
    pub gnuplot: Option<PathBuf>,
}

/// What was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Built {
    /// Pages of series.
    pub series: usize,
    /// Columns: metrics of series.
    pub columns: usize,
    /// Still pictures that were drawn; others were current.
    pub drawn: usize,
    /// Bytes written.
    pub bytes: u64,
}

/// Builds the site into `out`, over an earlier one if there is one.
///
/// # Errors
/// When the folder holds something else, or cannot be written; when gnuplot fails.
pub fn build(input: &Input, out: &Path) -> Result<Built, SiteError> {
    let mut writer = Writer::open(out)?;
    writer.assets()?;
    let sources = gather(input.followed, input.releases);
    let site = Site::of(input, &sources);
    let with_page: HashSet<&str> = input.runs.iter().map(|paged| paged.run.id.as_str()).collect();
    let mut heads = Vec::new();
    let mut series = 0;
    let drawn = stills::draw(&mut writer, input.gnuplot.as_deref(), &sources)?;
    for source in &sources {
        series += source.series.len();
        heads.extend(data(&mut writer, source, &with_page)?);
        for one in &source.series {
            let has_page = |run: &str| with_page.contains(run);
            let page = series_page::render(&site, source, one, input.gnuplot.is_some(), &has_page);
            put(&mut writer, &format!("series/{}.html", one.page), page)?;
        }
    }
    for paged in input.runs.iter().filter(|paged| is_id(&paged.run.id)) {
        run(&mut writer, &site, paged)?;
    }
    of_all_runs(&mut writer, &site, input)?;
    let noticed = changes::noticed(&site, &sources);
    let stale = site.stale(input, &sources);
    let skipped = &input.followed.trend.skipped;
    let frame = |title, place| site.frame(title, place);
    put(
        &mut writer,
        "index.html",
        overview::render(frame("Overview", Place::Overview), &sources, stale, skipped),
    )?;
    put(
        &mut writer,
        "changes.html",
        changes::render(frame("Changes", Place::Changes), &noticed),
    )?;
    put(&mut writer, "changes.xml", changes::feed(&site, &noticed))?;
    let model = input.followed.facts.synthetic.clone();
    let about = about::render(frame("About", Place::About), &input.followed.trend.method, model);
    put(&mut writer, "about.html", about)?;
    let columns = heads.len();
    let manifest = Manifest {
        schema: MANIFEST.into(),
        made_at: input.now.to_string(),
        wirebench: env!("CARGO_PKG_VERSION").into(),
        repository: site.repository.clone(),
        synthetic: site.synthetic,
        timelines: sources.iter().map(|source| source.timeline.clone()).collect(),
        columns: heads,
    };
    writer.json("data/manifest.json", &manifest)?;
    writer.sweep()?;
    Ok(Built {
        series,
        columns,
        drawn,
        bytes: writer.bytes,
    })
}

fn put(writer: &mut Writer, name: &str, page: Result<String, askama::Error>) -> Result<(), SiteError> {
    let page = page.map_err(|source| SiteError::Page {
        page: name.to_owned(),
        source,
    })?;
    writer.text(name, page.as_bytes())
}

/// Writes the pages that are of several runs.
fn of_all_runs(writer: &mut Writer, site: &Site, input: &Input) -> Result<(), SiteError> {
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
    let has_page = |id: &str| input.runs.iter().any(|paged| paged.run.id == id && is_id(id));
    put(writer, "run/index.html", run_list::render(&listed, site))?;
    put(writer, "compare/index.html", compare::choice::render(&listed, site))?;
    let head_to_head = head_to_head::render(runs.iter().copied(), site, &has_page);
    put(writer, "head-to-head.html", head_to_head)?;
    let health = health::render(&runs, &comparisons, Some(&input.followed.trend), site);
    put(writer, "health.html", health)
}

/// Writes what there is of a run: its page, the record, its rounds as a table, and its comparison.
fn run(writer: &mut Writer, site: &Site, paged: &PagedRun) -> Result<(), SiteError> {
    let (run, id) = (&paged.run, &paged.run.id);
    let page = run_page::render(run, site, paged.comparison.is_some());
    put(writer, &format!("run/{id}.html"), page)?;
    writer.json(&format!("data/runs/{id}.json"), run)?;
    writer.json(&format!("data/runs/{id}.summary.json"), &summary(run))?;
    writer.text(&format!("data/runs/{id}.csv"), run_page::csv(run).as_bytes())?;
    let Some(comparison) = &paged.comparison else {
        return Ok(());
    };
    let flames = flames(writer, paged, comparison)?;
    let page = compare::render(comparison, id, site, &flames);
    put(writer, &format!("compare/{id}.html"), page)?;
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

/// Writes the data of a source; gives what the manifest says of its columns.
fn data(writer: &mut Writer, source: &Source, with_page: &HashSet<&str>) -> Result<Vec<ColumnHead>, SiteError> {
    for (number, part) in pushes(source.line, with_page).iter().enumerate() {
        writer.json(&format!("data/pushes/{}.{number}.json", source.timeline.id), part)?;
    }
    let mut heads = Vec::new();
    for series in &source.series {
        for drawn in &series.metrics {
            let named = Named {
                server: series.server,
                label: drawn.label,
                timeline: &source.timeline.id,
                reference: drawn.reference.clone(),
            };
            let (column, points) = column(drawn.trace, drawn.values, named);
            writer.json(&format!("data/columns/{}.json", drawn.column), &column)?;
            if let Some(points) = points {
                writer.json(&format!("data/columns/{}.points.json", drawn.column), &points)?;
            }
            heads.push(ColumnHead {
                column: drawn.column.clone(),
                page: series.page.clone(),
                series: series.name.to_owned(),
                server: series.server.to_owned(),
                label: drawn.label.to_owned(),
                timeline: source.timeline.id.clone(),
                points: drawn.trace.points,
            });
        }
    }
    Ok(heads)
}
