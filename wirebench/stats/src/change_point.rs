//! Steps in a row of values, looked for at every push as the values come in.
//!
//! Values are natural logarithms, so that a step is a relative change; only differences between them count. At each push the
//! newest 3, 4, … 30 values are set against the 30 before them, and a step is reported when all of this holds:
//!
//! - the medians differ by at least [`SMALLEST_STEP`], and by two standard errors or more;
//! - the newest values fit a level of their own better than the old one: the log-likelihood ratio under a Laplace law, in
//!   which one value counts for a limited amount only, is at least 5 (7 for 4 values, 7.5 for 3);
//! - ranks as these are improbable without a step, p ≤ 0.001, or p ≤ 0.02 for fewer than 8 new values set against 12 or
//!   more: ranks alone would let a single outlier among 5 hide a step;
//! - the mean of the newest values, none counted beyond 3.2 standard deviations, is 3.65 standard errors (3.9 from 8 values
//!   on, 4.3 from 13 on) from the old level, and from where a drift of it would have led. The standard error knows the
//!   spread, the autocorrelation and the drift of the up to 100 values before ([`Noise`]).
//!
//! While no more than [`WINDOW`] values came after it, a step is looked at again at every push and withdrawn when the medians
//! are less than half of [`SMALLEST_STEP`] apart, the ranks are no longer improbable (p > 0.05) or the mean is less than 3.2
//! standard errors away; from 15 values on, when they are less than three quarters of it apart, p > 0.02, or less than 4.
//!
//! Where levels come back, as on machines of two kinds, a step between them says nothing of the code: once the last
//! [`REMEMBERED`] values hold a step up and a step down, one to a level between those that were there is followed in silence.

mod asked;
mod noise;
mod past;

use asked::{ASKED, Ask};
use noise::Against;
pub use noise::Noise;
use past::{Past, deviation, middle, middle_of};

use crate::mann_whitney::{LARGEST, Level, Shift, differ, shift};

/// Values looked at on either side of a step, at most.
pub const WINDOW: usize = LARGEST;
/// Values after a step before it is reported.
pub const LEAST_AFTER: usize = 3;
/// Values before a step before it is reported.
pub const LEAST_BEFORE: usize = 5;
/// The smallest step reported, as a change of the logarithm: 2 %.
pub const SMALLEST_STEP: f64 = 0.019_802_627_296_179_713;
/// Pushes within which [`Detector::resolvable`] promises a step to be seen.
pub const SEEN_WITHIN: usize = 5;

/// A value counts in the likelihood as if it were at most this many scales away, so that two outliers make no step.
const REACH: f64 = 3.0;
/// Against fewer values before a step, its ranks must be improbable at a thousandth.
const MANY_BEFORE: usize = 12;
/// A step's place is corrected until so many values came after it.
const PLACED_AFTER: usize = 10;
/// From so many values after a step on, it must have proven itself.
const PROVEN_AFTER: usize = 15;
/// ln 100.
const FAR: f64 = 2.0 * std::f64::consts::LN_10;
/// Values in which levels are remembered, so that one that comes back is known.
pub const REMEMBERED: usize = 100;
/// How far beyond the levels that were there one that comes back may lie, as a share of their range.
const ROOM: f64 = 0.25;
/// Standard errors from the level before at which a step stays, while it is new, and from [`PROVEN_AFTER`] values on.
const STAYS: [f64; 2] = [3.2, 4.0];
/// How far the place of a step may be uncertain, to either side.
const BLUR: usize = 5;

/// What a push changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A step is reported that was not before.
    Reported,
    /// The newest step is no longer one.
    Withdrawn,
}

/// A step, as it is known at the latest push.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The last value that surely lies before it.
    pub last_before: usize,
    /// The first value that surely lies after it. More than one past `last_before` when the values between could be either.
    pub first_after: usize,
    /// The value at whose push it was first reported.
    pub reported: usize,
    /// Its size in the logarithm, from up to [`WINDOW`] values on either side.
    pub change: Shift,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    /// Its first value after.
    at: usize,
    reported: usize,
    up: bool,
    /// The median before it.
    old: f64,
    /// Whether it leads to a level that was there before, in a row whose levels come and go: it is no change point.
    returns: bool,
    /// The noise before it.
    noise: Option<Noise>,
}

