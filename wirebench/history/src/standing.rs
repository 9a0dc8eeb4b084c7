//! The standing of a trace: its newest level compared with an earlier push.
//!
//! Only change points decide. A trace with an open regression is worse. Of the others, the steps since that push that are not
//! accepted add up; without any, the trace is within noise.

use crate::follow::TraceValues;
use wirebench_record::metric::Better;
use wirebench_record::trend::{ChangePoint, Trace};
use wirebench_stats::change_point::SMALLEST_STEP;

/// A trace with fewer values in its newest segment has no standing.
pub const FEWEST_VALUES: usize = 5;
/// A trace without a value in this many of the newest pushes has stopped.
pub const STOPPED_AFTER: usize = 20;

/// The standing of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// It has an open regression.
    Worse,
    /// The newest run has no valid value of it.
    Withheld,
    /// It got better.
    Better,
    /// It got worse, and that was accepted.
    Accepted,
    /// It got worse, and most of that was taken back.
    Fixed,
    /// It changed, and its better direction is unknown.
    Changed,
    /// It has no step since.
    Noise,
    /// Its newest segment has fewer than [`FEWEST_VALUES`] values.
    Few,
    /// It has no value in the newest pushes.
    Stopped,
}

/// The standing of a trace, and by how much the trace changed.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceStanding {
    /// The standing.
    pub standing: Standing,
    /// The change of the metric's own value; `None` if there is no step, or the steps cancel out.
    pub change: Option<Change>,
    /// The change of machine, digest, reference or unit since that push; earlier values cannot be compared.
    pub broken_by: Option<String>,
    /// Why the newest run has no valid value.
    pub withheld: Option<String>,
}

/// A change in percent, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The size.
    pub percent: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Compares the newest level of a trace with its level at the push at place `since`; of a trace with an open regression, with
/// the level before the oldest one.
pub fn standing_since(trace: &Trace, values: &TraceValues, since: usize) -> TraceStanding {
    let newest = values.values.len().saturating_sub(1);
    let failed = values.failures.iter().rev().find(|(place, _)| *place == newest);
    let open = trace.change_points().find(|step| step.open);
    let compared_with = open.map_or(since, |step| step.places.last_before);
    let newest_segment = trace.segments.last();
    let broken = newest_segment.filter(|segment| segment.places.0 > compared_with);
    // Without an open regression, nothing is compared across a break.
    let from = match broken {
        Some(segment) if open.is_none() => segment.places.0,
        _ => compared_with,
    };
    // Steps that the machine caused say nothing about the code.
    let counts = |step: &&ChangePoint| step.places.first_after > from && step.not_code.is_none();
    let steps: Vec<&ChangePoint> = trace.change_points().filter(counts).collect();
    let unaccepted: Vec<&ChangePoint> = steps.iter().copied().filter(|step| step.accepted.is_none()).collect();
    let change = sum(&unaccepted).or_else(|| sum(&steps));
    let few = newest_segment.is_none_or(|segment| segment.points < FEWEST_VALUES);
    let standing = match (sum(&unaccepted), change) {
        // An open regression counts however old it is, whatever became of the series since.
        _ if open.is_some() => Standing::Worse,
        _ if failed.is_some() => Standing::Withheld,
        _ if trace.stopped => Standing::Stopped,
        _ if few => Standing::Few,
        (Some(change), _) => of_change(trace, change),
        (None, Some(_)) => Standing::Accepted,
        (None, None) => Standing::Noise,
    };
    TraceStanding {
        standing,
        change: change.filter(|_| !matches!(standing, Standing::Few | Standing::Stopped)),
        broken_by: broken.and_then(|segment| segment.broken_by.clone()),
        withheld: failed.map(|(_, reason)| reason.clone()),
    }
}

fn of_change(trace: &Trace, change: Change) -> Standing {
    match trace.better {
        None => Standing::Changed,
        // Steps for the worse of which less than half is left: none of them is open.
        Some(Better::Lower) if change.percent > 0.0 => Standing::Fixed,
        Some(Better::Higher) if change.percent < 0.0 => Standing::Fixed,
        Some(_) => Standing::Better,
    }
}

