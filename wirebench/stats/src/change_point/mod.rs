//! Finds steps in a row of values, at every push.
//!
//! Values are natural logarithms, so that a step is a relative change; only differences between them count. At each push the
//! newest 3, 4, … 30 values are compared with the 30 before them, and a step is reported when all of this holds:
//!
//! - the medians differ by at least [`SMALLEST_STEP`], and by two standard errors or more;
//! - the newest values fit a level of their own better than the old one: the log-likelihood ratio under a Laplace law, in
//!   which one value counts for a limited amount only, is at least 5 (7 for 4 values, 7.5 for 3);
//! - ranks as these are improbable without a step, p ≤ 0.001, or p ≤ 0.02 for fewer than 8 new values and 12 or more
//!   before: ranks alone would let a single outlier among 5 hide a step;
//! - the mean of the newest values, limited to 3.2 standard deviations each, is 3.65 standard errors (3.9 from 8 values
//!   on, 4.3 from 13 on) from the old level, and from where its drift would have led. The standard error depends on the
//!   spread, the autocorrelation and the drift of the up to 100 values before ([`Noise`]). Instead, it is enough that many
//!   values on either side do not overlap, unless there is a drift.
//!
//! While no more than [`WINDOW`] values came after it, a step is tested again at every push and withdrawn when the medians
//! are less than half of [`SMALLEST_STEP`] apart, the ranks are no longer improbable (p > 0.05) or the mean is less than 3.2
//! standard errors away; from 15 values on, when they are less than three quarters of it apart, p > 0.02, or less than 4.
//!
//! If levels come back, as on machines of two kinds, a step between them is not caused by the code. A level comes back if it
//! is less than 3.2 standard errors from one that the last [`REMEMBERED`] values left. A step to such a level is followed but
//! not reported once those values have a step up and a step down, or a level that came back before. In the second case this
//! holds for every level between theirs, too.

mod level;
mod noise;
mod row;
mod rules;
mod search;
mod step;
#[cfg(test)]
mod tests;

pub use noise::Noise;
pub use rules::{LEAST_AFTER, LEAST_BEFORE, SMALLEST_STEP, WINDOW};
pub use step::ChangePoint;

use self::level::median_of;
use self::row::Row;
use self::rules::RULES;
use self::search::{MANY_BEFORE, newest_step};
use self::step::{STAYS, Step, level_start};
use crate::quantile::median_of_sorted;

/// Pushes within which [`Detector::resolvable`] promises that a step is reported.
pub const SEEN_WITHIN: usize = 5;
/// The number of values in which levels are remembered, so that a level that comes back is recognised.
pub const REMEMBERED: usize = 100;

/// A step's place is corrected until this many values came after it.
const PLACED_AFTER: usize = 10;
/// How far beyond the remembered levels one that comes back may lie, as a share of their range.
const RETURN_TOLERANCE: f64 = 0.25;

/// What a push changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A step is reported that was not before.
    Reported,
    /// The newest step is withdrawn.
    Withdrawn,
}

/// Follows one row of values.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    row: Row,
    steps: Vec<Step>,
}

impl Detector {
    /// Adds the next value, a finite logarithm.
    pub fn push(&mut self, value: f64) -> Option<Event> {
        self.row.push(value);
        let rechecked = self.recheck();
        let Some((at, up)) = newest_step(&self.row, &self.steps) else {
            return rechecked;
        };
        let step = Step {
            at,
            reported: self.row.values.len() - 1,
            up,
            old: self.row.priors[at].median,
            came_back: false,
            returns: false,
            noise: None,
        };
        let step = self.compared(step).relocated(&self.row, level_start(&self.steps));
        self.add(step);
        (!step.returns).then_some(Event::Reported).or(rechecked)
    }

    /// Every step that is reported now, in order.
    pub fn change_points(&self) -> Vec<ChangePoint> {
        let change_point = |(number, step): (usize, &Step)| {
            let start = level_start(&self.steps[..number]);
            let end = self.steps.get(number + 1).map_or(self.row.values.len(), |next| next.at);
            step.change_point(&self.row, start, end)
        };
        (self.steps.iter().enumerate())
            .filter(|(_, step)| !step.returns)
            .filter_map(change_point)
            .collect()
    }

    /// The noise of the newest values; `None` before the first value.
    pub fn noise(&self) -> Option<Noise> {
        self.noise_before(self.row.values.len())
    }