/// Follows one row of values.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    values: Vec<f64>,
    /// For each place the values before it, no further back than the step before.
    pasts: Vec<Past>,
    /// The newest values of the current level, ascending.
    window: Vec<f64>,
    steps: Vec<Step>,
}

impl Detector {
    /// Adds the next value, a finite logarithm.
    pub fn push(&mut self, value: f64) -> Option<Event> {
        self.take(value);
        let withdrawn = self.look_again();
        match self.newest_step() {
            Some((at, up)) => {
                let reported = self.values.len() - 1;
                let old = self.pasts[at].median;
                let returns = self.was_there(at);
                let step = Step {
                    at,
                    reported,
                    up,
                    old,
                    returns,
                    noise: None,
                };
                let placed = self.placed(self.start(), step);
                let noise = self.noise_before(placed.at);
                self.steps.push(Step { noise, ..placed });
                self.restart();
                (!returns).then_some(Event::Reported)
            }
            None => withdrawn.then_some(Event::Withdrawn),
        }
    }

    /// Every step that is reported now, in order.
    #[must_use]
    pub fn change_points(&self) -> Vec<ChangePoint> {
        (0..self.steps.len())
            .filter(|number| !self.steps[*number].returns)
            .filter_map(|number| self.described(number))
            .collect()
    }

    /// The noise of the newest values; none before the first.
    #[must_use]
    pub fn noise(&self) -> Option<Noise> {
        self.noise_before(self.values.len())
    }

    /// How often the newest [`REMEMBERED`] values came back to a level that was there before.
    #[must_use]
    pub fn returns(&self) -> usize {
        let from = self.values.len().saturating_sub(REMEMBERED);
        let recent = self.steps.iter().filter(|step| step.at >= from);
        recent.filter(|step| step.returns).count()
    }

    /// The smallest step in the logarithm that is seen within [`SEEN_WITHIN`] pushes in 95 of 100 cases if the noise
    /// stays as it was in the newest values; none when there are too few of them.
    #[must_use]
    pub fn resolvable(&self) -> Option<f64> {
        let n = self.window.len();
        if n < MANY_BEFORE + LEAST_AFTER {
            return None;
        }
        let middle = middle_of(&self.window);
        // The third value from either end of 30 is 1.36 standard deviations out. The longer side counts: that is where
        // skewed noise hides a step.
        let rank = (n / 10).max(2) - 1;
        let tail = (self.window[n - 1 - rank] - middle).max(middle - self.window[rank]) / 1.36;
        let noise = self.noise()?;
        let spread = tail.max(1.4826 * deviation(&self.window, middle)).max(noise.spread);
        let error = spread * noise.error(n, SEEN_WITHIN);
        // What the mean must reach, and as much again as it is short of the true step in one of 20 cases, with some room
        // for a spread that is larger than it seems.
        Some(((ASKED[2].errors + 2.0) * error).max(SMALLEST_STEP + 1.645 * error))
    }

    /// The median of the newest values since the last step, at most [`WINDOW`] of them; none before the first value.
    #[must_use]
    pub fn level(&self) -> Option<f64> {
        (!self.window.is_empty()).then(|| middle_of(&self.window))
    }

    /// Where the current level starts.
    fn start(&self) -> usize {
        self.steps.last().map_or(0, |step| step.at)
    }

    fn take(&mut self, value: f64) {
        self.pasts.push(Past::of(&self.window));
        self.values.push(value);
        let place = self.window.partition_point(|other| *other < value);
        if self.window.len() < WINDOW {
            self.window.insert(place, value);
            return;
        }
        // The oldest goes: only what lies between the two moves.
        let oldest = self.values[self.values.len() - 1 - WINDOW];
        let gap = self.window.partition_point(|other| *other < oldest);
        if gap < place {
            self.window.copy_within(gap + 1..place, gap);
            self.window[place - 1] = value;
        } else {
            self.window.copy_within(place..gap, place + 1);
            self.window[place] = value;
        }
    }

