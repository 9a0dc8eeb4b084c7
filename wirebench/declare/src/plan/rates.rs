//! Rates that depend on a measurement: a share of the capacity, and the steps of a search for the highest rate at which an
//! objective holds. Pure.

use crate::percent::Percent;

/// The most rates that one search tries.
pub const MOST_STEPS: u32 = 8;
/// Rates that a search knows of, both ends included: one fewer than 2⁸, so that eight steps find the highest that
/// holds, or that none does.
const POINTS: u32 = 255;
/// The search ends when a rate that holds and one that does not are no further apart than this.
const CLOSE: f64 = 1.02;

/// A share of a capacity, whole requests per second, 1 at least.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of up to 100 % of a u32, rounded down"
)]
pub fn of_capacity(capacity_per_s: u32, share: Percent) -> u32 {
    // The share is written in decimal: 0.7 × 1000 is 699.999… in binary, and means 700.
    let rate = (f64::from(capacity_per_s) * share.percent() * 10.0).round() / 1000.0;
    (rate.floor() as u32).clamp(1, capacity_per_s.max(1))
}

/// A bisection whose steps are equal ratios: eight steps at most, whatever the range.
#[derive(Debug, Clone)]
pub struct Bisection {
    from: u32,
    to: u32,
    /// The number of rates, from the lowest on, that hold.
    holding: u32,
    /// The index of the first rate that does not hold; `POINTS` if none is known.
    failing: u32,
}

impl Bisection {
    /// Begins a search between two rates, `from` below `to`.
    pub const fn new(from: u32, to: u32) -> Self {
        Self {
            from,
            to,
            holding: 0,
            failing: POINTS,
        }
    }

    /// The rate to try next; `None` if the search has ended.
    pub fn next_rate(&mut self) -> Option<u32> {
        loop {
            let (best, worst) = (self.best(), self.worst());
            let close = |(best, worst): (u32, u32)| f64::from(worst) < f64::from(best) * CLOSE;
            let ended = self.holding == self.failing
                || best == Some(self.to)
                || worst == Some(self.from)
                || best.zip(worst).is_some_and(close);
            if ended {
                return None;
            }
            let middle = self.middle();
            match self.rate(middle) {
                // Rates are whole numbers: in a narrow range several points are the same rate, whose result is known.
                known if Some(known) == best => self.holding = middle + 1,
                known if Some(known) == worst => self.failing = middle,
                rate => return Some(rate),
            }
        }
    }

    /// Records the result for the rate that `next_rate` returned.
    pub fn answer(&mut self, holds: bool) {
        if holds {
            self.holding = self.middle() + 1;
        } else {
            self.failing = self.middle();
        }
    }

    /// The highest rate known to hold.
    pub fn best(&self) -> Option<u32> {
        self.holding.checked_sub(1).map(|point| self.rate(point))
    }

    /// The lowest rate known not to hold.
    fn worst(&self) -> Option<u32> {
        (self.failing < POINTS).then(|| self.rate(self.failing))
    }

    const fn middle(&self) -> u32 {
        u32::midpoint(self.holding, self.failing)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between two numbers that are u32 themselves"
    )]
    fn rate(&self, point: u32) -> u32 {
        let (from, to) = (f64::from(self.from), f64::from(self.to));
        let rate = from * (to / from).powf(f64::from(point) / f64::from(POINTS - 1));
        (rate.round() as u32).clamp(self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    /// Searches on a server that holds every rate up to `capacity`: the rates tried, and the result.
    fn searched(from: u32, to: u32, capacity: u32) -> (Vec<u32>, Option<u32>) {
        let mut bisection = Bisection::new(from, to);
        let mut tried = Vec::new();
        while let Some(rate) = bisection.next_rate() {
            tried.push(rate);
            assert!(tried.len() <= 20, "{tried:?}");
            bisection.answer(rate <= capacity);
        }
        (tried, bisection.best())
    }

    proptest! {
        #[test]
        fn a_search_ends_within_eight_steps_beside_the_capacity(
            from in 1u32..10_000, factor in 2u32..1_000, capacity in 0u32..20_000_000
        ) {
            let to = from * factor;
            let (tried, found) = searched(from, to, capacity);
            prop_assert!(tried.len() <= 8, "{tried:?}");
            prop_assert!(tried.iter().all(|rate| (from..=to).contains(rate)));
            // Two points are this far apart, or 2 %, or one request.
            let step = (f64::from(to) / f64::from(from)).powf(1.0 / 254.0).max(CLOSE);
            match found {
                None => prop_assert!(capacity < from && tried.last() == Some(&from)),
                Some(found) => {
                    prop_assert!(found <= capacity && tried.contains(&found));
                    prop_assert!(found == to || f64::from(capacity) <= f64::from(found) * step + 2.0, "{found} {capacity}");
                }
            }
        }

        #[test]
        fn a_share_of_the_capacity_is_whole_and_never_more(capacity in 0u32..5_000_000, permille in 1u32..=1000) {
            let percent = f64::from(permille) / 10.0;
            let rate = of_capacity(capacity, Percent::of(percent));
            prop_assert_eq!(u64::from(rate), (u64::from(capacity) * u64::from(permille) / 1000).max(1));
        }
    }

    #[test]
    fn all_and_nothing_are_told_by_the_ends_themselves() {
        let (tried, found) = searched(500, 50_000, 1_000_000);
        assert_eq!((tried.len(), found), (8, Some(50_000)));
        let (tried, found) = searched(500, 50_000, 0);
        assert_eq!((tried.last(), found), (Some(&500), None));
        assert_eq!(searched(5, 7, 6), (vec![6, 7], Some(6)));
        assert!(searched(1_000, 1_100, 1_050).0.len() <= 4);
    }
}
