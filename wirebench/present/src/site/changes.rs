//! What was noticed and what was decided: every change point, as a page and as a feed.

use askama::Template;

use crate::report::comparison::words::change;
use crate::report::trend::headline;
use crate::site::frame::{Frame, Site};
use crate::site::gather::{Drawn, Series, Source};
use crate::site::shown::plural;
use crate::site::timeline::{day, seconds};
use crate::site::words::{changed, state, verdict};
use wirebench_history::follow::Line;
use wirebench_history::standing::{Change, Standing, taken_back};
use wirebench_record::run::short_commit;
use wirebench_record::trend::{ChangePoint, Direction, Group, Segment};

/// Entries of the feed.
const IN_FEED: usize = 50;
/// Series that an entry names.
const IN_ENTRY: usize = 20;

#[derive(Template)]
#[template(path = "changes.html")]
struct Page<'a> {
    frame: Frame,
    lead: String,
    rows: &'a [Noticed],
}

#[derive(Template)]
#[template(path = "changes.xml")]
struct Feed<'a> {
    title: String,
    id: String,
    updated: String,
    entries: &'a [Entry],
}

/// A push at which something stepped, for the feed.
struct Entry {
    title: String,
    source: String,
    up_to: String,
    /// RFC 3339.
    at: String,
    content: String,
}

/// A change point as it is shown.
#[derive(Debug, Clone)]
pub(super) struct Noticed {
    pub(super) state: &'static str,
    pub(super) word: &'static str,
    series: String,
    pub(super) label: String,
    href: String,
    pub(super) change: String,
    pub(super) after: String,
    pub(super) up_to: String,
    pub(super) url: Option<String>,
    pub(super) day: String,
    pub(super) status: &'static str,
    pub(super) note: String,
    time: i64,
}

/// Every change point, the newest first.
pub(super) fn noticed(site: &Site, sources: &[Source]) -> Vec<Noticed> {
    let all = |source| {
        let of = move |source: &Source, series: &Series| of_all(site, source.line, series);
        let source: &Source = source;
        source
            .series
            .iter()
            .flat_map(move |series| of(source, series))
            .collect::<Vec<_>>()
    };
    newest_first(sources.iter().flat_map(all).collect())
}

/// The change points of one series, the newest first.
pub(super) fn of_series(site: &Site, line: &Line, series: &Series) -> Vec<Noticed> {
    newest_first(of_all(site, line, series))
}

fn of_all(site: &Site, line: &Line, series: &Series) -> Vec<Noticed> {
    let mut found = Vec::new();
    for drawn in &series.metrics {
        for (number, segment) in drawn.trace.segments.iter().enumerate() {
            let current = number + 1 == drawn.trace.segments.len();
            let points = segment.change_points.iter();
            found.extend(points.map(|point| one(site, line, series, drawn, (segment, point), current)));
        }
    }
    found
}

fn newest_first(mut found: Vec<Noticed>) -> Vec<Noticed> {
    found.sort_by_key(|noticed| std::cmp::Reverse(noticed.time));
    found
}

fn one(
    site: &Site,
    line: &Line,
    series: &Series,
    drawn: &Drawn,
    (segment, point): (&Segment, &ChangePoint),
    current: bool,
) -> Noticed {
    let standing = match point.direction {
        Direction::Better => Standing::Better,
        Direction::Worse => Standing::Worse,
        Direction::Unknown => Standing::Changed,
    };
    let (status, note) = status(segment, point, current);
    let short = |commit: &str| short_commit(commit).to_owned();
    let time = seconds(&point.first_after).unwrap_or(0);
    let (after, up_to) = (short(&point.last_before.commit), short(&point.first_after.commit));
    Noticed {
        state: state(standing),
        word: verdict(standing),
        series: series.name.to_owned(),
        label: drawn.label.to_owned(),
        href: format!("series/{}.html?metric={}&pin={up_to}", series.page, drawn.word),
        change: changed(Some(Change {
            percent: point.change_percent,
            low: point.low_percent,
            high: point.high_percent,
        })),
        url: site.range_url(line, &point.last_before.commit, &point.first_after.commit),
        day: day(&point.first_after).to_owned(),
        after,
        up_to,
        status,
        note,
        time,
    }
}

/// What became of a change point, and what else to know of it.
fn status(segment: &Segment, point: &ChangePoint, current: bool) -> (&'static str, String) {
    if let Some(reason) = &point.not_code {
        return ("machine", reason.clone());
    }
    if let Some(reason) = &point.accepted {
        return ("accepted", reason.clone());
    }
    match point.direction {
        Direction::Better => ("better", String::new()),
        Direction::Unknown => ("unknown", "nothing says which way is better".into()),
        Direction::Worse if taken_back(segment, point) => ("fixed", "a later step took it back".into()),
        Direction::Worse if !current => ("past", "machine, question or reference changed since".into()),
        Direction::Worse => ("open", String::new()),
    }
}

/// The page.
///
/// # Errors
/// When the template cannot be written out.
pub(super) fn render(frame: Frame, rows: &[Noticed]) -> Result<String, askama::Error> {
    let of = |status| rows.iter().filter(|row| row.status == status).count();
    let lead = if rows.is_empty() {
        "No series has stepped yet.".to_owned()
    } else {
        format!(
            "{} noticed: {} open, {} accepted, {} fixed, {} for the better.",
            plural(rows.len(), "change"),
            of("open"),
            of("accepted"),
            of("fixed"),
            of("better")
        )
    };
    Page { frame, lead, rows }.render()
}

/// The newest pushes at which something stepped as an Atom feed: one entry for each, with all its series.
///
/// # Errors
/// When the template cannot be written out.
pub(super) fn feed(site: &Site, groups: &[Group]) -> Result<String, askama::Error> {
    let mut newest: Vec<&Group> = groups.iter().collect();
    newest.sort_by_key(|group| std::cmp::Reverse(seconds(&group.first_after).unwrap_or(0)));
    newest.truncate(IN_FEED);
    let entries: Vec<Entry> = newest.into_iter().map(entry).collect();
    let feed = Feed {
        title: format!("{}: changes", site.name),
        id: site.repository.clone().unwrap_or_else(|| "history".into()),
        updated: entries
            .first()
            .map_or("1970-01-01T00:00:00Z", |entry| entry.at.as_str())
            .to_owned(),
        entries: &entries,
    };
    feed.render()
}

fn entry(group: &Group) -> Entry {
    let up_to = short_commit(&group.first_after.commit).to_owned();
    let time = seconds(&group.first_after).unwrap_or(0);
    let sizes = group.steps.iter().take(IN_ENTRY).map(|step| {
        let metric = step
            .metric
            .map_or_else(String::new, |metric| format!(" {}", metric.label()));
        format!("{}{metric} {}", step.series, change(step.change_percent))
    });
    let more = group.steps.len().saturating_sub(IN_ENTRY);
    Entry {
        title: headline(group),
        source: group.source.clone(),
        at: jiff::Timestamp::from_second(time)
            .map(|time| time.to_string())
            .unwrap_or_default(),
        content: format!(
            "After {} up to {up_to} ({}): {}{}.",
            short_commit(&group.last_before.commit),
            day(&group.first_after),
            sizes.collect::<Vec<_>>().join("; "),
            if more > 0 {
                format!("; {more} more")
            } else {
                String::new()
            }
        ),
        up_to,
    }
}