/// Consecutive steps as a single change; `None` if they cancel out. Their errors are independent, so the squares of the errors
/// add up.
fn sum(steps: &[&ChangePoint]) -> Option<Change> {
    let log = |percent: f64| (percent / 100.0).ln_1p();
    let percent = |log: f64| 100.0 * log.exp_m1();
    let sum: f64 = steps.iter().map(|step| log(step.change_percent)).sum();
    let error = |end: fn(&ChangePoint) -> f64| {
        let errors = steps.iter().map(|step| log(end(step)) - log(step.change_percent));
        errors.map(|error| error.powi(2)).sum::<f64>().sqrt()
    };
    (sum.abs() >= SMALLEST_STEP / 2.0).then(|| Change {
        percent: percent(sum),
        low: percent(sum - error(|step| step.low_percent)),
        high: percent(sum + error(|step| step.high_percent)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::mark_open;
    use crate::judge::tests::{push, step};
    use wirebench_record::trend::{Basis, Segment, StepPlaces};

    /// A trace of 100 pushes with steps at these places, in percent; accepted ones are meant.
    fn made(better: Option<Better>, steps: &[(usize, f64, bool)]) -> (Trace, TraceValues) {
        let is_worse = |percent: f64| match better {
            Some(Better::Lower) => percent > 0.0,
            Some(Better::Higher) => percent < 0.0,
            None => false,
        };
        let point = |(at, percent, meant): &(usize, f64, bool)| ChangePoint {
            places: StepPlaces {
                last_before: at - 1,
                first_after: *at,
                reported: at + 2,
            },
            accepted: meant.then(|| "meant".into()),
            alert: !meant && is_worse(*percent),
            ..step(*percent)
        };
        let segment = Segment {
            broken_by: Some("machine a → b".into()),
            basis: Basis::Value,
            noise: None,
            first: push(),
            last: push(),
            places: (10, 99),
            points: 90,
            level: 1.0,
            resolvable_percent: Some(3.0),
            change_points: steps.iter().map(point).collect(),
        };
        let mut trace = Trace {
            source: "runs".into(),
            series: "a@b@c".into(),
            metric: None,
            unit: "ns".into(),
            better,
            basis: Basis::Value,
            points: 90,
            left_out: 0,
            not_judged: None,
            stopped: false,
            newest: None,
            segments: vec![segment],
        };
        mark_open(&mut trace.segments);
        let values = TraceValues {
            timeline: 0,
            values: vec![1.0; 100],
            ratios: Vec::new(),
            half_permille: Vec::new(),
            failures: Vec::new(),
        };
        (trace, values)
    }

    fn of(better: Better, steps: &[(usize, f64, bool)]) -> (Standing, Option<f64>) {
        let (trace, values) = made(Some(better), steps);
        let stands = standing_since(&trace, &values, 50);
        (stands.standing, stands.change.map(|change| change.percent.round()))
    }

    #[test]
    fn an_open_regression_counts_however_old_and_other_steps_since_the_push() {
        assert_eq!(of(Better::Lower, &[(80, 10.0, false)]), (Standing::Worse, Some(10.0)));
        assert_eq!(of(Better::Higher, &[(80, 10.0, false)]), (Standing::Better, Some(10.0)));
        assert_eq!(of(Better::Lower, &[(40, 10.0, false)]), (Standing::Worse, Some(10.0)));
        assert_eq!(of(Better::Higher, &[(40, 10.0, false)]), (Standing::Noise, None));
        let both = [(40, 10.0, false), (80, 10.0, false)];
        assert_eq!(of(Better::Lower, &both), (Standing::Worse, Some(21.0)));
        let before = [(60, -50.0, false), (80, 10.0, false)];
        assert_eq!(of(Better::Lower, &before), (Standing::Worse, Some(10.0)));
    }

    #[test]
    fn a_step_that_was_taken_back_is_none_and_an_accepted_one_is_meant() {
        let back = [(60, 10.0, false), (80, 100.0 / 1.1 - 100.0, false)];
        assert_eq!(of(Better::Lower, &back), (Standing::Noise, None));
        let most = [(60, 10.0, false), (80, -6.0, false)];
        assert_eq!(of(Better::Lower, &most), (Standing::Fixed, Some(3.0)));
        assert_eq!(of(Better::Lower, &[(60, 10.0, true)]), (Standing::Accepted, Some(10.0)));
        let more = [(60, 10.0, true), (80, 5.0, false)];
        assert_eq!(of(Better::Lower, &more), (Standing::Worse, Some(5.0)));
    }

    #[test]
    fn a_step_that_the_machine_made_does_not_count() {
        let (mut trace, values) = made(Some(Better::Higher), &[(60, 10.0, false), (80, 5.0, false)]);
        trace.segments[0].change_points[0].not_code = Some("same commit: the machine".into());
        let stands = standing_since(&trace, &values, 50);
        assert_eq!(
            (stands.standing, stands.change.unwrap().percent.round()),
            (Standing::Better, 5.0)
        );
    }

    #[test]
    fn what_cannot_be_said_is_not_said() {
        let (mut trace, mut values) = made(None, &[(80, 10.0, false)]);
        assert_eq!(standing_since(&trace, &values, 50).standing, Standing::Changed);
        assert_eq!(
            standing_since(&trace, &values, 5).broken_by.as_deref(),
            Some("machine a → b")
        );
        values.failures.push((99, "no answer".into()));
        assert_eq!(standing_since(&trace, &values, 50).standing, Standing::Withheld);
        values.failures.clear();
        trace.stopped = true;
        assert_eq!(standing_since(&trace, &values, 50).standing, Standing::Stopped);
        trace.segments[0].change_points[0].open = true;
        assert_eq!(standing_since(&trace, &values, 50).standing, Standing::Worse);
        (trace.stopped, trace.segments[0].change_points[0].open) = (false, false);
        trace.segments[0].points = 4;
        assert_eq!(standing_since(&trace, &values, 50).standing, Standing::Few);
    }
}
