//! How the two stages of a comparison share its budget: when the first one ends, and which series the second one measures. Pure.

use std::time::Duration;

use wirebench_record::run::Stage;

use crate::plan::rerun::FEWEST_PAIRS;

/// Pairs beyond the fewest that a verdict needs: outliers are left out, and later pairs may take longer than earlier ones.
const SPARE_PAIRS: u32 = 2;

/// The share of the budget after which the first stage ends as soon as it has enough rounds for a verdict. The rest of the
/// budget is for the second stage, without which nothing can be confirmed.
const SCREEN_SHARE: f64 = 0.4;

/// The share of the budget that the first stage may take to get enough rounds. If they would take longer, it ends at once,
/// and the second stage measures the series that look worst.
const MOST_OF_SCREEN: f64 = 0.6;

/// With fewer rounds than this nothing is known of the order of series.
const FEWEST_TO_RANK: u32 = 2;

/// The second stage that could follow now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NextStage {
    /// The time that the fewest pairs of the series that needs them most take; `None` if no series needs fresh pairs.
    pub needed: Option<Duration>,
    /// What would be measured; `None` if no series needs fresh pairs, or the time left is too short.
    pub stage: Option<Stage>,
}

/// A first stage after a number of whole rounds.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// The time of both stages.
    pub budget: Duration,
    /// The time that the first stage took so far.
    pub spent: Duration,
    /// Rounds of every series so far.
    pub whole: u32,
}

impl Screen {
    /// True if it ends now, to leave time for the second stage; `needed` as in [`NextStage`].
    ///
    /// It ends only if the series that needs fresh pairs most can get them, and at the latest when another round would take
    /// their time away.
    pub fn ends(&self, needed: Option<Duration>) -> bool {
        if self.whole < FEWEST_TO_RANK {
            return false;
        }
        let is_late = is_late(self.spent, self.budget);
        let Some(needed) = needed else {
            return is_late && self.whole >= FEWEST_PAIRS + SPARE_PAIRS;
        };
        let left = self.budget.saturating_sub(self.spent);
        if needed > left {
            return false;
        }
        let round = self.spent / self.whole;
        let with_spare = needed * (FEWEST_PAIRS + SPARE_PAIRS) / FEWEST_PAIRS;
        if left.saturating_sub(round) < with_spare {
            return true;
        }
        let spare = if self.whole < FEWEST_PAIRS { 0 } else { SPARE_PAIRS };
        let takes_too_long = round * (FEWEST_PAIRS + spare) > self.budget.mul_f64(MOST_OF_SCREEN);
        is_late && (self.whole >= FEWEST_PAIRS + SPARE_PAIRS || takes_too_long)
    }
}

/// True if the time of the second stage has begun.
pub fn is_late(spent: Duration, budget: Duration) -> bool {
    spent >= budget.mul_f64(SCREEN_SHARE)
}

