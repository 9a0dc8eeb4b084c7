//! Change points by their cause: one card for each range of commits, however many metrics it moved.

use crate::report::cause::{Moved, sentence};
use crate::report::format::change;
use crate::site::frame::{Site, pull_url, since};
use crate::site::gather::{Drawn, Series, Source, day, seconds};
use crate::site::series_view::{changed, state, verdict};
use crate::site::shown::name;
use crate::site::spark::{self, Course};
use wirebench_history::follow::SourceTimeline;
use wirebench_history::standing::{Change, Standing};
use wirebench_record::metric::Metric;
use wirebench_record::run::short_commit;
use wirebench_record::trend::{ChangePoint, Direction, Group, GroupedStep};

/// Sparklines that a card shows.
const SPARKS: usize = 6;

/// Change points in one range of commits, which may have one cause.
#[derive(Debug, Clone)]
pub(super) struct Cause {
    /// The place that links lead to.
    pub(super) anchor: String,
    /// The class that gives the card its colour.
    pub(super) state: &'static str,
    /// Shape and word.
    pub(super) verdict: &'static str,
    /// What moved, one sentence.
    pub(super) sentence: String,
    /// The status of the whole card, one word.
    pub(super) status: &'static str,
    /// The reasons for the status, each once.
    pub(super) notes: Vec<String>,
    pub(super) after: String,
    pub(super) up_to: String,
    /// Where the difference is shown.
    pub(super) url: Option<String>,
    pub(super) day: String,
    /// First line of the message of the newest commit in the range; empty when it is not known.
    pub(super) message: String,
    pub(super) author: String,
    pub(super) pull: Option<String>,
    /// Set when more than one push lies in the range.
    pub(super) several: Option<String>,
    /// Every change point, those that are still open first, then the largest.
    pub(super) rows: Vec<ChangePointView>,
    /// The first push with the change.
    pub(super) time: i64,
}

impl Cause {
    /// Since when it holds: the pull request, else the commit.
    pub(super) fn since(&self) -> String {
        since(&self.message, &self.up_to)
    }

    /// The row with the sparkline of a dense list.
    pub(super) fn first_drawn(&self) -> Option<&ChangePointView> {
        self.drawn().first().copied()
    }

    /// The rows with a sparkline on the card.
    pub(super) fn drawn(&self) -> Vec<&ChangePointView> {
        let drawn = self.rows.iter().filter(|row| !row.course.after.is_empty());
        drawn.take(SPARKS).collect()
    }
}

/// Every cause of every source, the newest first; of each only the change points that are `wanted`.
pub(super) fn causes(site: &Site, sources: &[Source], wanted: impl Fn(&ChangePointView) -> bool) -> Vec<Cause> {
    let mut causes = Vec::new();
    for source in sources {
        let mut left = of_source(site, source);
        left.reverse();
        let groups = site.input.followed.trend.groups.iter();
        for group in groups.filter(|group| group.source == source.line.source) {
            let rows = group.steps.iter().filter_map(|step| take(&mut left, step));
            let rows: Vec<ChangePointView> = rows.filter(|row| wanted(row)).collect();
            if !rows.is_empty() {
                causes.push(cause(site, source, group, rows));
            }
        }
    }
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.time));
    causes
}

/// Takes the oldest change point that is this step of a group.
fn take(left: &mut Vec<ChangePointView>, step: &GroupedStep) -> Option<ChangePointView> {
    let is = |row: &ChangePointView| {
        let same = row.percent.to_bits() == step.change_percent.to_bits();
        same && row.metric == step.metric && row.series == step.series
    };
    let place = left.iter().position(is)?;
    Some(left.remove(place))
}

fn cause(site: &Site, source: &Source, group: &Group, mut rows: Vec<ChangePointView>) -> Cause {
    rows.sort_by_key(ChangePointView::rank);
    let moved: Vec<Moved> = rows.iter().map(ChangePointView::moved).collect();
    let short = |commit: &str| short_commit(commit).to_owned();
    let repository = site.repository_of(source.line);
    let (first, last) = (&group.last_before, &group.first_after);
    let message = last.message.as_deref().unwrap_or_default();
    let (state, verdict) = colour(&rows);
    let mut notes: Vec<String> = Vec::new();
    for row in &rows {
        if !row.note.is_empty() && !notes.contains(&row.note) {
            notes.push(row.note.clone());
        }
    }
    Cause {
        anchor: anchor(&source.timeline.id, &short(&last.commit)),
        state,
        verdict,
        sentence: name(&sentence(&moved)),
        status: status(&rows),
        notes,
        after: short(&first.commit),
        up_to: short(&last.commit),
        url: site.range_url(source.line, &first.commit, &last.commit),
        day: day(last).to_owned(),
        message: name(message),
        author: last.author.as_deref().map(name).unwrap_or_default(),
        pull: repository.and_then(|repository| pull_url(repository, message)),
        several: pushes(source.line, group)
            .filter(|pushes| *pushes > 1)
            .map(|pushes| format!("in one of {pushes} pushes, the newest:")),
        rows,
        time: seconds(last).unwrap_or(0),
    }
}

/// The name of a card in its page's address.
pub(super) fn anchor(source: &str, commit: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("at-{source}-{commit}").chars().map(plain).collect()
}

