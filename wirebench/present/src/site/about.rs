//! How to read the pages.

use askama::Template;

use crate::report::format::three_digits;
use crate::site::frame::{Frame, SitePage};
use wirebench_history::standing::{FEWEST_VALUES, STOPPED_AFTER};

pub(super) const PAGE: SitePage = SitePage::new("about.html", "About", render);

#[derive(Template)]
#[template(path = "about.html")]
struct Page<'a> {
    frame: Frame<'a>,
    smallest: String,
}

fn render(frame: Frame) -> Result<String, askama::Error> {
    let smallest = three_digits(frame.site.input.followed.trend.method.smallest_step_percent);
    Page { frame, smallest }.render()
}
