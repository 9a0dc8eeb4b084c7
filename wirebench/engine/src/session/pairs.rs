//! The rounds of one series, grouped into pairs, which were measured back to back.

use std::collections::{BTreeMap, BTreeSet};

use wirebench_declare::plan::rerun::{Conditions, Tally, disturbed, steal};
use wirebench_record::check::FailedCheck;
use wirebench_record::run::{Round, RoundStatus, Variant};

/// Rounds in a row that may fail before a series is given up.
const GIVE_UP_AFTER: usize = 2;

/// True if a variant is not measured any further: it failed too often in a row, for reasons that another try will not
/// change, or the candidate or the baseline did, so that there is nothing to compare it with.
pub(super) fn given_up(rounds: &[Round], variant: Variant) -> bool {
    let failing = |variant| {
        let own = rounds.iter().rev().filter(|round| round.variant == variant);
        let last = own.take(GIVE_UP_AFTER);
        let is_hopeless = |round: &&Round| {
            round.status == RoundStatus::Failed || round.failed_checks.iter().any(FailedCheck::is_of_the_server)
        };
        last.filter(is_hopeless).count() == GIVE_UP_AFTER
    };
    [variant, Variant::Candidate, Variant::Baseline]
        .into_iter()
        .any(failing)
}

/// Marks the pair of that number as dropped, with all its rounds, if the machine was disturbed during one of them.
/// Returns the reason.
pub(super) fn drop_disturbed(rounds: &mut [Round], number: u32, cpu_count: u32) -> Option<String> {
    let why = disturbed(&conditions(rounds, number), cpu_count)?;
    for round in rounds.iter_mut().filter(|round| round.round == number) {
        round.dropped = Some(why.clone());
    }
    Some(why)
}

/// Uses dropped pairs of a stage after all, the least disturbed first, until there are as many as planned: on a machine that is
/// always disturbed there is nothing better. Returns how many it uses.
pub(super) fn keep_least_disturbed(rounds: &mut [Round], variants: &[Variant], stage: u32, planned: u32) -> usize {
    let dropped = rounds
        .iter()
        .filter(|round| round.stage == stage && round.dropped.is_some());
    let numbers: BTreeSet<u32> = dropped.map(|round| round.round).collect();
    let mut pairs: Vec<(f64, u32)> = numbers
        .into_iter()
        .map(|number| (steal(&conditions(rounds, number), 1), number))
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut kept = 0;
    for (_, number) in pairs {
        if tally(rounds, variants, stage, planned).whole >= planned {
            break;
        }
        for round in rounds.iter_mut().filter(|round| round.round == number) {
            round.dropped = None;
        }
        kept += 1;
    }
    kept
}

/// What the machine did during each round of a pair.
fn conditions(rounds: &[Round], number: u32) -> Vec<Conditions> {
    let pair = rounds.iter().filter(|round| round.round == number);
    pair.map(|round| Conditions {
        steal_ns: round.host_steal_ns,
        over_ns: round.steal_counted_over_ns(),
    })
    .collect()
}

