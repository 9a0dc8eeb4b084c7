//! The first page: is anything worse right now?

use askama::Template;

use crate::site::frame::Frame;
use crate::site::gather::{Drawn, Series, Source};
use crate::site::spark;
use crate::site::words::{changed, remark, seen, sentence, state, verdict};
use wirebench_history::standing::Standing;

#[derive(Template)]
#[template(path = "overview.html")]
struct Page {
    frame: Frame,
    /// Why the newest run may be too old to go by.
    stale: Option<String>,
    sources: Vec<Part>,
    /// Files of the history that were left out, and why.
    skipped: Vec<String>,
}

struct Part {
    id: String,
    name: String,
    sentence: String,
    since: String,
    rows: Vec<Line>,
}

struct Line {
    state: &'static str,
    verdict: &'static str,
    series: String,
    href: String,
    label: String,
    value: String,
    change: String,
    remark: String,
    spark: String,
    seen: String,
    order: (Standing, i64),
}

/// The page.
///
/// # Errors
/// When the template cannot be written out.
pub(super) fn render(
    frame: Frame,
    sources: &[Source],
    stale: Option<String>,
    skipped: &[String],
) -> Result<String, askama::Error> {
    let page = Page {
        frame,
        stale,
        sources: sources.iter().map(part).collect(),
        skipped: skipped.to_vec(),
    };
    page.render()
}

fn part(source: &Source) -> Part {
    let rows = source.series.iter();
    let mut rows: Vec<Line> = rows
        .flat_map(|series| series.metrics.iter().map(move |drawn| line(series, drawn)))
        .collect();
    rows.sort_by_key(|row| row.order);
    Part {
        id: source.timeline.id.clone(),
        name: source.timeline.name.clone(),
        sentence: sentence(source),
        since: source.mark.name.clone(),
        rows,
    }
}

fn line(series: &Series, drawn: &Drawn) -> Line {
    let size = drawn.stands.change.map_or(0.0, |change| change.percent.abs());
    Line {
        state: state(drawn.stands.standing),
        verdict: verdict(drawn.stands.standing),
        series: series.name.to_owned(),
        href: format!("series/{}.html?metric={}", series.page, drawn.word),
        label: drawn.label.to_owned(),
        value: drawn.newest(),
        change: changed(drawn.stands.change),
        // What is said of all of them once need not be said in every row.
        remark: match drawn.stands.standing {
            Standing::Few => String::new(),
            _ => remark(drawn),
        },
        spark: spark::path(drawn.judged()),
        seen: seen(drawn),
        order: (drawn.stands.standing, -hundredths(size)),
    }
}

/// The largest change first among those that stand alike.
#[expect(clippy::cast_possible_truncation, reason = "bounded")]
fn hundredths(percent: f64) -> i64 {
    (percent * 100.0).clamp(0.0, 1e12) as i64
}
