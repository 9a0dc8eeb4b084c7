//! A page that a site has once: its file, its name in the navigation, and how it is rendered.

use std::collections::HashSet;

use askama::Template;

use crate::site::frame::{Frame, Site};
use crate::site::gather::Source;
use crate::site::input::Input;

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
