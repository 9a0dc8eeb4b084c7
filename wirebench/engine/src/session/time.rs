//! The time limits of a stage.

use std::time::{Duration, Instant};

use wirebench_declare::plan::budget::{Screen, is_late};

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

    /// The time left; `None` without a limit.
    #[must_use]
    pub fn left(self, now: Instant) -> Option<Duration> {
        Some(self.end?.saturating_duration_since(now))
    }

    /// True if the time of the next stage has begun.
    #[must_use]
    pub fn is_late(self, now: Instant) -> bool {
        let screen = self.screen(0, now);
        screen.is_some_and(|screen| is_late(screen.spent, screen.budget))
    }

    /// The first stage after that many whole rounds; `None` if no stage follows.
    #[must_use]
    pub fn screen(self, whole: u32, now: Instant) -> Option<Screen> {
        let end = self.end.filter(|_| self.is_first)?;
        Some(Screen {
            budget: end - self.began,
            spent: now.duration_since(self.began),
            whole,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_first_stage_leaves_time() {
        const BUDGET: Duration = Duration::from_secs(100);
        let now = Instant::now();
        let later = now + Duration::from_secs(99);
        for time in [StageTime::last(now + BUDGET), StageTime::unlimited()] {
            assert!(!time.is_late(later) && time.screen(99, later).is_none());
        }
        let first = StageTime::first(BUDGET);
        assert!(!first.is_late(now + Duration::from_secs(39)) && first.is_late(now + Duration::from_secs(41)));
        assert_eq!(first.screen(3, later).map(|screen| screen.budget), Some(BUDGET));
    }
}