    /// Reads the values of the current level again, after its start has moved.
    fn restart(&mut self) {
        let start = self.start();
        self.pasts.truncate(start);
        self.window.clear();
        for value in self.values.split_off(start) {
            self.take(value);
        }
    }

    /// Corrects the place of the newest step, or withdraws it; true when it is gone.
    fn look_again(&mut self) -> bool {
        let Some(step) = self.steps.last().copied() else {
            return false;
        };
        let end = self.values.len();
        if end - step.at > WINDOW {
            return false;
        }
        let earlier = self
            .steps
            .len()
            .checked_sub(2)
            .map_or(0, |before| self.steps[before].at);
        let moved = middle_of(&self.window) - step.old;
        let (level, least, errors) = if end - step.at < PROVEN_AFTER {
            (Level::Twentieth, SMALLEST_STEP * 0.5, STAYS[0])
        } else {
            (Level::Fiftieth, SMALLEST_STEP * 0.75, STAYS[1])
        };
        let before = &self.values[earlier.max(step.at.saturating_sub(WINDOW))..step.at];
        let against = Against {
            level: step.old,
            recent: 0.0,
            count: before.len(),
        };
        let stays = (if step.up { moved } else { -moved }) >= least
            && (is_far(step.old, &self.values[step.at..], step.up)
                || differ(before, &self.values[step.at..], level) == Some(step.up)
                    && step
                        .noise
                        .is_some_and(|noise| noise.clear(against, &self.values[step.at..], errors)));
        if !stays {
            self.steps.pop();
            self.restart();
            return !step.returns;
        }
        if end - step.at < PLACED_AFTER {
            let mut moved = self.placed(earlier, step);
            if moved.at != step.at {
                // Nothing is reported before it happens: what was seen first was another thing.
                if moved.at > moved.reported {
                    moved.reported = end - 1;
                }
                self.steps.pop();
                moved.noise = self.noise_before(moved.at);
                self.steps.push(moved);
                self.restart();
            }
        }
        false
    }

    /// The split of the newest values that speaks most clearly for a step, with its direction.
    fn newest_step(&self) -> Option<(usize, bool)> {
        let (start, end) = (self.start(), self.values.len());
        let most = (end - start).saturating_sub(LEAST_BEFORE);
        let asked = &ASKED[..ASKED.partition_point(|ask| ask.count <= most)];
        // The nearest that the median of the newest values may lie to the old one, whatever their count.
        let (mut top, mut bottom) = (f64::INFINITY, f64::NEG_INFINITY);
        for ask in asked {
            let past = self.pasts[end - ask.count];
            let least = ask.least(past);
            top = top.min(past.median + least);
            bottom = bottom.max(past.median - least);
        }
        let (mut above, mut below, mut counted) = (0, 0, 0);
        let mut best: Option<(f64, usize, bool)> = None;
        for ask in asked {
            let at = end - ask.count;
            for value in &self.values[at..end - counted] {
                above += usize::from(*value >= top);
                below += usize::from(*value <= bottom);
            }
            counted = ask.count;
            // With fewer than half on the far side their median is not there either: most pushes end here.
            if 2 * above.max(below) < counted {
                continue;
            }
            if let Some((gain, up)) = self.judged(start, at, ask)
                && best.is_none_or(|(most, ..)| gain > most)
            {
                best = Some((gain, at, up));
            }
        }
        best.map(|(_, at, up)| (at, up))
    }

