//! Decides which pairs are dropped and measured again: by the state of the machine, never by variant. Pure.

/// Share of the CPUs' time that the hypervisor may give to others during a round.
pub const STEAL_AT_MOST: f64 = 0.05;
/// Length of a clock tick, in which Linux counts steal time (`USER_HZ`). The first tick that was counted may have begun before the
/// round.
const TICK_NS: u64 = 10_000_000;
/// Rounds that may be added to a series in one stage.
const EXTRA_ROUNDS: u32 = 4;
/// The fewest pairs for a verdict.
pub const FEWEST_PAIRS: u32 = 8;

/// The input of the rule. It has no variant, so that no side can be favoured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// CPU time the hypervisor gave to others, all CPUs, ns.
    pub steal_ns: Option<u64>,
    /// Wall time over which that was counted, ns.
    pub over_ns: Option<u64>,
}

/// The largest share of the CPUs' time that the hypervisor certainly gave to others during a round of a pair.
#[expect(clippy::cast_precision_loss, reason = "times stay far below 2^53 ns")]
pub fn steal(pair: &[Conditions], cpu_count: u32) -> f64 {
    let share = |round: &Conditions| {
        let over = round.over_ns.filter(|ns| *ns > 0)?;
        let certain = round.steal_ns?.saturating_sub(TICK_NS);
        Some(certain as f64 / (over as f64 * f64::from(cpu_count.max(1))))
    };
    pair.iter().filter_map(share).fold(0.0, f64::max)
}

/// Why a pair is dropped; `None` if the machine did not disturb it.
pub fn disturbed(pair: &[Conditions], cpu_count: u32) -> Option<String> {
    let worst = steal(pair, cpu_count);
    (worst > STEAL_AT_MOST).then(|| format!("steal {:.1} % of the CPUs' time", worst * 100.0))
}

/// The number of pairs of one series in one stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Pairs planned.
    pub planned: u32,
    /// All measured pairs.
    pub measured: u32,
    /// Of these, pairs that the machine did not disturb.
    pub undisturbed: u32,
    /// Of these, pairs whose rounds are all ok.
    pub whole: u32,
}

impl Tally {
    /// True if the series gets an extra pair: some were disturbed, or too few are whole for a verdict, and the extra
    /// pairs are not used up.
    pub fn wants_another(&self) -> bool {
        let enough = self.planned.min(FEWEST_PAIRS);
        let short = self.undisturbed < self.planned || self.whole < enough;
        short && self.has_extra_left()
    }

    /// True if the extra pairs are not used up.
    pub fn has_extra_left(&self) -> bool {
        self.measured < self.planned + EXTRA_ROUNDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round(steal_ms: u64, over_ms: u64) -> Conditions {
        Conditions {
            steal_ns: Some(steal_ms * 1_000_000),
            over_ns: Some(over_ms * 1_000_000),
        }
    }

    #[test]
    fn more_than_a_twentieth_of_all_cpus_disturbs_the_whole_pair() {
        assert_eq!(disturbed(&[round(0, 1000), round(110, 1000)], 2), None);
        let said = disturbed(&[round(156, 1000), round(0, 1000)], 2);
        assert_eq!(said.as_deref(), Some("steal 7.3 % of the CPUs' time"));
        assert_eq!(disturbed(&[round(156, 1000), round(0, 1000)], 4), None);
    }

    #[test]
    fn one_tick_of_the_kernel_disturbs_no_round_however_short() {
        assert_eq!(disturbed(&[round(10, 4), round(10, 4)], 2), None);
        assert!(disturbed(&[round(30, 50), round(0, 50)], 2).is_some());
    }

    #[test]
    fn what_was_not_measured_disturbs_nothing() {
        let unknown = Conditions {
            steal_ns: None,
            over_ns: Some(1),
        };
        let failed = Conditions {
            steal_ns: Some(1),
            over_ns: None,
        };
        assert_eq!(disturbed(&[unknown, failed, round(5, 0)], 2), None);
        assert_eq!(disturbed(&[], 2), None);
    }

    proptest! {
        #[test]
        fn the_order_of_a_pair_says_nothing(a in 0u64..500, b in 0u64..500, cpus in 1u32..9) {
            let (a, b) = (round(a, 1000), round(b, 1000));
            prop_assert_eq!(disturbed(&[a, b], cpus), disturbed(&[b, a], cpus));
        }
    }

    fn tally(planned: u32, measured: u32, undisturbed: u32, whole: u32) -> Tally {
        Tally {
            planned,
            measured,
            undisturbed,
            whole,
        }
    }

    #[test]
    fn disturbed_pairs_are_made_up_for_up_to_four_times() {
        assert!(!tally(10, 10, 10, 10).wants_another());
        assert!(tally(10, 10, 9, 9).wants_another());
        assert!(!tally(10, 11, 10, 10).wants_another());
        assert!(tally(10, 13, 9, 9).wants_another());
        assert!(!tally(10, 14, 9, 9).wants_another());
    }

    #[test]
    fn bad_rounds_are_made_up_for_only_below_eight_whole_pairs() {
        assert!(!tally(10, 10, 10, 8).wants_another());
        assert!(tally(10, 10, 10, 7).wants_another());
        assert!(!tally(3, 3, 3, 3).wants_another());
        assert!(tally(3, 3, 3, 2).wants_another());
    }
}
