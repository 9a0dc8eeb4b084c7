//! How to read the pages.

use askama::Template;

use crate::report::format::three_digits;
use crate::site::frame::Frame;
use wirebench_history::standing::{ENDED_AFTER, FEWEST};
use wirebench_record::trend::TrendMethod;

#[derive(Template)]
#[template(path = "about.html")]
struct Page {
    frame: Frame,
    window: usize,
    least_after: usize,
    p: String,
    smallest: String,
    fewest: usize,
    ended: usize,
    synthetic: Option<String>,
}

/// The page.
///
/// # Errors
/// When the template cannot be written out.
pub(super) fn render(frame: Frame, method: &TrendMethod, synthetic: Option<String>) -> Result<String, askama::Error> {
    let page = Page {
        frame,
        window: method.window,
        least_after: method.least_after,
        p: method.p.to_string(),
        smallest: three_digits(method.smallest_step_percent),
        fewest: FEWEST,
        ended: ENDED_AFTER,
        synthetic,
    };
    page.render()
}
