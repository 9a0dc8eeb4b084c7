//! What was noticed and what was decided: every change point, as a page and as a feed.

use askama::Template;

use crate::report::cause::Moved;
use crate::report::percent::change;
use crate::report::trend::headline;
use crate::site::causes::{Cause, anchor};
use crate::site::frame::{Frame, Site};
use crate::site::gather::{Drawn, Series, Source};
use crate::site::shown::plural;
use crate::site::spark;
use crate::site::timeline::{day, seconds};
use crate::site::words::{changed, state, verdict};
use wirebench_history::follow::Line;
use wirebench_history::standing::{Change, Standing, taken_back};
use wirebench_record::metric::Metric;
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
    causes: &'a [Cause],
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
    /// Where its card is on the page.
    anchor: String,
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
    pub(super) series: String,
    pub(super) metric: Option<Metric>,
    pub(super) percent: f64,
    direction: Direction,
    /// Whether it is later than what the newest push is set against, in what can still be compared with it.
    pub(super) since: bool,
    /// Its size alone.
    pub(super) size: String,
    /// The course of its metric around it.
    pub(super) spark: String,
    pub(super) label: String,
    pub(super) href: String,
    pub(super) change: String,
    pub(super) after: String,
    pub(super) up_to: String,
    pub(super) url: Option<String>,
    pub(super) day: String,
    pub(super) status: &'static str,
    pub(super) note: String,
    time: i64,
}

/// Every change point of a source, the newest first.
pub(super) fn all_of(site: &Site, source: &Source) -> Vec<Noticed> {
    let of = |series: &Series| of_all(site, source, series);
    newest_first(source.series.iter().flat_map(of).collect())
}

/// The change points of one series, the newest first.
pub(super) fn of_series(site: &Site, source: &Source, series: &Series) -> Vec<Noticed> {
    newest_first(of_all(site, source, series))
}

fn of_all(site: &Site, source: &Source, series: &Series) -> Vec<Noticed> {
    let mut found = Vec::new();
    for drawn in &series.metrics {
        let all = drawn.trace.segments.iter().zip(&drawn.values.segments).enumerate();
        for (number, (segment, places)) in all {
            let current = number + 1 == drawn.trace.segments.len();
            let steps = segment.change_points.iter().zip(&places.steps);
            found.extend(steps.map(|(point, at)| {
                let since = current && at.first_after > source.mark.at;
                let noticed = one(site, source.line, series, drawn, (segment, point), current);
                let spark = spark::around(drawn.judged(), (places.first, at.first_after, places.last));
                Noticed {
                    since,
                    spark,
                    ..noticed
                }
            }));
        }
    }
    found
}

impl Noticed {
    /// What is told of it in one sentence with others.
    pub(super) fn moved(&self) -> Moved<'_> {
        Moved {
            series: &self.series,
            metric: self.metric,
            percent: self.percent,
            direction: self.direction,
        }
    }

    /// What is open first, then what is worse, then the largest.
    #[expect(clippy::cast_possible_truncation, reason = "bounded")]
    pub(super) fn rank(&self) -> (bool, bool, i64) {
        let size = (self.percent.abs() * 100.0).clamp(0.0, 1e12) as i64;
        (self.status != "open", self.state != "worse", -size)
    }
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
        metric: drawn.trace.metric,
        percent: point.change_percent,
        direction: point.direction,
        since: false,
        size: change(point.change_percent),
        spark: String::new(),
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
pub(super) fn render(frame: Frame, causes: &[Cause]) -> Result<String, askama::Error> {
    let of = |status: &str| causes.iter().filter(|cause| cause.status == status).count();
    let lead = if causes.is_empty() {
        "No series has stepped yet.".to_owned()
    } else {
        let metrics: usize = causes.iter().map(|cause| cause.rows.len()).sum();
        let parts = [
            ("open", "still worse"),
            ("accepted", "accepted"),
            ("fixed", "fixed"),
            ("better", "for the better"),
        ];
        let parts = parts.into_iter().filter(|(status, _)| of(status) > 0);
        let parts: Vec<String> = parts.map(|(status, word)| format!("{} {word}", of(status))).collect();
        let moved = if metrics == 1 {
            "moved 1 metric".to_owned()
        } else {
            format!("moved {metrics} metrics")
        };
        let rest = if parts.is_empty() {
            String::new()
        } else {
            format!(": {}", parts.join(", "))
        };
        format!("{} {moved}{rest}.", plural(causes.len(), "change"))
    };
    Page { frame, lead, causes }.render()
}

/// The newest pushes at which something stepped as an Atom feed: one entry for each, with all its series.
///
/// # Errors
/// When the template cannot be written out.
pub(super) fn feed(site: &Site, sources: &[Source], groups: &[Group]) -> Result<String, askama::Error> {
    let mut newest: Vec<&Group> = groups.iter().collect();
    newest.sort_by_key(|group| std::cmp::Reverse(seconds(&group.first_after).unwrap_or(0)));
    newest.truncate(IN_FEED);
    let entries: Vec<Entry> = newest.into_iter().map(|group| entry(sources, group)).collect();
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

fn entry(sources: &[Source], group: &Group) -> Entry {
    let up_to = short_commit(&group.first_after.commit).to_owned();
    let time = seconds(&group.first_after).unwrap_or(0);
    let sizes = group.steps.iter().take(IN_ENTRY).map(|step| {
        let metric = step
            .metric
            .map_or_else(String::new, |metric| format!(" {}", metric.label()));
        format!("{}{metric} {}", step.series, change(step.change_percent))
    });
    let more = group.steps.len().saturating_sub(IN_ENTRY);
    let source = sources.iter().find(|source| source.line.source == group.source);
    let who = [&group.first_after.message, &group.first_after.author];
    let who: Vec<&str> = who.into_iter().flatten().map(String::as_str).collect();
    Entry {
        anchor: source.map_or_else(String::new, |source| anchor(&source.timeline.id, &up_to)),
        title: headline(group),
        source: group.source.clone(),
        at: jiff::Timestamp::from_second(time)
            .map(|time| time.to_string())
            .unwrap_or_default(),
        content: format!(
            "After {} up to {up_to} ({}{}): {}{}.",
            short_commit(&group.last_before.commit),
            day(&group.first_after),
            if who.is_empty() {
                String::new()
            } else {
                format!(", {}", who.join(", "))
            },
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
