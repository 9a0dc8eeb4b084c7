//! Where a trace stands now, set against an earlier push: worse, better, within noise, or why that cannot be said.
//!
//! Decided by its change points alone. Between the push that it is set against and now, those that nobody accepted add up;
//! what is left without one is within noise.

use crate::follow::Values;
use crate::row::StepPlaces;
use wirebench_record::metric::Better;
use wirebench_record::trend::{ChangePoint, Segment, Trace};
use wirebench_stats::change_point::SMALLEST_STEP;

/// Values before anything is said of a trace.
pub const FEWEST: usize = 5;
/// A trace without a value in so many of the newest pushes has ended.
pub const ENDED_AFTER: usize = 20;

/// How a trace stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// It got worse, and nobody accepted that.
    Worse,
    /// The newest run has no good value of it.
    Withheld,
    /// It got better.
    Better,
    /// It got worse, and that is meant.
    Accepted,
    /// It changed, and nothing says which way is better.
    Changed,
    /// No step since.
    Noise,
    /// Fewer than [`FEWEST`] values on this machine and for this question.
    Few,
    /// No value in the newest pushes.
    Ended,
}

/// How a trace stands, and by how much it changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Stands {
    /// How it stands.
    pub standing: Standing,
    /// The change, percent of its own value; null when there is none.
    pub change: Option<Change>,
    /// Why nothing earlier can be set against it, when machine, question, reference or unit changed since.
    pub broken_by: Option<String>,
    /// Why the newest run has no value.
    pub withheld: Option<String>,
}

/// A change in percent, and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Its size.
    pub percent: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Sets the end of a trace against the push at `since`.
#[must_use]
pub fn stands(trace: &Trace, values: &Values, since: usize) -> Stands {
    let mut found = Stands {
        standing: Standing::Few,
        change: None,
        broken_by: None,
        withheld: None,
    };
    let (Some(segment), Some(places)) = (trace.segments.last(), values.segments.last()) else {
        return found;
    };
    let newest = values.values.len().saturating_sub(1);
    let failed = values.failures.iter().rev().find(|(place, _)| *place == newest);
    if places.last + ENDED_AFTER < newest && failed.is_none() {
        found.standing = Standing::Ended;
        return found;
    }
    if places.first > since {
        found.broken_by.clone_from(&segment.broken_by);
    }
    let steps: Vec<(&ChangePoint, &StepPlaces)> = segment.change_points.iter().zip(&places.steps).collect();
    // What the machine did says nothing of the code.
    let counts = |(step, at): &(&ChangePoint, &StepPlaces)| at.first_after > since && step.not_code.is_none();
    let steps: Vec<_> = steps.into_iter().filter(counts).collect();
    let open: Vec<&ChangePoint> = steps
        .iter()
        .map(|(step, _)| *step)
        .filter(|step| step.accepted.is_none())
        .collect();
    let all: Vec<&ChangePoint> = steps.iter().map(|(step, _)| *step).collect();
    let (net, standing) = match (sum(&open), sum(&all)) {
        (Some(net), _) => (Some(net), judged(trace, net)),
        (None, Some(net)) => (Some(net), Standing::Accepted),
        (None, None) => (None, Standing::Noise),
    };
    found.change = net;
    found.standing = if failed.is_some() {
        Standing::Withheld
    } else if too_few(segment) {
        Standing::Few
    } else {
        standing
    };
    found.withheld = failed.map(|(_, why)| why.clone());
    found
}

/// Whether later steps of the same segment took one back, by half of it or more.
#[must_use]
pub fn taken_back(segment: &Segment, point: &ChangePoint) -> bool {
    let log = |point: &ChangePoint| (point.change_percent / 100.0).ln_1p();
    let later = segment.change_points.iter().skip_while(|other| *other != point).skip(1);
    let back: f64 = later.map(log).sum();
    back * log(point) < 0.0 && back.abs() >= log(point).abs() / 2.0
}

fn too_few(segment: &Segment) -> bool {
    segment.points < FEWEST
}

fn judged(trace: &Trace, net: Change) -> Standing {
    match trace.better {
        None => Standing::Changed,
        Some(Better::Lower) if net.percent > 0.0 => Standing::Worse,
        Some(Better::Higher) if net.percent < 0.0 => Standing::Worse,
        Some(_) => Standing::Better,
    }
}

