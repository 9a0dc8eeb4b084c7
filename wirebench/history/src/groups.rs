//! Groups steps of many series by push: one push that moves forty series is one group.

use std::cmp::Reverse;

use crate::row::{SegmentPlaces, StepPlaces};
use crate::standing::taken_back;
use wirebench_record::trend::{ChangePoint, Direction, Group, GroupedStep, Push, Trace};

/// Groups at most this many pushes apart are merged if the smaller one has less than half the steps, because the place
/// of a step is not always exact.
const APART: usize = 2;

/// A step with its trace.
#[derive(Clone, Copy)]
struct At<'a> {
    trace: &'a Trace,
    step: &'a ChangePoint,
    places: StepPlaces,
    /// True if it is an alert in the newest segment that no later step reverted.
    open: bool,
}

/// Groups the steps of each source; traces of a source come one after the other.
pub(super) fn grouped(judged: &[(&Trace, &[SegmentPlaces])]) -> Vec<Group> {
    let sources = judged.chunk_by(|one, next| one.0.source == next.0.source);
    sources.flat_map(of_source).collect()
}

fn of_source(judged: &[(&Trace, &[SegmentPlaces])]) -> Vec<Group> {
    let mut steps: Vec<At> = Vec::new();
    for (trace, segments) in judged {
        for (segment, at) in trace.segments.iter().zip(*segments) {
            let newest = trace.segments.last() == Some(segment);
            let found = segment.change_points.iter().zip(&at.steps);
            steps.extend(found.map(|(step, places)| At {
                trace,
                step,
                places: *places,
                open: step.alert && newest && !taken_back(segment, step),
            }));
        }
    }
    merged(pierced(steps))
        .iter()
        .map(|group| described(group, judged))
        .collect()
}

/// The fewest groups in which all ranges share a push: greedy, by the range that ends first.
fn pierced(mut steps: Vec<At>) -> Vec<Vec<At>> {
    steps.sort_by_key(|at| (at.places.first_after, at.places.last_before));
    let mut groups: Vec<(usize, Vec<At>)> = Vec::new();
    for at in steps {
        match groups.last_mut() {
            Some((push, group)) if at.places.last_before < *push => group.push(at),
            _ => groups.push((at.places.first_after, vec![at])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Adds small groups to a large one next to them.
fn merged(groups: Vec<Vec<At>>) -> Vec<Vec<At>> {
    let mut found: Vec<Vec<At>> = Vec::new();
    for group in groups {
        let near = found.last().is_some_and(|before| {
            let (few, many) = (before.len().min(group.len()), before.len().max(group.len()));
            2 * few < many && range(&group).1.saturating_sub(range(before).1) <= APART
        });
        match found.last_mut() {
            Some(before) if near && before.len() < group.len() => {
                let few = std::mem::replace(before, group);
                before.extend(few);
            }
            Some(before) if near => before.extend(group),
            _ => found.push(group),
        }
    }
    found
}

/// Places of the last push before and the first push after a group, by its first steps, which are of the largest part.
fn range(group: &[At]) -> (usize, usize) {
    let first = group[0].places;
    let within = group.iter().filter(|at| at.places.last_before < first.first_after);
    let shared = within.filter(|at| at.places.first_after >= first.first_after);
    let last_before = shared
        .map(|at| at.places.last_before)
        .max()
        .unwrap_or(first.last_before);
    (last_before, first.first_after)
}

fn described(group: &[At], judged: &[(&Trace, &[SegmentPlaces])]) -> Group {
    let (last_before, first_after) = range(group);
    let named = |place: usize, of: fn(&StepPlaces) -> usize, push: fn(&ChangePoint) -> &Push| {
        let known = group.iter().find(|at| of(&at.places) == place);
        push(known.map_or(group[0].step, |at| at.step)).clone()
    };
    let covers = |segments: &[SegmentPlaces]| {
        let mut segments = segments.iter();
        segments.any(|segment| segment.first <= last_before && first_after <= segment.last)
    };
    let mut steps: Vec<GroupedStep> = group.iter().map(|at| grouped_step(at)).collect();
    steps.sort_by_key(|step| (!step.alert, Reverse(thousandths(step.change_percent))));
    let mut names: Vec<(&str, _)> = group
        .iter()
        .map(|at| (at.trace.series.as_str(), at.trace.metric))
        .collect();
    names.sort_unstable();
    names.dedup();
    Group {
        source: group[0].trace.source.clone(),
        last_before: named(last_before, |at| at.last_before, |step| &step.last_before),
        first_after: named(first_after, |at| at.first_after, |step| &step.first_after),
        stepped: names.len(),
        measured: judged
            .iter()
            .filter(|(_, segments)| covers(segments))
            .count()
            .max(names.len()),
        worse: steps.iter().filter(|step| step.direction == Direction::Worse).count(),
        alert: group.iter().any(|at| at.step.alert),
        recent: group.iter().any(|at| at.step.alert && at.step.recent),
        steps,
    }
}

fn grouped_step(at: &At) -> GroupedStep {
    GroupedStep {
        series: at.trace.series.clone(),
        metric: at.trace.metric,
        change_percent: at.step.change_percent,
        direction: at.step.direction,
        alert: at.step.alert,
        open: at.open,
    }
}

/// The size of a change as a sortable number.
#[expect(clippy::cast_possible_truncation, reason = "bounded")]
fn thousandths(percent: f64) -> i64 {
    (1000.0 * percent.abs()).clamp(0.0, 1e15) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::trend::{Basis, Segment};

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
    fn stepped(series: &str, (last_before, first_after): (usize, usize), alert: bool) -> (Trace, Vec<SegmentPlaces>) {
        let point = ChangePoint {
            last_before: push(last_before),
            first_after: push(first_after),
            reported: push(first_after + 2),
            change_percent: 10.0,
            low_percent: 9.0,
            high_percent: 11.0,
            direction: Direction::Worse,
            accepted: None,
            not_code: None,
            alert,
            recent: false,
        };
        let segment = Segment {
            broken_by: None,
            basis: Basis::Value,
            noise: None,
            first: push(0),
            last: push(99),
            points: 100,
            level: 1.0,
            resolvable_percent: None,
            change_points: vec![point],
        };
        let trace = Trace {
            source: "runs".into(),
            series: series.into(),
            metric: None,
            unit: "ns".into(),
            better: None,
            basis: Basis::Value,
            points: 100,
            left_out: 0,
            not_judged: None,
            newest: None,
            segments: vec![segment],
        };
        let places = SegmentPlaces {
            first: 0,
            last: 99,
            basis: Basis::Value,
            steps: vec![StepPlaces {
                last_before,
                first_after,
                reported: first_after + 2,
            }],
        };
        (trace, vec![places])
    }

    fn groups(made: &[(Trace, Vec<SegmentPlaces>)]) -> Vec<Group> {
        let placed: Vec<_> = made.iter().map(|(trace, places)| (trace, places.as_slice())).collect();
        grouped(&placed)
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
