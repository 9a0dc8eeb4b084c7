//! Steps in a row of counts, which hardly vary: every change beyond the usual variation is a step, reported at once.

use crate::change_point::{ChangePoint, Event, WINDOW};
use crate::mann_whitney::Shift;
use crate::quantile::median;

/// The smallest step reported, as a change of the logarithm: half a percent.
pub const SMALLEST_STEP: f64 = 0.005;
/// With fewer values than this, nobody knows how far the values of a level lie apart.
const LEAST_BEFORE: usize = 3;
/// The smallest step reported from a level of so few values, as a change of the logarithm.
const LARGE_STEP: f64 = 0.05;
/// A step is this many times further from the level than 9 of 10 values.
const TIMES: f64 = 4.0;
/// In noise of one kind 9 of 10 values are at most this many times as far from their level as half of them. Where they are further,
/// and further than the counts themselves vary, values changed early without a report.
const TAIL: f64 = 4.0;
/// Values within which a step that goes back to the old level is withdrawn, and values after one that say whether it was off
/// its level or the first of a new one.
const NEXT: usize = 2;

/// Follows one row of counts, as logarithms.
#[derive(Debug, Clone, Default)]
pub struct CountDetector {
    values: Vec<f64>,
    /// How far the repetitions of each count lie from it, as a change of the logarithm; infinite where it is unknown.
    spreads: Vec<f64>,
    /// The distance of each value from the level before it; `None` for the first of a level.
    distances: Vec<Option<f64>>,
    /// The first value of every level but the first.
    steps: Vec<usize>,
    /// The value at which each of these steps was reported: its first, or a later one before which it was taken for noise.
    reported: Vec<usize>,
}

impl CountDetector {
    /// Adds the next value, a finite logarithm, and how far its repetitions lie from it, also in the logarithm.
    pub fn push(&mut self, value: f64, spread: Option<f64>) -> Option<Event> {
        let withdrawn = self.goes_back(value);
        if withdrawn {
            self.steps.pop();
            self.reported.pop();
        }
        let level = self.level().unwrap_or(value);
        let is_step = (value - level).abs() > self.least();
        let first = self.first_like(value, level);
        self.values.push(value);
        self.spreads.push(spread.unwrap_or(f64::INFINITY));
        self.distances.push(Some((value - level).abs()));
        if is_step {
            self.distances[first] = None;
            self.steps.push(first);
            self.reported.push(self.values.len() - 1);
            return Some(Event::Reported);
        }
        withdrawn.then_some(Event::Withdrawn)
    }

    /// Every step that is reported now, in order.
    pub fn change_points(&self) -> Vec<ChangePoint> {
        (0..self.steps.len())
            .filter_map(|number| self.described(number))
            .collect()
    }

    /// The median of the newest values since the last step; `None` before the first value.
    pub fn level(&self) -> Option<f64> {
        median(&self.values[self.start().max(self.values.len().saturating_sub(WINDOW))..])
    }

    /// The smallest step in the logarithm that is reported.
    pub fn least(&self) -> f64 {
        let is_short = self.values.len() - self.start() < LEAST_BEFORE;
        self.beyond_usual()
            .max(if is_short { LARGE_STEP } else { SMALLEST_STEP })
    }

    /// The distance from a level that no value of it has.
    fn beyond_usual(&self) -> f64 {
        let distances = (0..self.values.len()).rev().filter_map(|at| self.distance(at));
        let mut newest: Vec<f64> = distances.take(WINDOW).collect();
        if newest.is_empty() {
            return SMALLEST_STEP;
        }
        let mut spreads = self.spreads[self.spreads.len().saturating_sub(WINDOW)..].to_vec();
        let alike = (TAIL * part(&mut newest, 1, 2)).max(part(&mut spreads, 9, 10));
        let usual = part(&mut newest, 9, 10).min(alike);
        let few = 1.0 + 6.0 / f64::from(u32::try_from(newest.len()).unwrap_or(u32::MAX));
        (TIMES * few * usual).max(SMALLEST_STEP)
    }

    /// How far a value lies from the level before it or from the values after it, whichever is nearer: what the values after it
    /// confirm is a change, and no noise, even where it was not reported. `None` for the first value of a level.
    fn distance(&self, at: usize) -> Option<f64> {
        let end = self.steps.iter().copied().find(|step| *step > at);
        let end = end.unwrap_or(self.values.len()).min(at + 1 + NEXT);
        let next = median(&self.values[at + 1..end]);
        let from_next = next.map_or(f64::INFINITY, |next| (self.values[at] - next).abs());
        Some(self.distances[at]?.min(from_next))
    }

    /// The first of the newest values that lie nearer to the next value than to the level; the next one's place if none does.
    fn first_like(&self, value: f64, level: f64) -> usize {
        let is_like = |one: &&f64| (**one - value).abs() < (**one - level).abs();
        let newest = self.values[self.start()..].iter().rev();
        self.values.len() - newest.take_while(is_like).count()
    }

    fn start(&self) -> usize {
        self.steps.last().copied().unwrap_or(0)
    }

    /// Whether the newest level has few values, and this value lies on the level before it.
    fn goes_back(&self, value: f64) -> bool {
        let Some(at) = self.steps.last().copied() else {
            return false;
        };
        let before = self.steps.len().checked_sub(2).map_or(0, |place| self.steps[place]);
        let old = median(&self.values[before.max(at.saturating_sub(WINDOW))..at]);
        let from = |level: Option<f64>| level.map_or(f64::INFINITY, |level| (value - level).abs());
        let is_old = from(old) <= self.beyond_usual() && from(old) < from(self.level());
        self.values.len() - at <= NEXT && is_old
    }