    /// How often the newest [`REMEMBERED`] values came back to a level that was there before.
    pub fn returns(&self) -> usize {
        let recent = &self.steps[self.remembered(self.row.values.len())..];
        recent.iter().filter(|step| step.returns).count()
    }

    /// The smallest step in the logarithm that is reported within [`SEEN_WITHIN`] pushes in 95 of 100 cases if the noise
    /// stays as it was in the newest values; `None` with too few of them.
    pub fn resolvable(&self) -> Option<f64> {
        let window = &self.row.window;
        let n = window.len();
        if n < MANY_BEFORE + LEAST_AFTER {
            return None;
        }
        let median = median_of_sorted(window);
        // The third value from either end of 30 is 1.36 standard deviations out. The longer side is used, because skewed
        // noise hides a step there.
        let rank = (n / 10).max(2) - 1;
        let tail = (window[n - 1 - rank] - median).max(median - window[rank]) / 1.36;
        let noise = self.noise()?;
        let distances: Vec<f64> = window.iter().map(|value| (value - median).abs()).collect();
        let spread = tail.max(1.4826 * median_of(&distances)).max(noise.spread);
        let error = spread * noise.error(n, SEEN_WITHIN);
        // The distance that the mean must reach, and the shortfall of the mean in one of 20 cases, with a reserve for a spread
        // that is underestimated.
        Some(((RULES[2].errors + 2.0) * error).max(SMALLEST_STEP + 1.645 * error))
    }

    /// The median of the newest values since the last step, at most [`WINDOW`] of them; `None` before the first value.
    pub fn level(&self) -> Option<f64> {
        (!self.row.window.is_empty()).then(|| median_of_sorted(&self.row.window))
    }

    /// Adds a step, which starts a new level.
    fn add(&mut self, step: Step) {
        let noise = self.noise_before(step.at);
        self.steps.push(Step { noise, ..step });
        self.row.restart(step.at);
    }

    /// Corrects what is known of the newest step, or withdraws it.
    fn recheck(&mut self) -> Option<Event> {
        let end = self.row.values.len();
        let step = self.steps.pop_if(|step| end - step.at <= WINDOW)?;
        let start = level_start(&self.steps);
        if !step.holds(&self.row, start) {
            self.row.restart(start);
            return (!step.returns).then_some(Event::Withdrawn);
        }
        if end - step.at >= PLACED_AFTER {
            self.steps.push(step);
            return None;
        }
        let mut moved = self.compared(step.relocated(&self.row, start));
        moved.returns &= step.returns;
        let is_news = step.returns && !moved.returns;
        // A step is not reported before it happens: the one reported first was another.
        if is_news || moved.at > moved.reported {
            moved.reported = end - 1;
        }
        self.add(moved);
        is_news.then_some(Event::Reported)
    }

    fn noise_before(&self, at: usize) -> Option<Noise> {
        Noise::of(&self.row.values[..at], self.steps.iter().map(|step| step.at))
    }

    /// The number of the first step among the last [`REMEMBERED`] values before a place.
    fn remembered(&self, place: usize) -> usize {
        let from = place.saturating_sub(REMEMBERED);
        self.steps.partition_point(|step| step.at < from)
    }

    /// A step, with what the remembered levels tell about the level that it leads to.
    fn compared(&self, mut step: Step) -> Step {
        let first = self.remembered(step.at);
        let recent = &self.steps[first..];
        let after = &self.row.values[step.at..];
        let noise = self.noise_before(step.at);
        let was_there = |number: usize| {
            let old = self.steps[number].old_level(&self.row, level_start(&self.steps[..number]));
            noise.is_some_and(|noise| !noise.is_exceeded(old, after, STAYS[0]))
        };
        step.came_back = (first..self.steps.len()).any(was_there);
        // A level that came back once may be a change that was undone; from then on, levels come and go.
        let come_and_go = recent.iter().any(|earlier| earlier.came_back);
        let both_ways = recent.iter().any(|earlier| earlier.up) && recent.iter().any(|earlier| !earlier.up);
        let levels = recent.iter().map(|earlier| earlier.old).chain([step.old]);
        step.returns =
            step.came_back && (come_and_go || both_ways) || come_and_go && is_enclosed(median_of(after), levels);
        step
    }
}

/// Whether a level lies between others, or little beyond them.
fn is_enclosed(level: f64, others: impl Iterator<Item = f64>) -> bool {
    let (lowest, highest) = others.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), other| {
        (low.min(other), high.max(other))
    });
    let tolerance = RETURN_TOLERANCE * (highest - lowest);
    (lowest - tolerance..=highest + tolerance).contains(&level)
}
