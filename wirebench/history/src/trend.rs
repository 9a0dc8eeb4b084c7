//! Follows the wanted series of a history over time, and reports their steps, grouped by push.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

use globset::GlobMatcher;

use crate::error::HistoryError;
use crate::follow::{FollowedHistory, followed};
use crate::load::{Beside, load};
use wirebench_record::accepted::Acceptance;
use wirebench_record::history::Facts;
use wirebench_record::metric::Metric;
use wirebench_record::trend::{ChangePoint, Direction, Group, GroupedStep, SCHEMA, Trace, Trend, TrendMethod};
use wirebench_stats::change_point::{LEAST_AFTER, SMALLEST_STEP, WINDOW};

/// Follows every series × metric of the history in the folder `history` in commit order.
///
/// # Errors
/// If the folder cannot be read or holds no history. Broken files are skipped and named in the trend.
pub fn trend(history: &Path, query: &TrendQuery) -> Result<FollowedHistory, HistoryError> {
    let loaded = load(Some(history), Beside::default())?;
    if loaded.is_empty() {
        let message =
            "holds no history: no runs/, months/ or imported/; append a run with: wirebench history append --to DIR";
        return Err(HistoryError::broken(history, message));
    }
    Ok(followed(loaded, Facts::default(), query))
}

/// Makes a trend of traces.
pub(super) fn assemble(traces: Vec<Trace>, query: &TrendQuery, runs: usize, skipped: Vec<String>) -> Trend {
    let groups = groups(&traces);
    Trend {
        schema: SCHEMA.into(),
        runs,
        method: TrendMethod {
            window: WINDOW,
            least_after: LEAST_AFTER,
            p: 0.001,
            smallest_step_percent: 100.0 * SMALLEST_STEP.exp_m1(),
            newest: query.newest,
        },
        skipped,
        alerts: groups.iter().filter(|group| group.alert).count(),
        open: groups.iter().filter(|group| group.open).count(),
        recent_alerts: groups.iter().filter(|group| group.recent).count(),
        groups,
        traces,
    }
}

/// How many of the newest pushes count as recent by default.
pub const NEWEST: usize = 5;

/// Selects the traces of a history, and holds the parameters of judging them.
#[derive(Debug)]
pub struct TrendQuery {
    /// The series to judge; `None` for all.
    pub series: Option<GlobMatcher>,
    /// The metric to judge; `None` for all, and for imported values too.
    pub metric: Option<Metric>,
    /// The project's acceptances.
    pub accepted: Vec<Acceptance>,
    /// How many of the newest pushes count as recent.
    pub newest: usize,
}

impl TrendQuery {
    pub(super) fn selects(&self, series: &str) -> bool {
        self.series.as_ref().is_none_or(|glob| glob.is_match(series))
    }
}

// Groups the steps of many series by push: one push that moves forty series is one group.

/// Groups at most this many pushes apart are merged if the smaller one has less than half the steps, because the place
/// of a step is not always exact.
const MERGED_WITHIN: usize = 2;

/// A step with its trace.
type Step<'a> = (&'a Trace, &'a ChangePoint);

/// Groups the steps of each source. The traces of a source must be adjacent.
fn groups(traces: &[Trace]) -> Vec<Group> {
    let sources = traces.chunk_by(|one, next| one.source == next.source);
    let groups = sources.flat_map(|traces| {
        let steps = traces
            .iter()
            .flat_map(|trace| trace.change_points().map(move |step| (trace, step)));
        let merged = merge(by_push(steps.collect())).into_iter();
        merged.map(|steps| group(&steps, traces)).collect::<Vec<Group>>()
    });
    groups.collect()
}

/// Divides steps into the fewest groups whose ranges share a push: greedily, by the end of the range.
fn by_push(mut steps: Vec<Step>) -> Vec<Vec<Step>> {
    steps.sort_by_key(|(_, step)| (step.places.first_after, step.places.last_before));
    let mut groups: Vec<Vec<Step>> = Vec::new();
    for step in steps {
        match groups.last_mut() {
            Some(group) if begins_before(step.1, group[0].1) => group.push(step),
            _ => groups.push(vec![step]),
        }
    }
    groups
}

/// Whether a step may be of the push that another one is at. Runs of one commit have several places and are one push.
fn begins_before(step: &ChangePoint, other: &ChangePoint) -> bool {
    step.places.last_before < other.places.first_after && step.last_before.commit != other.first_after.commit
}

/// Adds small groups to a large adjacent one.
fn merge(groups: Vec<Vec<Step>>) -> Vec<Vec<Step>> {
    let mut merged: Vec<Vec<Step>> = Vec::new();
    for group in groups {
        let near = merged.last().is_some_and(|before| {
            let (few, many) = (before.len().min(group.len()), before.len().max(group.len()));
            2 * few < many && range(&group).1.saturating_sub(range(before).1) <= MERGED_WITHIN
        });
        match merged.last_mut() {
            Some(before) if near && before.len() < group.len() => {
                let few = std::mem::replace(before, group);
                before.extend(few);
            }
            Some(before) if near => before.extend(group),
            _ => merged.push(group),
        }
    }
    merged
}

/// The places of the last push before a group and of the first push after it, by its largest part, which comes first.
fn range(group: &[Step]) -> (usize, usize) {
    let first = group[0].1;
    let push = first.places.first_after;
    let steps = group.iter().map(|(_, step)| *step);
    let shared = steps.filter(|step| begins_before(step, first) && push <= step.places.first_after);
    let last_before = shared.map(|step| step.places.last_before).max();
    (last_before.unwrap_or(first.places.last_before), push)
}