    fn described(&self, number: usize) -> Option<ChangePoint> {
        let at = self.steps[number];
        let start = number.checked_sub(1).map_or(0, |before| self.steps[before]);
        let end = self.steps.get(number + 1).copied().unwrap_or(self.values.len());
        let before = &self.values[start.max(at.saturating_sub(WINDOW))..at];
        let after = &self.values[at..end.min(at + WINDOW)];
        let (old, new) = (median(before)?, median(after)?);
        let reach = |row: &[f64], level: f64| row.iter().map(|value| (value - level).abs()).fold(0.0, f64::max);
        let spread = reach(before, old) + reach(after, new);
        let estimate = new - old;
        Some(ChangePoint {
            last_before: at - 1,
            first_after: at,
            reported: self.reported[number],
            change: Shift {
                estimate,
                low: estimate - spread,
                high: estimate + spread,
            },
        })
    }
}

/// The value below which `of` in `all` of the values are; there is one at least.
fn part(values: &mut [f64], of: usize, all: usize) -> f64 {
    let place = (values.len() * of / all).min(values.len() - 1);
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(row: &[f64]) -> (Vec<Option<Event>>, CountDetector) {
        with_spread(row, None)
    }

    fn with_spread(row: &[f64], spread: Option<f64>) -> (Vec<Option<Event>>, CountDetector) {
        let mut detector = CountDetector::default();
        let events = row.iter().map(|value| detector.push(value.ln(), spread)).collect();
        (events, detector)
    }

    #[test]
    fn a_step_of_one_percent_is_reported_at_its_own_push() {
        let mut row: Vec<f64> = (0..10).map(|place| 15_600.0 + f64::from(place * 7 % 5)).collect();
        row.extend([15_756.0, 15_758.0]);
        let (events, detector) = of(&row);
        assert_eq!(events[10], Some(Event::Reported));
        let [step] = detector.change_points()[..] else {
            panic!("one step")
        };
        assert_eq!((step.last_before, step.first_after, step.reported), (9, 10, 10));
        assert!((step.change.estimate - 0.01).abs() < 0.001 && step.change.low <= step.change.estimate);
    }

    #[test]
    fn a_single_value_off_the_level_is_withdrawn_and_noise_is_no_step() {
        let mut row = vec![178.0; 8];
        row.extend([180.0, 178.0, 178.0]);
        let (events, detector) = of(&row);
        assert_eq!((events[8], events[9]), (Some(Event::Reported), Some(Event::Withdrawn)));
        assert_eq!(detector.change_points(), []);
        // Half a percent up and down all the time.
        let noisy: Vec<f64> = (0..60)
            .map(|place| 45_000.0 + 60.0 * f64::from(place * 7 % 5))
            .collect();
        assert_eq!(of(&noisy).1.change_points(), []);
        assert!(of(&noisy).1.least() > 0.01);
    }

    /// What the gRPC server of this repository allocated per request at seven commits, and what it executed: two of them changed it.
    #[test]
    fn steps_that_come_early_are_reported_and_do_not_hide_later_ones() {
        for row in [
            [27.0, 37.0, 37.0, 37.0, 37.0, 37.0, 20.0],
            [59_800.0, 65_680.0, 66_100.0, 65_370.0, 65_610.0, 65_840.0, 56_720.0],
        ] {
            let found = of(&row).1.change_points();
            let places: Vec<usize> = found.iter().map(|step| step.first_after).collect();
            assert_eq!(places, [1, 6], "{row:?}");
        }
    }

    /// What the HTTP server of this repository executed per request at commits of its first days. The first ones, which nobody could
    /// tell from noise, hid the last change of 3 %; where the counts themselves vary as much, it stays hidden.
    #[test]
    fn early_changes_are_no_noise_of_counts_that_repeat() {
        let mut row = vec![
            21_818.0, 21_201.0, 22_363.0, 20_953.0, 20_956.0, 21_004.0, 20_760.0, 20_764.0,
        ];
        row.extend((0..10).map(|place| 20_769.0 + f64::from(place * 7 % 5)));
        row.extend([20_062.0, 20_058.0, 20_062.0]);
        // Reported as soon as the noise is known to be small, and placed where it began.
        let mut sooner = row.clone();
        sooner.drain(8..16);
        sooner.extend([20_059.0; 9]);
        let found = with_spread(&sooner, Some(0.0023)).1.change_points();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].first_after == 10 && found[0].reported > 10, "{found:?}");
        let places = |spread| -> Vec<usize> {
            let found = with_spread(&row, spread).1.change_points();
            found.iter().map(|step| step.first_after).collect()
        };
        assert_eq!(places(Some(0.0023)), [18]);
        assert_eq!(places(Some(0.03)), [0; 0]);
        assert_eq!(places(None), [0; 0]);
        assert!(with_spread(&row, Some(0.0023)).1.least() < 0.02);
    }

    #[test]
    fn two_steps_are_two() {
        let row: Vec<f64> = [[3.0; 6], [4.0; 6], [3.0; 6]].concat();
        let found: Vec<usize> = of(&row).1.change_points().iter().map(|step| step.first_after).collect();
        assert_eq!(found, [6, 12]);
    }
}
