//! A page that a site has once: its file, its name in the navigation, and how it is rendered.

use std::collections::HashSet;
use std::path::PathBuf;

use askama::Template;
use jiff::Timestamp;

use crate::site::frame::{Frame, Site};
use crate::site::gather::Source;
use wirebench_history::follow::FollowedHistory;
use wirebench_record::comparison::Comparison;
use wirebench_record::history::Released;
use wirebench_record::run::Run;

/// A page that a site has once. `site::PAGES` lists them all.
#[derive(Clone, Copy)]
pub(crate) struct SitePage {
    /// Its file, from the site's root.
    pub(super) path: &'static str,
    /// Its title, and its name in the navigation.
    pub(super) title: &'static str,
    /// Whether it is in the navigation.
    pub(super) in_nav: bool,
    /// Whether a site of this input has the page.
    pub(super) applies: fn(&Input, &[Source]) -> bool,
    /// Renders it into the frame, which has its title.
    pub(super) render: Render,
}

/// Content that was made elsewhere, in the frame of the site.
#[derive(Template)]
#[template(
    source = "{% extends \"base.html\" %}{% block content %}{{ html|safe }}{% endblock %}",
    ext = "html"
)]
pub(super) struct Framed<'a> {
    pub(super) frame: Frame,
    pub(super) html: &'a str,
}

type Render = fn(Frame, &Context) -> Result<String, askama::Error>;

impl SitePage {
    /// A page in the navigation that every site has.
    pub(super) const fn new(path: &'static str, title: &'static str, render: Render) -> Self {
        Self {
            path,
            title,
            in_nav: true,
            applies: |_, _| true,
            render,
        }
    }

    /// The frame of this page.
    pub(super) fn frame(&self, site: &Site) -> Frame {
        if self.path.contains('/') {
            site.frame_below(self.title, self.path)
        } else {
            site.frame(self.title, self.path)
        }
    }
}

/// What a page is rendered from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) site: &'a Site,
    pub(super) sources: &'a [Source<'a>],
    /// Ids of the runs that have a page.
    pub(super) with_page: &'a HashSet<&'a str>,
}

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