/// The series that get fresh pairs, and the number of pairs of each that fit into the time left. `pairs` are the durations of
/// one pair of each series, the one that needs them most first; the result has their places. The number never falls below the
/// fewest pairs that a verdict needs: series are left out first. `None` if there is not time for any.
pub fn affordable(pairs: &[Duration], left: Duration) -> Option<(Vec<usize>, u32)> {
    let mut chosen = Vec::new();
    let mut pass = Duration::ZERO;
    for (place, pair) in pairs.iter().enumerate() {
        // Beyond the first series only with some to spare: if time runs out, every series of the stage lacks a pair.
        let wanted = if chosen.is_empty() {
            FEWEST_PAIRS
        } else {
            FEWEST_PAIRS + SPARE_PAIRS
        };
        if (pass + *pair) * wanted <= left {
            pass += *pair;
            chosen.push(place);
        }
    }
    let rounds = u32::try_from(left.as_nanos() / pass.as_nanos().max(1)).unwrap_or(u32::MAX);
    (!chosen.is_empty()).then_some((chosen, rounds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BUDGET: Duration = Duration::from_secs(100);

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    /// Whether a first stage of a budget of 100 s ends after so many rounds and seconds.
    fn ends(whole: u32, spent: u64, needed: Option<u64>) -> bool {
        let screen = Screen {
            budget: BUDGET,
            spent: seconds(spent),
            whole,
        };
        screen.ends(needed.map(seconds))
    }

    #[test]
    fn a_first_stage_has_all_its_rounds_while_there_is_time() {
        assert!(!ends(20, 39, Some(5)), "no hurry yet");
        assert!(ends(10, 41, Some(5)), "enough, with two to spare");
        assert!(!ends(9, 41, Some(5)), "the tenth round ends before 60 %");
        assert!(!ends(6, 41, Some(5)), "the eighth round ends before 60 %");
        assert!(ends(10, 41, None) && !ends(9, 41, None), "nothing to leave time for");
    }

    #[test]
    fn a_first_stage_that_would_take_too_long_leaves_its_time_to_the_second() {
        assert!(ends(8, 50, Some(5)), "none to spare");
        assert!(ends(4, 41, Some(27)), "8 rounds would take 82 s");
        assert!(!ends(4, 41, Some(82)), "8 fresh pairs would not fit");
        assert!(!ends(1, 41, Some(5)), "one round says nothing");
    }

    #[test]
    fn a_first_stage_ends_when_another_round_would_take_the_time_of_the_second() {
        assert!(ends(2, 20, Some(80)), "2 + 8 pairs of one series fit exactly");
        assert!(
            ends(6, 36, Some(48)) && !ends(5, 30, Some(48)),
            "with 6 s a pair, 6 rounds and 10 pairs fit"
        );
        assert!(!ends(7, 70, Some(80)), "too late in any case: all rounds are measured");
    }

    #[test]
    fn series_are_left_out_before_there_are_fewer_than_eight_pairs() {
        let one = seconds(1);
        assert_eq!(affordable(&[one; 3], seconds(30)), Some((vec![0, 1, 2], 10)));
        assert_eq!(affordable(&[one; 3], seconds(29)), Some((vec![0, 1], 14)));
        assert_eq!(affordable(&[one; 3], seconds(19)), Some((vec![0], 19)));
        assert_eq!(affordable(&[one; 3], seconds(8)), Some((vec![0], 8)));
        assert_eq!(affordable(&[one; 3], seconds(7)), None);
        assert_eq!(
            affordable(&[seconds(9), one], seconds(60)),
            Some((vec![1], 60)),
            "the costly one does not fit"
        );
    }

    /// A made-up comparison: the durations of a pair of each series in both stages, the series that looks worst first.
    #[derive(Debug)]
    struct Made {
        first: Vec<Duration>,
        second: Vec<Duration>,
        budget: Duration,
        rounds: u32,
    }

    /// What a made-up comparison measured.
    #[derive(Debug)]
    struct Outcome {
        ended_early: bool,
        /// Fresh pairs of the series that looks worst.
        fresh: u32,
        spent: Duration,
        left_after_screen: Duration,
    }

    impl Made {
        /// Both stages, with the deadline checked between pairs.
        fn measure(&self) -> Outcome {
            let mut outcome = Outcome {
                ended_early: false,
                fresh: 0,
                spent: Duration::ZERO,
                left_after_screen: Duration::ZERO,
            };
            let needed = self.first[0] * FEWEST_PAIRS;
            for whole in 1..=self.rounds {
                if !self.pass(&self.first, &mut outcome.spent) {
                    return outcome;
                }
                let screen = Screen {
                    budget: self.budget,
                    spent: outcome.spent,
                    whole,
                };
                if whole < self.rounds && screen.ends(Some(needed)) {
                    outcome.ended_early = true;
                    break;
                }
            }
            outcome.left_after_screen = self.budget.saturating_sub(outcome.spent);
            let Some((chosen, rounds)) = affordable(&self.first, outcome.left_after_screen) else {
                return outcome;
            };
            let costs: Vec<Duration> = chosen.iter().map(|place| self.second[*place]).collect();
            for _ in 0..rounds {
                if !self.pass(&costs, &mut outcome.spent) {
                    break;
                }
                outcome.fresh += u32::from(chosen[0] == 0);
            }
            outcome
        }

        /// One pass; false if the time was over first.
        fn pass(&self, pairs: &[Duration], spent: &mut Duration) -> bool {
            pairs.iter().all(|pair| {
                let is_in_time = *spent < self.budget;
                *spent += if is_in_time { *pair } else { Duration::ZERO };
                is_in_time
            })
        }
    }

    prop_compose! {
        /// Pairs of the second stage take up to 5 % longer or shorter than those of the first.
        fn made()(
            costs in prop::collection::vec((10u64..10_000, 950u64..=1_050), 1..12),
            budget in 1_000u64..600_000,
            rounds in FEWEST_PAIRS..=20,
        ) -> Made {
            Made {
                first: costs.iter().map(|(ms, _)| Duration::from_millis(*ms)).collect(),
                second: costs.iter().map(|(ms, by)| Duration::from_micros(ms * by)).collect(),
                budget: Duration::from_millis(budget),
                rounds,
            }
        }
    }

    proptest! {
        #[test]
        fn a_first_stage_that_ended_early_left_time_for_eight_pairs_of_the_worst_series(made in made()) {
            let outcome = made.measure();
            prop_assert!(!outcome.ended_early || outcome.fresh >= FEWEST_PAIRS, "{outcome:?}");
        }

        #[test]
        fn a_comparison_never_takes_more_than_a_pair_beyond_its_budget(made in made()) {
            let longest = made.first.iter().chain(&made.second).max().unwrap();
            let outcome = made.measure();
            prop_assert!(outcome.spent <= made.budget + *longest, "{outcome:?}");
        }

        #[test]
        fn whatever_looks_worst_gets_its_pairs_where_two_rounds_and_they_fit(made in made()) {
            let first: Duration = made.first.iter().sum();
            // The rounds that the first stage takes before it may end, and one more because it looks a round ahead.
            let fits = first * (FEWEST_TO_RANK + 1) + made.first[0] * (FEWEST_PAIRS + SPARE_PAIRS) <= made.budget;
            prop_assert!(!fits || made.measure().fresh >= FEWEST_PAIRS, "{:?}", made.measure());
        }

        #[test]
        fn time_that_is_enough_for_eight_pairs_of_any_series_is_used(made in made()) {
            let outcome = made.measure();
            let cheapest = *made.first.iter().min().unwrap();
            let chosen = affordable(&made.first, outcome.left_after_screen);
            prop_assert_eq!(chosen.is_some(), cheapest * FEWEST_PAIRS <= outcome.left_after_screen);
            prop_assert!(chosen.is_none_or(|(_, rounds)| rounds >= FEWEST_PAIRS));
        }
    }
}