/// Counts the pairs of a stage of which `planned` were planned. If there is a baseline, a pair is whole without a
/// good round of the reference.
pub(super) fn tally(rounds: &[Round], variants: &[Variant], stage: u32, planned: u32) -> Tally {
    let mut tally = Tally {
        planned,
        ..Tally::default()
    };
    let needed = |variant: &&Variant| match **variant {
        Variant::Null => false,
        Variant::Reference => !variants.contains(&Variant::Baseline),
        Variant::Baseline | Variant::Candidate => true,
    };
    let mut pairs: BTreeMap<u32, Vec<&Round>> = BTreeMap::new();
    for round in rounds.iter().filter(|round| round.stage == stage) {
        pairs.entry(round.round).or_default().push(round);
    }
    for pair in pairs.values() {
        let good = |variant: &Variant| {
            let mut own = pair.iter().filter(|round| round.variant == *variant);
            own.any(|round| round.status == RoundStatus::Ok)
        };
        let undisturbed = pair.iter().all(|round| round.dropped.is_none());
        let whole = variants.iter().filter(needed).all(good);
        tally.measured += 1;
        tally.undisturbed += u32::from(undisturbed);
        tally.whole += u32::from(undisturbed && whole);
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalise::failed_round;
    use wirebench_declare::plan::Slot;

    const BOTH: [Variant; 2] = [Variant::Baseline, Variant::Candidate];

    fn round(number: u32, variant: Variant, status: RoundStatus, steal_ms: u64) -> Round {
        let slot = Slot {
            position: 0,
            round: number,
            series: 0,
            variant,
            stage: 1,
        };
        Round {
            status,
            elapsed_ns: Some(1_000_000_000),
            host_steal_ns: Some(steal_ms * 1_000_000),
            ..failed_round(slot, String::new())
        }
    }

    fn good(number: u32, variant: Variant) -> Round {
        round(number, variant, RoundStatus::Ok, 0)
    }

    fn failed(number: u32, variant: Variant) -> Round {
        round(number, variant, RoundStatus::Failed, 0)
    }

    #[test]
    fn a_disturbed_round_takes_its_whole_pair_with_it_whichever_side_it_met() {
        for side in BOTH {
            let mut rounds: Vec<Round> = (0..3).flat_map(|number| BOTH.map(|v| good(number, v))).collect();
            let hit = rounds
                .iter_mut()
                .find(|round| round.round == 1 && round.variant == side);
            hit.unwrap().host_steal_ns = Some(310_000_000);
            for number in 0..3 {
                drop_disturbed(&mut rounds, number, 2);
            }
            let dropped: Vec<_> = rounds.iter().filter(|round| round.dropped.is_some()).collect();
            assert_eq!(dropped.len(), 2, "{dropped:?}");
            assert!(dropped.iter().all(|round| round.round == 1));
            assert_eq!(dropped[0].dropped.as_deref(), Some("steal 15.0 % of the CPUs' time"));
            let tally = tally(&rounds, &BOTH, 1, 3);
            assert_eq!((tally.measured, tally.undisturbed, tally.whole), (3, 2, 2));
            assert!(tally.wants_another());
        }
    }

    #[test]
    fn where_every_pair_is_disturbed_the_least_disturbed_are_used() {
        let stolen =
            |number: u32| BOTH.map(|variant| round(number, variant, RoundStatus::Ok, 900 - 50 * u64::from(number)));
        let mut rounds: Vec<Round> = (0..14).flat_map(stolen).collect();
        rounds.extend(BOTH.map(|variant| round(14, variant, RoundStatus::Ok, 0)));
        for number in 0..15 {
            drop_disturbed(&mut rounds, number, 2);
        }
        assert_eq!(tally(&rounds, &BOTH, 1, 10).whole, 1);
        assert_eq!(keep_least_disturbed(&mut rounds, &BOTH, 2, 10), 0, "another stage");
        assert_eq!(keep_least_disturbed(&mut rounds, &BOTH, 1, 10), 9);
        assert_eq!(keep_least_disturbed(&mut rounds, &BOTH, 1, 10), 0, "there are enough");
        assert!(rounds.iter().all(|round| round.dropped.is_some() == (round.round < 5)));
    }

    #[test]
    fn a_driver_that_starts_slowly_is_not_held_against_the_machine() {
        let short = |host_steal_over_ns| Round {
            elapsed_ns: Some(10_000_000),
            host_steal_over_ns,
            ..round(0, Variant::Candidate, RoundStatus::Ok, 20)
        };
        assert!(drop_disturbed(&mut [short(None)], 0, 2).is_some(), "an older record");
        assert_eq!(drop_disturbed(&mut [short(Some(150_000_000))], 0, 2), None);
    }

    #[test]
    fn a_pair_is_whole_with_baseline_and_candidate_good() {
        let rounds = [
            good(0, Variant::Baseline),
            good(0, Variant::Candidate),
            failed(0, Variant::Reference),
            good(1, Variant::Baseline),
            failed(1, Variant::Candidate),
            good(2, Variant::Candidate),
        ];
        let all = [Variant::Baseline, Variant::Candidate, Variant::Reference];
        let found = tally(&rounds, &all, 1, 3);
        assert_eq!((found.measured, found.undisturbed, found.whole), (3, 3, 1));
        let other_stage = tally(&rounds, &all, 2, 3);
        assert_eq!((other_stage.measured, other_stage.planned), (0, 3));
        let trend_only = [Variant::Candidate, Variant::Reference];
        assert_eq!(tally(&rounds[1..3], &trend_only, 1, 1).whole, 0);
    }

    #[test]
    fn two_failures_in_a_row_of_either_side_end_the_series_but_the_references_only_its_own() {
        let broken = |variant| [failed(0, variant), good(0, Variant::Candidate), failed(1, variant)];
        assert!(given_up(&broken(Variant::Baseline), Variant::Candidate));
        assert!(given_up(&broken(Variant::Reference), Variant::Reference));
        assert!(!given_up(&broken(Variant::Reference), Variant::Candidate));
        let recovered = [failed(0, Variant::Candidate), good(1, Variant::Candidate)];
        assert!(!given_up(&recovered, Variant::Candidate));
        let invalid = |number, seen| Round {
            failed_checks: vec![FailedCheck::ConnectionsDiffer { asked: 10, seen }],
            ..round(number, Variant::Candidate, RoundStatus::Invalid, 0)
        };
        assert!(given_up(&[invalid(0, 900), invalid(1, 901)], Variant::Candidate));
        assert!(!given_up(&[invalid(0, 9), invalid(1, 8)], Variant::Candidate));
    }
}