/// Steps one after the other as a single change; none when they come back to where they started. Their errors are
/// independent, so their squares add up.
fn sum(steps: &[&ChangePoint]) -> Option<Change> {
    let log = |percent: f64| (percent / 100.0).ln_1p();
    let percent = |log: f64| 100.0 * log.exp_m1();
    let net: f64 = steps.iter().map(|step| log(step.change_percent)).sum();
    let reach = |end: fn(&ChangePoint) -> f64| {
        let squares = steps
            .iter()
            .map(|step| (log(end(step)) - log(step.change_percent)).powi(2));
        squares.sum::<f64>().sqrt()
    };
    (net.abs() >= SMALLEST_STEP / 2.0).then(|| Change {
        percent: percent(net),
        low: percent(net - reach(|step| step.low_percent)),
        high: percent(net + reach(|step| step.high_percent)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::SegmentPlaces;
    use wirebench_record::trend::{Basis, Direction, Push};

    fn push() -> Push {
        Push {
            run: None,
            commit: "abcdef1".into(),
            at: None,
            message: None,
            author: None,
        }
    }

    /// A trace of 100 pushes with steps at these places, in percent; accepted ones are meant.
    fn made(better: Option<Better>, steps: &[(usize, f64, bool)]) -> (Trace, Values) {
        let point = |(_, percent, meant): &(usize, f64, bool)| ChangePoint {
            last_before: push(),
            first_after: push(),
            reported: push(),
            change_percent: *percent,
            low_percent: percent - 1.0,
            high_percent: percent + 1.0,
            direction: Direction::Unknown,
            accepted: meant.then(|| "meant".into()),
            not_code: None,
            alert: false,
            recent: false,
        };
        let segment = Segment {
            broken_by: Some("machine a → b".into()),
            basis: Basis::Value,
            noise: None,
            first: push(),
            last: push(),
            points: 90,
            level: 1.0,
            resolvable_percent: Some(3.0),
            change_points: steps.iter().map(point).collect(),
        };
        let trace = Trace {
            source: "runs".into(),
            series: "a@b@c".into(),
            metric: None,
            unit: "ns".into(),
            better,
            basis: Basis::Value,
            points: 90,
            left_out: 0,
            not_judged: None,
            newest: None,
            segments: vec![segment],
        };
        let place = |(at, ..): &(usize, f64, bool)| StepPlaces {
            last_before: at - 1,
            first_after: *at,
            reported: at + 2,
        };
        let values = Values {
            line: 0,
            values: vec![1.0; 100],
            ratios: Vec::new(),
            half_permille: Vec::new(),
            failures: Vec::new(),
            segments: vec![SegmentPlaces {
                first: 10,
                last: 99,
                basis: Basis::Value,
                steps: steps.iter().map(place).collect(),
            }],
        };
        (trace, values)
    }

    fn of(better: Better, steps: &[(usize, f64, bool)]) -> (Standing, Option<f64>) {
        let (trace, values) = made(Some(better), steps);
        let stands = stands(&trace, &values, 50);
        (stands.standing, stands.change.map(|change| change.percent.round()))
    }

    #[test]
    fn steps_since_then_decide_and_earlier_ones_do_not() {
        assert_eq!(of(Better::Lower, &[(80, 10.0, false)]), (Standing::Worse, Some(10.0)));
        assert_eq!(of(Better::Higher, &[(80, 10.0, false)]), (Standing::Better, Some(10.0)));
        assert_eq!(of(Better::Lower, &[(40, 10.0, false)]), (Standing::Noise, None));
        let both = [(60, 10.0, false), (80, 10.0, false)];
        assert_eq!(of(Better::Lower, &both), (Standing::Worse, Some(21.0)));
    }

    #[test]
    fn a_step_that_was_taken_back_is_none_and_an_accepted_one_is_meant() {
        let back = [(60, 10.0, false), (80, 100.0 / 1.1 - 100.0, false)];
        assert_eq!(of(Better::Lower, &back), (Standing::Noise, None));
        assert_eq!(of(Better::Lower, &[(60, 10.0, true)]), (Standing::Accepted, Some(10.0)));
        let more = [(60, 10.0, true), (80, 5.0, false)];
        assert_eq!(of(Better::Lower, &more), (Standing::Worse, Some(5.0)));
    }

    #[test]
    fn a_step_that_the_machine_made_does_not_count() {
        let (mut trace, values) = made(Some(Better::Lower), &[(60, 10.0, false), (80, 5.0, false)]);
        trace.segments[0].change_points[0].not_code = Some("same commit: the machine".into());
        let stands = stands(&trace, &values, 50);
        assert_eq!(
            (stands.standing, stands.change.unwrap().percent.round()),
            (Standing::Worse, 5.0)
        );
    }

    #[test]
    fn a_step_is_taken_back_by_half_of_it_or_more() {
        let (trace, _) = made(None, &[(60, 10.0, false), (80, -6.0, false)]);
        let segment = &trace.segments[0];
        assert!(taken_back(segment, &segment.change_points[0]));
        assert!(!taken_back(segment, &segment.change_points[1]));
        let (trace, _) = made(None, &[(60, 10.0, false), (80, -3.0, false)]);
        assert!(!taken_back(&trace.segments[0], &trace.segments[0].change_points[0]));
    }

    #[test]
    fn what_cannot_be_said_is_not_said() {
        let (mut trace, mut values) = made(None, &[(80, 10.0, false)]);
        assert_eq!(stands(&trace, &values, 50).standing, Standing::Changed);
        assert_eq!(stands(&trace, &values, 5).broken_by.as_deref(), Some("machine a → b"));
        values.failures.push((99, "no answer".into()));
        assert_eq!(stands(&trace, &values, 50).standing, Standing::Withheld);
        values.failures.clear();
        values.segments[0].last = 70;
        assert_eq!(stands(&trace, &values, 50).standing, Standing::Ended);
        values.segments[0].last = 99;
        trace.segments[0].points = 4;
        assert_eq!(stands(&trace, &values, 50).standing, Standing::Few);
    }
}
