//! What was noticed and what was decided: every change point by its cause, as a page and as a feed.

use askama::Template;

use crate::report::format::{change, plural};
use crate::report::trend::open_regressions;
use crate::site::causes::{Cause, anchor, causes};
use crate::site::frame::{Frame, Input, Site, SitePage};
use crate::site::gather::{Source, day, seconds};
use wirebench_record::run::short_commit;
use wirebench_record::trend::Group;

pub(super) const PAGE: SitePage = SitePage::new("changes.html", "Changes", render);

/// The newest pushes at which something stepped as an Atom feed: one entry for each, with all its series.
pub(super) const FEED: SitePage = SitePage {
    in_nav: false,
    ..SitePage::new("changes.xml", "Changes", |frame| feed(frame.site))
};

/// Entries of the feed, besides open regressions.
const IN_FEED: usize = 50;
/// Series that an entry names.
const IN_ENTRY: usize = 20;
/// Every status of a cause but "open", with its words.
const STATUSES: [(&str, &str); 5] = [
    ("accepted", "accepted"),
    ("fixed", "fixed"),
    ("better", "for the better"),
    ("unknown", "of unknown direction"),
    ("machine", "of the machine"),
];

#[derive(Template)]
#[template(path = "changes.html")]
struct Page<'a> {
    frame: Frame<'a>,
    /// How many regressions are open, and since when.
    headline: String,
    class: &'static str,
    causes: Vec<Cause<'a>>,
}

/// The changes of one month, folded unless it is the newest or one of them is open.
struct Month<'a> {
    /// `November 2026`.
    name: String,
    is_open: bool,
    /// How many changes there are, and what became of them.
    summary: String,
    causes: &'a [Cause<'a>],
}

#[derive(Template)]
#[template(path = "changes.xml")]
struct Feed<'a> {
    input: &'a Input<'a>,
    /// How many regressions are open.
    subtitle: String,
    updated: &'a str,
    entries: &'a [Entry<'a>],
}

/// A push at which something stepped, for the feed.
struct Entry<'a> {
    group: &'a Group,
    /// Where its card is on the page.
    anchor: String,
    /// RFC 3339.
    at: String,
    content: String,
}

fn render(frame: Frame) -> Result<String, askama::Error> {
    let causes = causes(frame.site, frame.site.sources, |_| true);
    let is_open = |cause: &&Cause| cause.status == "open";
    let open = causes.iter().filter(is_open).count();
    let (headline, class) = match causes.iter().find(is_open) {
        Some(newest) => (
            format!("{}, the newest since {}", open_regressions(open), newest.since()),
            "worse",
        ),
        None => ("No regression is open".to_owned(), ""),
    };
    Page {
        frame,
        headline,
        class,
        causes,
    }
    .render()
}

/// The changes by month; they are sorted, the newest first.
fn months<'a>(causes: &'a [Cause<'a>]) -> Vec<Month<'a>> {
    let name = |cause: &Cause| {
        let time = jiff::Timestamp::from_second(cause.time);
        time.map_or_else(|_| String::new(), |time| time.strftime("%B %Y").to_string())
    };
    let mut months = Vec::new();
    for causes in causes.chunk_by(|one, next| name(one) == name(next)) {
        let open = count(causes, "open");
        let summary = match open {
            0 => others(causes),
            open => open_regressions(open) + &others(causes),
        };
        months.push(Month {
            name: name(&causes[0]),
            is_open: months.is_empty() || open > 0,
            summary: format!(
                "{}: {}",
                plural(causes.len(), "change"),
                summary.trim_start_matches(", ")
            ),
            causes,
        });
    }
    months
}

fn count(causes: &[Cause], status: &str) -> usize {
    causes.iter().filter(|cause| cause.status == status).count()
}

/// What became of those that are not open: `, 2 for the better`.
fn others(causes: &[Cause]) -> String {
    let others = STATUSES.into_iter().filter_map(|(status, word)| {
        let count = count(causes, status);
        (count > 0).then(|| format!(", {count} {word}"))
    });
    others.collect()
}

/// How many changes moved how many metrics, and what became of them. Every change is counted once.
fn lead(causes: &[Cause]) -> String {
    if causes.is_empty() {
        return "No series has stepped yet.".to_owned();
    }
    let metrics = causes.iter().map(|cause| cause.rows.len()).sum();
    format!(
        "{} moved {}: {}{}.",
        plural(causes.len(), "change"),
        plural(metrics, "metric"),
        open_regressions(count(causes, "open")),
        others(causes)
    )
}

fn feed(site: &Site) -> Result<String, askama::Error> {
    let (input, groups) = (site.input, &site.input.followed.trend.groups);
    let mut newest: Vec<&Group> = groups.iter().collect();
    newest.sort_by_key(|group| std::cmp::Reverse(seconds(&group.first_after).unwrap_or(0)));
    let mut number = 0;
    newest.retain(|group| {
        number += 1;
        number <= IN_FEED || group.open
    });
    let entries: Vec<Entry> = newest.into_iter().map(|group| entry(site.sources, group)).collect();
    Feed {
        input,
        subtitle: open_regressions(groups.iter().filter(|group| group.open).count()),
        updated: entries.first().map_or("1970-01-01T00:00:00Z", |entry| &entry.at),
        entries: &entries,
    }
    .render()
}

fn entry<'a>(sources: &[Source], group: &'a Group) -> Entry<'a> {
    let up_to = short_commit(&group.first_after.commit);
    let time = seconds(&group.first_after).unwrap_or(0);
    let sizes = group.steps.iter().take(IN_ENTRY).map(|step| {
        let metric = step
            .metric
            .map_or_else(String::new, |metric| format!(" {}", metric.label()));
        format!("{}{metric} {}", step.series, change(step.change_percent))
    });
    let more = group.steps.len().saturating_sub(IN_ENTRY);
    let sizes = sizes.chain((more > 0).then(|| format!("{more} more")));
    let source = sources.iter().find(|source| source.line.source == group.source);
    let push = &group.first_after;
    let about = [Some(day(push)), push.message.as_deref(), push.author.as_deref()];
    let about: Vec<&str> = about.into_iter().flatten().collect();
    Entry {
        anchor: source.map_or_else(String::new, |source| anchor(&source.timeline.id, up_to)),
        group,
        at: jiff::Timestamp::from_second(time)
            .map(|time| time.to_string())
            .unwrap_or_default(),
        content: format!(
            "After {} up to {up_to} ({}): {}.",
            short_commit(&group.last_before.commit),
            about.join(", "),
            sizes.collect::<Vec<_>>().join("; ")
        ),
    }
}
