//! One step of a row: whether it still holds, where it is, and how large.

use crate::change_point::level::{are_far, median_of};
use crate::change_point::noise::{Noise, OldLevel};
use crate::change_point::row::Row;
use crate::change_point::rules::{LEAST_AFTER, SMALLEST_STEP, WINDOW};
use crate::mann_whitney::{Level, Shift, differ, shift};
use crate::quantile::median_of_sorted;

/// The number of values after a step from which on it must meet the stricter conditions.
const PROVEN_AFTER: usize = 15;
/// The distance from the old level at which a step stays, in standard errors: while it is new, and from [`PROVEN_AFTER`]
/// values on.
pub(super) const STAYS: [f64; 2] = [3.2, 4.0];
/// The largest uncertainty of a step's place, to either side.
const MOST_UNCERTAIN: usize = 5;

/// A step, as it is known at the latest push.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The last value that surely lies before it.
    pub last_before: usize,
    /// The first value that surely lies after it. More than one past `last_before` if it is unclear on which side the values
    /// between are.
    pub first_after: usize,
    /// The value at whose push it was first reported.
    pub reported: usize,
    /// Its size in the logarithm, from up to [`WINDOW`] values on either side.
    pub change: Shift,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The first value after it.
    pub(super) at: usize,
    pub(super) reported: usize,
    pub(super) up: bool,
    /// The median before it.
    pub(super) old: f64,
    /// Whether it leads to a level that was there before.
    pub(super) came_back: bool,
    /// Whether it does so in a row whose levels come and go: then it is no change point.
    pub(super) returns: bool,
    /// The noise before it.
    pub(super) noise: Option<Noise>,
}

/// The start of the level after the last of these steps.
pub(super) fn level_start(steps: &[Step]) -> usize {
    steps.last().map_or(0, |step| step.at)
}

impl Step {
    /// Whether the newest step of a row is still one; `start` is where the level before it starts.
    pub(super) fn holds(&self, row: &Row, start: usize) -> bool {
        let after = &row.values[self.at..];
        let moved = median_of_sorted(&row.window) - self.old;
        let (level, least, errors) = if after.len() < PROVEN_AFTER {
            (Level::Twentieth, SMALLEST_STEP * 0.5, STAYS[0])
        } else {
            (Level::Fiftieth, SMALLEST_STEP * 0.75, STAYS[1])
        };
        let old = self.old_level(row, start);
        (if self.up { moved } else { -moved }) >= least
            && (are_far(after, self.old, self.up)
                || differ(old.values, after, level) == Some(self.up)
                    && self.noise.is_some_and(|noise| noise.is_exceeded(old, after, errors)))
    }

    /// The level before it; `start` is where that level starts.
    pub(super) fn old_level<'a>(&self, row: &'a Row, start: usize) -> OldLevel<'a> {
        OldLevel {
            values: row.before(self.at, start),
            median: self.old,
            recent_spread: 0.0,
        }
    }

    /// The step at its likeliest place, given the levels on either side.
    pub(super) fn relocated(mut self, row: &Row, start: usize) -> Self {
        let values = &row.values;
        let from = start.max(self.at.saturating_sub(WINDOW));
        for _ in 0..2 {
            let new = median_of(&values[self.at..]);
            let mut nearer = 0.0;
            let mut best = (f64::NEG_INFINITY, self.at);
            for place in (from + 1..values.len()).rev() {
                nearer += (values[place] - self.old).abs() - (values[place] - new).abs();
                if place + LEAST_AFTER <= values.len() && nearer > best.0 {
                    best = (nearer, place);
                }
            }
            if best.1 == self.at {
                break;
            }
            self.at = best.1;
            self.old = median_of(row.before(self.at, start));
        }
        self
    }

    /// The change point between the values from `start` on and the values up to `end`.
    pub(super) fn change_point(&self, row: &Row, start: usize, end: usize) -> Option<ChangePoint> {
        let (before, after) = (
            row.before(self.at, start),
            &row.values[self.at..end.min(self.at + WINDOW)],
        );
        let (old, new) = (median_of(before), median_of(after));
        // 0 on the old level, 1 on the new one.
        let share = |value: &f64| (value - old) / (new - old);
        let unsure_before = before.iter().rev().take_while(|value| share(value) > 1.0 / 3.0).count();
        let unsure_after = after.iter().take_while(|value| share(value) < 2.0 / 3.0).count();
        Some(ChangePoint {
            last_before: self.at - 1 - unsure_before.min(MOST_UNCERTAIN).min(before.len() - 1),
            first_after: self.at + unsure_after.min(MOST_UNCERTAIN).min(after.len() - 1),
            reported: self.reported,
            change: shift(before, after)?,
        })
    }
}
