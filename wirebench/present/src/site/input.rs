//! What a site is built from.

use std::path::PathBuf;

use jiff::Timestamp;

use wirebench_declare::claims::PublicComparison;
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

/// What a site is built from.
#[derive(Debug)]
pub struct Input<'a> {
    /// The history with every value.
    pub followed: &'a FollowedHistory,
    /// The runs that get pages of their own, the newest last.
    pub runs: &'a [PagedRun],
    /// The project's public comparisons, for the page "HTTP or gRPC?".
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
    /// How many commits after the newest run's commit were not measured, where that is known.
    pub untested: Option<usize>,
    /// Whether there are still pictures, for print and for readers without scripts.
    pub stills: bool,
}

impl Input<'_> {
    /// Every run that may have measured a public comparison.
    pub(super) fn measured(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().map(|paged| &paged.run).chain(self.claimed)
    }

    /// The comparisons of the runs that have one.
    pub(super) fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        self.runs.iter().filter_map(|paged| paged.comparison.as_ref())
    }
}
