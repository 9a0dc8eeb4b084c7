//! The time limits of a stage: when a first stage ends so that a second one is possible.

use std::time::{Duration, Instant};

use wirebench_declare::plan::rerun::FEWEST_PAIRS;

/// Pairs beyond the fewest that a verdict needs: outliers are left out.
const SPARE_PAIRS: u32 = 2;

/// The share of the budget after which the first stage ends as soon as it has enough rounds for a verdict. The rest of the
/// budget is for the second stage, without which nothing can be confirmed.
const SCREEN_SHARE: f64 = 0.4;

/// The share of the budget that the first stage may take to get enough rounds. If they would take longer, it ends at once,
/// and the second stage measures the series that look worst.
const MOST_OF_SCREEN: f64 = 0.6;

/// With fewer rounds than this nothing is known of the order of series.
const FEWEST_TO_RANK: u32 = 2;

/// The time limits of a stage.
#[derive(Debug, Clone, Copy)]
pub struct StageTime {
    began: Instant,
    /// The time after which no new round begins.
    pub end: Option<Instant>,
    /// Whether a stage follows, which needs a part of the time.
    is_first: bool,
}

impl StageTime {
    /// A stage without limits.
    #[must_use]
    pub fn unlimited() -> Self {
        Self {
            began: Instant::now(),
            end: None,
            is_first: false,
        }
    }

    /// A first stage, which leaves time for a second one within the budget that begins now.
    #[must_use]
    pub fn first(budget: Duration) -> Self {
        let began = Instant::now();
        Self {
            began,
            end: Some(began + budget),
            is_first: true,
        }
    }

    /// A stage that may take all the time there is.
    #[must_use]
    pub fn last(end: Instant) -> Self {
        Self {
            began: Instant::now(),
            end: Some(end),
            is_first: false,
        }
    }

    /// True if the time of the next stage has begun.
    #[must_use]
    pub fn is_late(self, now: Instant) -> bool {
        self.after(SCREEN_SHARE).is_some_and(|late| now >= late)
    }

    /// True if a stage of that many series with that many whole rounds ends now.
    #[must_use]
    pub fn is_enough(self, whole: u32, series: usize, now: Instant) -> bool {
        let (Some(end), Some(latest)) = (self.end, self.after(MOST_OF_SCREEN)) else {
            return false;
        };
        if !self.is_late(now) || whole < FEWEST_TO_RANK {
            return false;
        }
        if whole >= FEWEST_PAIRS + SPARE_PAIRS {
            return true;
        }
        let round = now.duration_since(self.began) / whole;
        let spare = if whole < FEWEST_PAIRS { 0 } else { SPARE_PAIRS };
        let takes_too_long = self.began + round * (FEWEST_PAIRS + spare) > latest;
        // One series at least must fit into the next stage.
        let next = round * FEWEST_PAIRS / u32::try_from(series.max(1)).unwrap_or(u32::MAX);
        takes_too_long && now + next <= end
    }

    /// The instant after that share of the time; `None` if no stage follows.
    fn after(self, share: f64) -> Option<Instant> {
        let end = self.end.filter(|_| self.is_first)?;
        Some(self.began + (end - self.began).mul_f64(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Duration = Duration::from_secs(100);

    /// Whether a first stage of a budget of 100 s ends after so many rounds of so many series and so many seconds.
    fn enough(whole: u32, series: usize, seconds: u64) -> bool {
        let time = StageTime::first(BUDGET);
        time.is_enough(whole, series, time.began + Duration::from_secs(seconds))
    }

    #[test]
    fn a_first_stage_has_all_its_rounds_while_there_is_time() {
        assert!(!enough(20, 3, 39), "no hurry yet");
        assert!(enough(10, 3, 41), "enough, with two to spare");
        assert!(!enough(9, 3, 41), "the tenth round ends before 60 %");
        assert!(!enough(6, 3, 41), "the eighth round ends before 60 %");
    }

    #[test]
    fn a_first_stage_that_would_take_too_long_leaves_its_time_to_the_second() {
        assert!(enough(8, 3, 50), "none to spare");
        assert!(
            enough(4, 3, 41),
            "4 rounds of 3 series took 41 s: 8 fresh ones of the worst series take 27 s"
        );
        assert!(!enough(4, 1, 41), "8 fresh rounds of the one series take 82 s");
        assert!(!enough(1, 30, 41), "one round says nothing");
    }

    #[test]
    fn only_a_first_stage_leaves_time() {
        let now = Instant::now();
        let last = StageTime::last(now + BUDGET);
        for time in [last, StageTime::unlimited()] {
            let later = now + Duration::from_secs(99);
            assert!(!time.is_late(later) && !time.is_enough(99, 3, later));
        }
        let first = StageTime::first(BUDGET);
        assert!(!first.is_late(now + Duration::from_secs(39)) && first.is_late(now + Duration::from_secs(41)));
    }
}