fn group(group: &[Step], traces: &[Trace]) -> Group {
    let (last_before, first_after) = range(group);
    let steps = || group.iter().map(|(_, step)| *step);
    let (_, first) = group[0];
    let before = steps().find(|step| step.places.last_before == last_before);
    let after = steps().find(|step| step.places.first_after == first_after);
    let covers = |trace: &&Trace| {
        let mut places = trace.segments.iter().map(|segment| segment.places);
        places.any(|(first, last)| first <= last_before && first_after <= last)
    };
    let mut grouped: Vec<GroupedStep> = group.iter().map(grouped_step).collect();
    grouped.sort_by_key(|step| (!step.open, !step.alert, Reverse(thousandths(step.change_percent))));
    let stepped: BTreeSet<_> = group.iter().map(|(trace, _)| (&trace.series, trace.metric)).collect();
    let stepped = stepped.len();
    Group {
        source: group[0].0.source.clone(),
        last_before: before.unwrap_or(first).last_before.clone(),
        first_after: after.unwrap_or(first).first_after.clone(),
        stepped,
        measured: traces.iter().filter(covers).count().max(stepped),
        worse: steps().filter(|step| step.direction == Direction::Worse).count(),
        alert: steps().any(|step| step.alert),
        open: steps().any(|step| step.open),
        recent: steps().any(|step| step.open && step.recent),
        steps: grouped,
    }
}

fn grouped_step((trace, step): &Step) -> GroupedStep {
    GroupedStep {
        series: trace.series.clone(),
        metric: trace.metric,
        change_percent: step.change_percent,
        direction: step.direction,
        alert: step.alert,
        open: step.open,
    }
}

/// The size of a change as a sortable number.
fn thousandths(percent: f64) -> i64 {
    (1000.0 * percent.abs()).clamp(0.0, 1e15) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::trend::{Basis, Push, Segment, StepPlaces};

    fn push(place: usize) -> Push {
        Push {
            run: None,
            commit: format!("{place:040x}"),
            at: None,
            message: None,
            author: None,
        }
    }

    /// A trace of 100 pushes that steps after the first and up to the second place.
    fn stepped(series: &str, (last_before, first_after): (usize, usize), alert: bool) -> Trace {
        let point = ChangePoint {
            last_before: push(last_before),
            first_after: push(first_after),
            reported: push(first_after + 2),
            places: StepPlaces {
                last_before,
                first_after,
                reported: first_after + 2,
            },
            change_percent: 10.0,
            low_percent: 9.0,
            high_percent: 11.0,
            direction: Direction::Worse,
            accepted: None,
            not_code: None,
            alert,
            open: alert,
            recent: false,
        };
        let segment = Segment {
            broken_by: None,
            basis: Basis::Value,
            noise: None,
            first: push(0),
            last: push(99),
            places: (0, 99),
            points: 100,
            level: 1.0,
            resolvable_percent: None,
            change_points: vec![point],
        };
        Trace {
            source: "runs".into(),
            series: series.into(),
            metric: None,
            unit: "ns".into(),
            better: None,
            basis: Basis::Value,
            points: 100,
            left_out: 0,
            not_judged: None,
            stopped: false,
            newest: None,
            segments: vec![segment],
        }
    }

    #[test]
    fn a_push_that_moves_many_series_is_one_group_with_the_push_they_share() {
        let made = [
            stepped("a", (40, 45), false),
            stepped("b", (43, 44), true),
            stepped("c", (41, 44), false),
            stepped("d", (70, 71), false),
        ];
        let found = groups(&made);
        let [one, other] = &found[..] else { panic!("{found:#?}") };
        assert_eq!((one.stepped, one.measured, one.worse), (3, 4, 3));
        assert_eq!((&one.last_before, &one.first_after), (&push(43), &push(44)));
        assert!(one.alert && one.steps[0].series == "b" && one.steps[0].open);
        assert_eq!((other.stepped, other.alert), (1, false));
    }

    #[test]
    fn what_steps_after_a_commit_is_not_of_that_commit_where_it_was_measured_twice() {
        let mut made = [
            stepped("counted", (42, 44), true),
            stepped("timed", (43, 46), true),
            stepped("size", (45, 46), true),
        ];
        // Places 43 and 44 are runs of one commit.
        for trace in &mut made {
            let step = &mut trace.segments[0].change_points[0];
            for end in [&mut step.last_before, &mut step.first_after] {
                if *end == push(44) {
                    *end = push(43);
                }
            }
        }
        let found = groups(&made);
        let [one, other] = &found[..] else { panic!("{found:#?}") };
        assert_eq!((one.stepped, other.stepped), (1, 2));
        assert_eq!((&other.last_before, &other.first_after), (&push(45), &push(46)));
    }

    #[test]
    fn a_few_steps_beside_many_are_theirs_and_equals_stay_apart() {
        let many = (0..5).map(|number| stepped(&format!("s{number}"), (43, 44), true));
        let few = [stepped("late", (45, 46), true), stepped("far", (60, 61), true)];
        let made: Vec<_> = many.chain(few).collect();
        let found: Vec<usize> = groups(&made).iter().map(|group| group.stepped).collect();
        assert_eq!(found, [6, 1]);
        let apart = [stepped("a", (43, 44), true), stepped("b", (44, 45), true)];
        assert_eq!(groups(&apart).len(), 2);
    }
}
