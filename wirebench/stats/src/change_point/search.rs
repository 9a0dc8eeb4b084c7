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
    let rules = RULES.iter().take_while(|rule| rule.count <= most);
    let found = rules.filter_map(|rule| {
        let (ratio, up) = tested(row, steps, rule)?;
        Some((ratio, end - rule.count, up))
    });
    let (_, at, up) = found.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    Some((at, up))
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
        let noise = Noise::of(&row.values[..at], steps.iter().map(|step| step.at));
        noise.is_some_and(|noise| noise.is_exceeded(old, after, rule.errors))
    };
    let is_step = are_far(after, prior.median, up) || (differ(before, after, level) == Some(up) && exceeds_noise());
    is_step.then(|| (prior.likelihood_ratio(after, now), up))
}
