//! Looks for a step among the newest values. Most pushes have none, so the cheap conditions are tested first.

use crate::change_point::level::{are_far, median_of};
use crate::change_point::noise::{Noise, OldLevel};
use crate::change_point::row::Row;
use crate::change_point::rules::{LEAST_BEFORE, RULES, StepRule};
use crate::change_point::step::{Step, level_start};
use crate::mann_whitney::{Level, differ};

/// A value counts in the likelihood as if it were at most this many scales away, so that two outliers make no step.
const REACH: f64 = 3.0;
/// With fewer values before a step, the probability of its ranks must be at most 0.001.
pub(super) const MANY_BEFORE: usize = 12;

/// The place of the step with the largest likelihood ratio, and whether it goes up; `None` if there is no step.
pub(super) fn newest_step(row: &Row, steps: &[Step]) -> Option<(usize, bool)> {
    let (start, end) = (level_start(steps), row.values.len());
    let most = (end - start).saturating_sub(LEAST_BEFORE);
    let rules = &RULES[..RULES.partition_point(|rule| rule.count <= most)];
    // The smallest distance of the newest values' median from the old one, whatever their number.
    let (mut top, mut bottom) = (f64::INFINITY, f64::NEG_INFINITY);
    for rule in rules {
        let prior = row.priors[end - rule.count];
        let least = rule.least_distance(prior);
        top = top.min(prior.median + least);
        bottom = bottom.max(prior.median - least);
    }
    let (mut above, mut below, mut counted) = (0, 0, 0);
    let mut best: Option<(f64, usize, bool)> = None;
    for rule in rules {
        let at = end - rule.count;
        for value in &row.values[at..end - counted] {
            above += usize::from(*value >= top);
            below += usize::from(*value <= bottom);
        }
        counted = rule.count;
        // If fewer than half of the values are that far away, so is their median: most pushes end here.
        if 2 * above.max(below) < counted {
            continue;
        }
        if let Some((ratio, up)) = tested(row, steps, rule)
            && best.is_none_or(|(most, ..)| ratio > most)
        {
            best = Some((ratio, at, up));
        }
    }
    best.map(|(_, at, up)| (at, up))
}

/// Whether the newest values are a step by a rule: the log-likelihood ratio, and whether it goes up.
fn tested(row: &Row, steps: &[Step], rule: &StepRule) -> Option<(f64, bool)> {
    let at = row.values.len() - rule.count;
    let prior = row.priors[at];
    let after = &row.values[at..];
    let least = rule.least_distance(prior);
    let above = after.iter().filter(|value| **value - prior.median >= least).count();
    let below = after.iter().filter(|value| prior.median - **value >= least).count();
    if 2 * above.max(below) < rule.count {
        return None;
    }
    let now = median_of(after);
    let up = now > prior.median;
    let reach = REACH * prior.scale;
    let bounded = prior.median + (now - prior.median).clamp(-reach, reach);
    if (now - prior.median).abs() < least || prior.likelihood_ratio(after, bounded) < rule.likelihood_ratio {
        return None;
    }
    let before = row.before(at, level_start(steps));
    let level = if before.len() < MANY_BEFORE {
        Level::Thousandth
    } else {
        rule.level
    };
    let old = OldLevel {
        values: before,
        median: prior.median,
        recent_spread: prior.scale / 0.8,
    };
    let exceeds_noise = || {
        let starts = steps.iter().map(|step| step.at);
        Noise::of_exceeded(&row.values[..at], starts, old, after, rule.errors).is_some()
    };
    let is_step = are_far(after, prior.median, up)
        || (Noise::may_be_exceeded(old, after, rule.errors)
            && differ(before, after, level) == Some(up)
            && exceeds_noise());
    is_step.then(|| (prior.likelihood_ratio(after, now), up))
}
