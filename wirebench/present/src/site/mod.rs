//! A history → the dashboard: real pages with facts, tables and pictures in them, and the data from which their scripts draw.
//! Judges nothing: what is worse is the history's word, what a run compared is the comparison's.

mod about;
mod badges;
mod buckets;
mod causes;
mod changes;
mod columns;
mod compare;
mod comparisons;
mod encode;
mod frame;
mod gather;
mod head_to_head;
mod health;
mod matrix;
#[cfg(test)]
mod metrics_tests;
mod names;
mod offered;
mod overview;
mod run_list;
mod run_page;
mod run_summary;
mod runs;
#[cfg(test)]
mod samples;
mod scale;
mod scripts;
mod series;
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

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::site::frame::{Place, Site};
use crate::site::gather::gather;
use crate::site::shown::is_id;
use crate::site::write::Writer;
use wirebench_declare::claims::PublicComparison;
use wirebench_history::follow::Followed;
use wirebench_record::comparison::Comparison;
use wirebench_record::history::Released;
use wirebench_record::run::Run;
use wirebench_record::site::{MANIFEST, Manifest};

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
    #[error("{}: cannot be written", file.display())]
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
    /// Public comparisons of the project, for the page that says what came of them.
    pub claims: &'a [PublicComparison],
    /// Further runs for that page; they get no pages of their own.
    pub claimed: &'a [Run],
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

impl Input<'_> {
    /// Every run that may have measured a public comparison.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().map(|paged| &paged.run).chain(self.claimed)
    }
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
    let ids = input.runs.iter().map(|paged| paged.run.id.as_str());
    let with_page: HashSet<&str> = ids.filter(|id| is_id(id)).collect();
    let drawn = stills::draw(&mut writer, input.gnuplot.as_deref(), &sources)?;
    let mut heads = Vec::new();
    for source in &sources {
        heads.extend(series::write(
            &mut writer,
            &site,
            source,
            input.gnuplot.is_some(),
            &with_page,
        )?);
    }
    runs::each(&mut writer, &site, input.runs)?;
    runs::of_all(&mut writer, &site, (input, &sources), &with_page)?;
    badges::write(&mut writer, &site, &sources)?;
    let groups = &input.followed.trend.groups;
    let causes = causes::causes(&site, &sources, groups, &|_| true);
    let stale = site.stale(input);
    let skipped = &input.followed.trend.skipped;
    let frame = |title, place| site.frame(title, place);
    writer.page(
        "index.html",
        overview::render(
            frame("Overview", Place::Overview),
            (&site, &sources, groups),
            stale,
            skipped,
        ),
    )?;
    writer.page(
        "changes.html",
        changes::render(frame("Changes", Place::Changes), &causes),
    )?;
    writer.page("changes.xml", changes::feed(&site, &sources, groups))?;
    let model = input.followed.facts.synthetic.clone();
    let about = about::render(frame("About", Place::About), &input.followed.trend.method, model);
    writer.page("about.html", about)?;
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
    writer.finish()?;
    Ok(Built {
        series: sources.iter().map(|source| source.series.len()).sum(),
        columns,
        drawn,
        bytes: writer.bytes,
    })
}