/// How many pushes the change may be in; `None` when one end is not in the line.
fn pushes(line: &SourceTimeline, group: &Group) -> Option<usize> {
    let place = |commit: &str| line.pushes.iter().rposition(|push| push.commit == commit);
    let (before, after) = (place(&group.last_before.commit)?, place(&group.first_after.commit)?);
    Some(after.saturating_sub(before))
}

/// The colour and the word of the row that matters most.
fn colour(rows: &[ChangePointView]) -> (&'static str, &'static str) {
    let of = |status: &str| rows.iter().find(|row| row.status == status);
    let first = of("open").or_else(|| rows.iter().find(|row| row.state == "worse"));
    match first.or(rows.first()) {
        Some(row) if row.status == "machine" => ("noise", "≈ the machine"),
        Some(row) if row.status == "accepted" => ("accepted", "~ accepted"),
        Some(row) if row.status == "fixed" => (state(Standing::Fixed), verdict(Standing::Fixed)),
        Some(row) => (row.state, row.verdict),
        None => ("noise", "≈ within noise"),
    }
}

/// One word for all of them: what still has to be decided counts first.
fn status(rows: &[ChangePointView]) -> &'static str {
    let order = ["open", "accepted", "unknown", "fixed", "better", "machine"];
    let first = order
        .into_iter()
        .find(|word| rows.iter().any(|row| row.status == *word));
    first.unwrap_or("machine")
}

// Change points as pages show them: how large, where, and whether they are still open.

/// A change point as pages show it.
#[derive(Debug, Clone)]
pub(super) struct ChangePointView {
    pub(super) state: &'static str,
    /// Shape and word.
    pub(super) verdict: &'static str,
    pub(super) series: String,
    pub(super) metric: Option<Metric>,
    pub(super) percent: f64,
    direction: Direction,
    /// Whether it comes after the push that the newest one is compared with, in the newest segment.
    pub(super) after_mark: bool,
    /// Its size alone.
    pub(super) size: String,
    /// The metric's values around it.
    pub(super) course: Course,
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
pub(super) fn of_source(site: &Site, source: &Source) -> Vec<ChangePointView> {
    let all = source.series.iter().flat_map(|series| unsorted(site, source, series));
    newest_first(all.collect())
}

/// The change points of one series, the newest first.
pub(super) fn of_series(site: &Site, source: &Source, series: &Series) -> Vec<ChangePointView> {
    newest_first(unsorted(site, source, series))
}

fn newest_first(mut points: Vec<ChangePointView>) -> Vec<ChangePointView> {
    points.sort_by_key(|point| std::cmp::Reverse(point.time));
    points
}

fn unsorted(site: &Site, source: &Source, series: &Series) -> Vec<ChangePointView> {
    let mut points = Vec::new();
    for drawn in &series.metrics {
        for (number, segment) in drawn.trace.segments.iter().enumerate() {
            let current = number + 1 == drawn.trace.segments.len();
            let (first, last) = segment.places;
            points.extend(segment.change_points.iter().map(|point| ChangePointView {
                after_mark: current && point.places.first_after > source.mark.at,
                course: spark::around(drawn.judged(), (first, point.places.first_after, last)),
                ..view(site, source.line, series, drawn, point)
            }));
        }
    }
    points
}

impl ChangePointView {
    /// Its part of the sentence that names everything that moved.
    pub(super) fn moved(&self) -> Moved<'_> {
        Moved {
            series: &self.series,
            metric: self.metric,
            percent: self.percent,
            direction: self.direction,
        }
    }

    /// Open ones sort first, then worse ones, then the largest.
    pub(super) fn rank(&self) -> (bool, bool, i64) {
        let size = (self.percent.abs() * 100.0).clamp(0.0, 1e12) as i64;
        (self.status != "open", self.state != "worse", -size)
    }
}

fn view(site: &Site, line: &SourceTimeline, series: &Series, drawn: &Drawn, point: &ChangePoint) -> ChangePointView {
    let standing = match point.direction {
        Direction::Better => Standing::Better,
        Direction::Worse => Standing::Worse,
        Direction::Unknown => Standing::Changed,
    };
    let (status, note) = status_of(point);
    let short = |commit: &str| short_commit(commit).to_owned();
    let time = seconds(&point.first_after).unwrap_or(0);
    let (after, up_to) = (short(&point.last_before.commit), short(&point.first_after.commit));
    ChangePointView {
        state: state(standing),
        verdict: verdict(standing),
        series: series.name.to_owned(),
        metric: drawn.trace.metric,
        percent: point.change_percent,
        direction: point.direction,
        after_mark: false,
        size: change(point.change_percent),
        course: Course::default(),
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

/// The status of a change point, and the reason for it; empty where the status says it all.
fn status_of(point: &ChangePoint) -> (&'static str, String) {
    if let Some(reason) = &point.not_code {
        return ("machine", reason.clone());
    }
    if let Some(reason) = &point.accepted {
        return ("accepted", reason.clone());
    }
    match point.direction {
        Direction::Better => ("better", String::new()),
        Direction::Unknown => ("unknown", "nothing says which way is better".into()),
        Direction::Worse if point.open => ("open", String::new()),
        Direction::Worse => ("fixed", "a later step took it back".into()),
    }
}
