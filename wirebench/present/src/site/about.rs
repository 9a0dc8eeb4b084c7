//! How to read the pages.

use askama::Template;

use crate::report::format::three_digits;
use crate::site::frame::{Frame, SitePage};
use wirebench_history::standing::{FEWEST_VALUES, STOPPED_AFTER};
use wirebench_record::trend::TrendMethod;

pub(super) const PAGE: SitePage = SitePage::new("about.html", "About", render);

#[derive(Template)]
#[template(path = "about.html")]
struct Page<'a> {
    frame: Frame<'a>,
    method: &'a TrendMethod,
    smallest: String,
    synthetic: Option<&'a String>,
}

fn render(frame: Frame) -> Result<String, askama::Error> {
    let followed = frame.site.input.followed;
    let method = &followed.trend.method;
    Page {
        frame,
        method,
        smallest: three_digits(method.smallest_step_percent),
        synthetic: followed.facts.synthetic.as_ref(),
    }
    .render()
}
