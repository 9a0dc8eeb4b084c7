//! The check of an open loop: the offered requests must have been sent and answered, otherwise the latencies are those
//! of less load.

use wirebench_declare::load::{Load, Rate};
use wirebench_record::check::FailedCheck;
use wirebench_record::run::Round;

use crate::normalise::number::whole;

/// An open loop must achieve this share of what it offers.
const ACHIEVED_AT_LEAST: f64 = 0.99;
/// The largest share of due requests that may be dropped.
const DROPPED_AT_MOST: f64 = 0.01;

/// The failed checks of an open loop; empty if the round achieved its rate.
#[expect(clippy::cast_precision_loss, reason = "counts and times stay far below 2^53")]
pub(super) fn failed(load: &Load, round: &Round) -> Vec<FailedCheck> {
    let Some(Rate::PerSecond(rate)) = load.rate else {
        return vec![FailedCheck::RateUnknown];
    };
    let Some(elapsed_ns) = round.elapsed_ns else {
        return Vec::new();
    };
    let ok = round.ok_count.unwrap_or(0);
    let achieved = ok as f64 / (elapsed_ns as f64 / 1e9) / f64::from(rate);
    let dropped = round.dropped_count.unwrap_or(0);
    let due = ok + round.failed_count.unwrap_or(0) + dropped;
    let mut found = Vec::new();
    if achieved < ACHIEVED_AT_LEAST {
        found.push(FailedCheck::RateMissed {
            offered: rate,
            achieved_permille: whole(achieved * 1000.0),
        });
    }
    if dropped as f64 > due as f64 * DROPPED_AT_MOST {
        found.push(FailedCheck::RequestsDropped { dropped, due });
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;
    use wirebench_declare::scenario::Amount;
    use wirebench_declare::span::Span;
    use wirebench_record::run::Variant;

    fn load(rate: u32) -> Load {
        let second = Amount::Duration(Span(std::time::Duration::from_secs(1)));
        Load::closed(100, second).at(rate)
    }

    fn round(ok: u64, dropped: Option<u64>, elapsed_ns: u64) -> Round {
        Round {
            ok_count: Some(ok),
            dropped_count: dropped,
            elapsed_ns: Some(elapsed_ns),
            ..Round::unmeasured(Variant::Candidate, 0, 0, 1)
        }
    }

    /// What a round missed, in words; `None` if it achieved its rate.
    fn fault(load: &Load, round: &Round) -> Option<String> {
        let messages: Vec<String> = failed(load, round)
            .iter()
            .map(|check| check.sentence(&round.errors))
            .collect();
        (!messages.is_empty()).then(|| messages.join("; "))
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn an_open_loop_must_achieve_what_it_offers() {
        let found = fault(&load(10_000), &round(9_800, None, SECOND)).unwrap();
        assert_eq!(found, "only 98.0 % of the offered 10000 requests/s was achieved");
        assert_eq!(fault(&load(9_850), &round(9_800, None, SECOND)), None);
    }

    #[test]
    fn more_than_one_in_a_hundred_dropped_is_a_fault_though_the_rest_came_in_time() {
        assert_eq!(fault(&load(10_000), &round(9_900, Some(100), SECOND)), None);
        let found = fault(&load(10_000), &round(9_900, Some(101), SECOND)).unwrap();
        assert!(found.starts_with("101 of 10001 requests were dropped"), "{found}");
    }

    #[test]
    fn a_rate_that_nobody_knows_is_a_fault() {
        let unknown = Load {
            rate: Some(Rate::OfCapacity("70%".parse().unwrap())),
            ..load(1)
        };
        assert!(fault(&unknown, &round(1, None, SECOND)).is_some());
    }

    proptest! {
        #[test]
        fn nothing_passes_below_ninety_nine_percent(
            rate in 1u32..1_000_000, ok in 0u64..2_000_000, dropped in 0u64..20_000, millis in 1u64..20_000
        ) {
            let found = fault(&load(rate), &round(ok, Some(dropped), millis * 1_000_000));
            // In whole numbers: ok ÷ (millis ÷ 1000) ≥ 0.99 × rate.
            let achieved = u128::from(ok) * 100_000 >= u128::from(rate) * 99 * u128::from(millis);
            let kept = u128::from(dropped) * 100 <= u128::from(ok + dropped);
            if achieved && kept {
                // At the exact bound rounding may fail the check; it must never pass too early.
                let clearly = u128::from(ok) * 100_000 > u128::from(rate) * 99 * u128::from(millis) + 100;
                prop_assert!(found.is_none() || !clearly, "{found:?}");
            } else {
                let near = (u128::from(ok) * 100_000).abs_diff(u128::from(rate) * 99 * u128::from(millis)) < 100;
                prop_assert!(found.is_some() || near, "{rate} {ok} {dropped} {millis}");
            }
            prop_assert_eq!(fault(&load(rate), &round(ok, None, millis * 1_000_000)).is_none(), {
                fault(&load(rate), &round(ok, Some(0), millis * 1_000_000)).is_none()
            });
        }
    }
}
