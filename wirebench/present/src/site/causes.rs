//! Change points by their cause: one card for each range of commits, however many metrics it moved.

use crate::distinct;
use crate::report::cause::{Moved, sentence};
use crate::site::frame::{Site, pull_url, since};
use crate::site::gather::{Drawn, Series, Source, seconds};
use crate::site::series_view::{state, verdict};
use crate::site::shown::name;
use crate::site::spark::{self, Course};
use wirebench_history::follow::SourceTimeline;
use wirebench_history::standing::Standing;
use wirebench_record::run::short_commit;
use wirebench_record::trend::{ChangePoint, Direction, Group, GroupedStep};

/// Sparklines that a card shows.
const SPARKS: usize = 6;

/// Change points in one range of commits, which may have one cause.
#[derive(Debug, Clone)]
pub(super) struct Cause<'a> {
    pub(super) group: &'a Group,
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
    pub(super) notes: Vec<&'a str>,
    /// Where the difference is shown.
    pub(super) url: Option<String>,
    /// First line of the message of the newest commit in the range; empty when it is not known.
    pub(super) message: String,
    pub(super) pull: Option<String>,
    /// Set when more than one push lies in the range.
    pub(super) several: Option<String>,
    /// Every change point, those that are still open first, then the largest.
    pub(super) rows: Vec<ChangePointView<'a>>,
    /// The first push with the change.
    pub(super) time: i64,
}

impl<'a> Cause<'a> {
    /// Since when it holds: the pull request, else the commit.
    pub(super) fn since(&self) -> String {
        since(&self.message, self.up_to())
    }

    /// The newest commit in the range.
    pub(super) fn up_to(&self) -> &'a str {
        short_commit(&self.group.first_after.commit)
    }

    /// The rows with a sparkline on the card.
    pub(super) fn drawn(&self) -> Vec<&ChangePointView<'a>> {
        let drawn = self.rows.iter().filter(|row| !row.course.after.is_empty());
        drawn.take(SPARKS).collect()
    }
}

/// Every cause of every source, the newest first; of each only the change points that are `wanted`.
pub(super) fn causes<'a>(
    site: &'a Site,
    sources: &'a [Source],
    wanted: impl Fn(&ChangePointView) -> bool,
) -> Vec<Cause<'a>> {
    let mut causes = Vec::new();
    for source in sources {
        let points = source.series.iter().flat_map(|series| unsorted(source, series));
        let mut left: Vec<ChangePointView> = points.collect();
        left.sort_by_key(|point| point.time);
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
fn take<'a>(left: &mut Vec<ChangePointView<'a>>, step: &GroupedStep) -> Option<ChangePointView<'a>> {
    let is = |row: &ChangePointView| {
        let same = row.point.change_percent.to_bits() == step.change_percent.to_bits();
        same && row.drawn.trace.metric == step.metric && row.drawn.trace.series == step.series
    };
    let place = left.iter().position(is)?;
    Some(left.remove(place))
}

fn cause<'a>(site: &Site, source: &Source, group: &'a Group, mut rows: Vec<ChangePointView<'a>>) -> Cause<'a> {
    rows.sort_by_key(ChangePointView::rank);
    let moved: Vec<Moved> = rows.iter().map(ChangePointView::moved).collect();
    let repository = site.repository_of(source.line);
    let (first, last) = (&group.last_before, &group.first_after);
    let message = last.message.as_deref().unwrap_or_default();
    let (state, verdict) = colour(&rows);
    let notes = rows.iter().map(|row| row.note).filter(|note| !note.is_empty());
    Cause {
        group,
        anchor: anchor(&source.timeline.id, short_commit(&last.commit)),
        state,
        verdict,
        sentence: name(&sentence(&moved)),
        status: status(&rows),
        notes: distinct(notes),
        url: site.range_url(source.line, &first.commit, &last.commit),
        message: name(message),
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
pub(super) struct ChangePointView<'a> {
    pub(super) drawn: &'a Drawn<'a>,
    pub(super) point: &'a ChangePoint,
    pub(super) state: &'static str,
    /// Shape and word.
    pub(super) verdict: &'static str,
    /// Whether it comes after the push that the newest one is compared with, in the newest segment.
    pub(super) after_mark: bool,
    /// The metric's values around it.
    pub(super) course: Course,
    pub(super) status: &'static str,
    pub(super) note: &'a str,
    time: i64,
}

/// The change points of one series, the newest first.
pub(super) fn of_series<'a>(source: &Source, series: &'a Series) -> Vec<ChangePointView<'a>> {
    let mut points = unsorted(source, series);
    points.sort_by_key(|point| std::cmp::Reverse(point.time));
    points
}

fn unsorted<'a>(source: &Source, series: &'a Series) -> Vec<ChangePointView<'a>> {
    let mut points = Vec::new();
    for drawn in &series.metrics {
        for (number, segment) in drawn.trace.segments.iter().enumerate() {
            let current = number + 1 == drawn.trace.segments.len();
            points.extend(segment.change_points.iter().map(|point| {
                let (at, (first, last)) = (point.places.first_after, segment.places);
                let standing = standing(point.direction);
                let (status, note) = status_of(point);
                ChangePointView {
                    drawn,
                    point,
                    state: state(standing),
                    verdict: verdict(standing),
                    after_mark: current && at > source.mark.at,
                    course: spark::around(drawn.values.judged(), (first, at, last)),
                    status,
                    note,
                    time: seconds(&point.first_after).unwrap_or(0),
                }
            }));
        }
    }
    points
}

const fn standing(direction: Direction) -> Standing {
    match direction {
        Direction::Better => Standing::Better,
        Direction::Worse => Standing::Worse,
        Direction::Unknown => Standing::Changed,
    }
}

impl ChangePointView<'_> {
    /// Its part of the sentence that names everything that moved.
    pub(super) fn moved(&self) -> Moved<'_> {
        Moved {
            series: &self.drawn.trace.series,
            metric: self.drawn.trace.metric,
            percent: self.point.change_percent,
            direction: self.point.direction,
        }
    }

    /// Open ones sort first, then worse ones, then the largest.
    pub(super) fn rank(&self) -> (bool, bool, i64) {
        let size = (self.point.change_percent.abs() * 100.0).clamp(0.0, 1e12) as i64;
        (self.status != "open", self.state != "worse", -size)
    }
}

/// The status of a change point, and the reason for it; empty where the status says it all.
fn status_of(point: &ChangePoint) -> (&'static str, &str) {
    if let Some(reason) = &point.not_code {
        return ("machine", reason);
    }
    if let Some(reason) = &point.accepted {
        return ("accepted", reason);
    }
    match point.direction {
        Direction::Better => ("better", ""),
        Direction::Unknown => ("unknown", "nothing says which way is better"),
        Direction::Worse if point.open => ("open", ""),
        Direction::Worse => ("fixed", "a later step took it back"),
    }
}
