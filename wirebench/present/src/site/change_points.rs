//! Change points as pages show them: how large, where, and whether they are still open.

use crate::report::cause::Moved;
use crate::report::percent::change;
use crate::site::frame::Site;
use crate::site::gather::{Drawn, Series, Source};
use crate::site::series_view::{changed, state, verdict};
use crate::site::spark::{self, Course};
use crate::site::timeline::{day, seconds};
use wirebench_history::follow::SourceTimeline;
use wirebench_history::standing::{Change, Standing};
use wirebench_record::metric::Metric;
use wirebench_record::run::short_commit;
use wirebench_record::trend::{ChangePoint, Direction};

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
        let segments = drawn.trace.segments.iter().zip(&drawn.values.segments).enumerate();
        for (number, (segment, places)) in segments {
            let current = number + 1 == drawn.trace.segments.len();
            let steps = segment.change_points.iter().zip(&places.steps);
            points.extend(steps.map(|(point, at)| ChangePointView {
                after_mark: current && at.first_after > source.mark.at,
                course: spark::around(drawn.judged(), (places.first, at.first_after, places.last)),
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
    let (status, note) = status(point);
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
fn status(point: &ChangePoint) -> (&'static str, String) {
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