    /// Whether there is a step at a place: its log-likelihood ratio and whether it goes up. The cheap questions come first.
    fn judged(&self, start: usize, at: usize, ask: &Ask) -> Option<(f64, bool)> {
        let past = self.pasts[at];
        let after = &self.values[at..];
        let least = ask.least(past);
        let (mut above, mut below) = (0, 0);
        for value in after {
            above += usize::from(value - past.median >= least);
            below += usize::from(past.median - value >= least);
        }
        if 2 * above.max(below) < ask.count {
            return None;
        }
        let now = middle(after);
        let up = now > past.median;
        let reach = REACH * past.scale;
        let bounded = past.median + (now - past.median).clamp(-reach, reach);
        if (now - past.median).abs() < least || past.gain(after, bounded) < ask.gain {
            return None;
        }
        let before = &self.values[start.max(at.saturating_sub(WINDOW))..at];
        let level = if before.len() < MANY_BEFORE {
            Level::Thousandth
        } else {
            ask.level
        };
        let against = Against {
            level: past.median,
            recent: past.scale / 0.8,
            count: before.len(),
        };
        // The cheapest question first: most are ruled out by what is known already.
        let clear = is_far(past.median, after, up)
            || (Noise::may_be_clear(against, after, ask.errors)
                && differ(before, after, level) == Some(up)
                && self.stands_out(at, against, ask.errors));
        clear.then(|| (past.gain(after, now), up))
    }

    /// Whether the values from a place on stand out of the noise before it.
    fn stands_out(&self, at: usize, against: Against, errors: f64) -> bool {
        let (before, after) = self.values.split_at(at);
        let starts = self.steps.iter().map(|step| step.at);
        Noise::if_clear(before, starts, against, after, errors).is_some()
    }

    fn noise_before(&self, at: usize) -> Option<Noise> {
        Noise::of(&self.values[..at], self.steps.iter().map(|step| step.at))
    }

    /// Whether the level that begins at a place lies between those of the last values, which went up and down already.
    fn was_there(&self, at: usize) -> bool {
        let from = at.saturating_sub(REMEMBERED);
        let recent = || self.steps.iter().filter(|step| step.at >= from);
        if !(recent().any(|step| step.up) && recent().any(|step| !step.up)) {
            return false;
        }
        let levels = || recent().map(|step| step.old).chain([self.pasts[at].median]);
        let (lowest, highest) = levels().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), level| {
            (low.min(level), high.max(level))
        });
        let room = ROOM * (highest - lowest);
        (lowest - room..=highest + room).contains(&middle(&self.values[at..]))
    }

    /// The step at its likeliest place, given the levels on either side.
    fn placed(&self, start: usize, mut step: Step) -> Step {
        let from = start.max(step.at.saturating_sub(WINDOW));
        for _ in 0..2 {
            let new = middle(&self.values[step.at..]);
            let mut nearer = 0.0;
            let mut best = (f64::NEG_INFINITY, step.at);
            for place in (from + 1..self.values.len()).rev() {
                nearer += (self.values[place] - step.old).abs() - (self.values[place] - new).abs();
                if place + LEAST_AFTER <= self.values.len() && nearer > best.0 {
                    best = (nearer, place);
                }
            }
            if best.1 == step.at {
                break;
            }
            step.at = best.1;
            step.old = middle(&self.values[start.max(step.at.saturating_sub(WINDOW))..step.at]);
        }
        step
    }

    fn described(&self, number: usize) -> Option<ChangePoint> {
        let step = self.steps[number];
        let start = number.checked_sub(1).map_or(0, |before| self.steps[before].at);
        let end = self.steps.get(number + 1).map_or(self.values.len(), |next| next.at);
        let (start, end) = (start.max(step.at.saturating_sub(WINDOW)), end.min(step.at + WINDOW));
        let (before, after) = (&self.values[start..step.at], &self.values[step.at..end]);
        let (old, new) = (middle(before), middle(after));
        // 0 on the old level, 1 on the new one.
        let way = |value: &f64| (value - old) / (new - old);
        let unsure_before = before.iter().rev().take_while(|value| way(value) > 1.0 / 3.0).count();
        let unsure_after = after.iter().take_while(|value| way(value) < 2.0 / 3.0).count();
        Some(ChangePoint {
            last_before: step.at - 1 - unsure_before.min(BLUR).min(before.len() - 1),
            first_after: step.at + unsure_after.min(BLUR).min(after.len() - 1),
            reported: step.reported,
            change: shift(before, after)?,
        })
    }
}

/// Whether every value is a hundred times above, or below, a level: that needs neither ranks nor a spread.
fn is_far(level: f64, values: &[f64], up: bool) -> bool {
    values
        .iter()
        .all(|value| (if up { value - level } else { level - value }) >= FAR)
}

#[cfg(test)]
mod tests;
