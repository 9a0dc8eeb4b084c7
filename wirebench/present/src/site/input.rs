//! What a site is built from.

use std::path::PathBuf;

use jiff::Timestamp;

use wirebench_history::follow::FollowedHistory;
use wirebench_record::comparison::Comparison;
use wirebench_record::history::Released;
use wirebench_record::run::Run;

/// A run that gets a page.
#[derive(Debug)]
pub struct PagedRun {
    /// The record.
    pub run: Run,
    /// Its comparison with its baseline, if it measured one.
    pub comparison: Option<Comparison>,
    /// The run's own folder, which holds its flame graphs; `None` for a run of a history, which keeps none.
    pub folder: Option<PathBuf>,
}

/// A page that was made elsewhere and gets the site's frame and an entry in its navigation.
#[derive(Debug)]
pub struct MorePage {
    /// Its title.
    pub title: String,
    /// Its file, at the site's root.
    pub path: String,
    /// Its content: HTML of the author's own, not changed.
    pub html: String,
}

/// What a site is built from.
#[derive(Debug)]
pub struct Input<'a> {
    /// The history with every value.
    pub followed: &'a FollowedHistory,
    /// The runs that get pages of their own, the newest last.
    pub runs: &'a [PagedRun],
    /// Pages that were made elsewhere.
    pub more: &'a [MorePage],
    /// Commits that were released.
    pub releases: &'a [Released],
    /// The site's name.
    pub title: String,
    /// `owner/name` on GitHub.
    pub repository: Option<String>,
    /// When it is built.
    pub now: Timestamp,
    /// How many commits after the newest run's commit were not measured, where that is known.
    pub untested: Option<usize>,
    /// gnuplot, which draws the pictures of pasted links; without it the pages name none.
    pub gnuplot: Option<PathBuf>,
}

impl Input<'_> {
    /// The comparisons of the runs that have one.
    pub(super) fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        self.runs.iter().filter_map(|paged| paged.comparison.as_ref())
    }
}
