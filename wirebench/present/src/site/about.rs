//! How to read the pages.

use askama::Template;

use crate::report::format::three_digits;
use crate::site::frame::{Context, Frame, SitePage};
use wirebench_history::standing::{FEWEST_VALUES, STOPPED_AFTER};

pub(super) const PAGE: SitePage = SitePage::new("about.html", "About", render);

#[derive(Template)]
#[template(path = "about.html")]
struct Page {
    frame: Frame,
    window: usize,
    least_after: usize,
    p: String,
    smallest: String,
    fewest: usize,
    stopped: usize,
    synthetic: Option<String>,
}

fn render(frame: Frame, context: &Context) -> Result<String, askama::Error> {
    let followed = context.input.followed;
    let method = &followed.trend.method;
    Page {
        frame,
        window: method.window,
        least_after: method.least_after,
        p: method.p.to_string(),
        smallest: three_digits(method.smallest_step_percent),
        fewest: FEWEST_VALUES,
        stopped: STOPPED_AFTER,
        synthetic: followed.facts.synthetic.clone(),
    }
    .render()
}
