//! Badges: the newest value of a series and how it stands, as shields.io's endpoint reads it, and the Markdown to copy.
//!
//! A site asks no other host for anything: a badge is drawn for whoever shows the Markdown elsewhere.

use askama::filters::urlencode_strict;
use serde::Serialize;

use crate::PresentError;
use crate::report::format::plural;
use crate::report::trend::open_regressions;
use crate::site::frame::Site;
use crate::site::gather::{Series, Source};
use crate::site::series_view::{color, verdict};
use crate::site::write::Writer;
use wirebench_history::standing::Standing;

/// The file of all series together.
const OVERALL: &str = "badges/overall.json";

/// What shields.io's endpoint reads: <https://shields.io/badges/endpoint-badge>.
#[derive(Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
struct Badge {
    schema_version: u8,
    label: String,
    message: String,
    color: &'static str,
}

impl Badge {
    fn new(site: &Site, label: &str, message: String, color: &'static str) -> Self {
        let made_up = if site.is_synthetic() { " (made up)" } else { "" };
        Self {
            schema_version: 1,
            label: label.to_owned(),
            message: message + made_up,
            color,
        }
    }
}

/// Writes a badge for each series, and one over all.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn write(writer: &mut Writer, site: &Site) -> Result<(), PresentError> {
    for series in site.sources.iter().flat_map(|source| &source.series) {
        if let Some(badge) = of_series(site, series) {
            writer.json(&file(series), &badge)?;
        }
    }
    writer.json(OVERALL, &overall(site))
}

fn file(series: &Series) -> String {
    format!("badges/{}.json", series.page)
}

/// The metric that the page of the series begins with: what gates of it.
fn of_series(site: &Site, series: &Series) -> Option<Badge> {
    let first = series.metrics.first()?;
    let standing = first.stands.standing;
    let message = format!("{}, {}", first.newest(), verdict(standing));
    let label = format!("{}: {}", series.name, first.label);
    Some(Badge::new(site, &label, message, color(standing)))
}

/// How many regressions are open, or that none is.
fn overall(site: &Site) -> Badge {
    let sources = site.sources;
    let count = |standing| sources.iter().map(|source| source.count(standing)).sum::<usize>();
    let judged: usize = sources.iter().map(Source::compared).sum();
    let open: usize = sources.iter().map(|source| source.open).sum();
    let (message, like) = match (open, count(Standing::Withheld)) {
        (0, _) if judged == 0 => ("nothing to compare yet".into(), Standing::Few),
        (0, 0) => (
            format!("no open regression in {}", plural(judged, "metric")),
            Standing::Noise,
        ),
        (0, withheld) => (
            format!("{withheld} of {} without a good value", plural(judged, "metric")),
            Standing::Withheld,
        ),
        (open, _) => (
            format!(
                "{} of {} worse, {}",
                count(Standing::Worse),
                plural(judged, "metric"),
                open_regressions(open)
            ),
            Standing::Worse,
        ),
    };
    Badge::new(site, &site.input.title, message, color(like))
}

/// What is copied into a README: a picture that links to the series, where it is known where the site is published; else
/// the badge's path on the site.
pub(super) fn markdown(site: &Site, series: &Series) -> String {
    let file = file(series);
    let Some(address) = site.input.repository.as_deref().and_then(published) else {
        return file;
    };
    let page = &series.page;
    let Ok(endpoint) = urlencode_strict(format!("{address}{file}"));
    format!("[![{page}](https://img.shields.io/endpoint?url={endpoint})]({address}series/{page}.html)")
}

/// Where GitHub Pages shows a repository's site.
pub(super) fn published(repository: &str) -> Option<String> {
    let (owner, name) = repository.split_once('/')?;
    let host = format!("{}.github.io", owner.to_ascii_lowercase());
    Some(match name.eq_ignore_ascii_case(&host) {
        true => format!("https://{host}/"),
        false => format!("https://{host}/{name}/"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_published_below_their_owner() {
        for (repository, address) in [
            ("Octo/weather", "https://octo.github.io/weather/"),
            ("octo/Octo.github.io", "https://octo.github.io/"),
        ] {
            assert_eq!(published(repository).as_deref(), Some(address));
        }
        assert_eq!(published("weather"), None);
    }

    #[test]
    fn an_address_becomes_one_value_of_a_query() {
        let Ok(escaped) = urlencode_strict("https://a.io/x y&z");
        assert_eq!(escaped.to_string(), "https%3A%2F%2Fa.io%2Fx%20y%26z");
    }
}
