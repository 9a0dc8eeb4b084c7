//! How to read the pages.

use askama::Template;

use crate::site::frame::{Frame, SitePage};
use wirebench_history::standing::{FEWEST_VALUES, STOPPED_AFTER};

pub(super) const PAGE: SitePage = SitePage::new("about.html", "About", |frame| Page { frame }.render());

#[derive(Template)]
#[template(path = "about.html")]
struct Page<'a> {
    frame: Frame<'a>,
}
