//! The order of rounds: every series once in each pass, its variants back to back in random order. Pure.

use rand::seq::SliceRandom;
use rand::{Rng as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use wirebench_record::run::Variant;

/// One driver run: which series, in which round, of which variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Slot {
    /// Place in the whole run, from 0.
    pub position: usize,
    /// Round, from 0.
    pub round: u32,
    /// Index into the plan's series.
    pub series: usize,
    /// The variant whose server is loaded.
    pub variant: Variant,
    /// The stage, from 1.
    pub stage: u32,
}

/// A part of a run: what is measured, how often, and how much of the run came before.
#[derive(Debug, Clone, Copy)]
pub struct Stretch<'a> {
    /// Each series, as its index in the plan, with the variants that are measured of it.
    pub series: &'a [(usize, Vec<Variant>)],
    /// Rounds of each variant.
    pub rounds: u32,
    /// Number of its first round; with the stage it selects the random numbers of this part.
    pub first_round: u32,
    /// Position of its first slot.
    pub first_position: usize,
    /// The stage it belongs to, from 1.
    pub stage: u32,
}

/// The null is measured in one of this many rounds of a series on average, at random.
pub const NULL_EVERY: u32 = 3;

/// Orders a part of a run: each pass has every series once, shuffled by the seed, and the variants of a series follow
/// each other in an order that a fair coin decides for each series and pass. The null takes part in a third of the
/// rounds that have a candidate.
///
/// Rounds measured back to back see the same state of the machine; a fixed order would give the second one a bias.
pub fn pairs(stretch: &Stretch, seed: u64) -> Vec<Slot> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(stretch.stage.saturating_sub(1)) << 32 | u64::from(stretch.first_round));
    let mut slots: Vec<Slot> = Vec::new();
    for round in (stretch.first_round..).take(stretch.rounds as usize) {
        let mut turn: Vec<&(usize, Vec<Variant>)> = stretch.series.iter().collect();
        turn.shuffle(&mut random);
        for (series, variants) in turn {
            let mut variants = variants.clone();
            if variants.contains(&Variant::Candidate) && !random.next_u32().is_multiple_of(NULL_EVERY) {
                variants.retain(|variant| *variant != Variant::Null);
            }
            variants.shuffle(&mut random);
            for variant in variants {
                slots.push(Slot {
                    position: stretch.first_position + slots.len(),
                    round,
                    series: *series,
                    variant,
                    stage: stretch.stage,
                });
            }
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Variant; 3] = [Variant::Baseline, Variant::Candidate, Variant::Reference];

    fn members(count: usize, variants: usize) -> Vec<(usize, Vec<Variant>)> {
        (0..count).map(|series| (series, ALL[..variants].to_vec())).collect()
    }

    fn stretch(series: &[(usize, Vec<Variant>)], rounds: u32) -> Stretch<'_> {
        Stretch {
            series,
            rounds,
            first_round: 0,
            first_position: 0,
            stage: 1,
        }
    }

    proptest! {
        #[test]
        fn each_round_holds_every_variant_of_every_series_once(
            count in 1usize..20, variants in 1usize..=3, rounds in 1u32..6, seed: u64
        ) {
            let series = members(count, variants);
            let slots = pairs(&stretch(&series, rounds), seed);
            prop_assert_eq!(slots.len(), count * variants * rounds as usize);
            for round in 0..rounds {
                let mut seen: Vec<_> = slots.iter().filter(|s| s.round == round).map(|s| (s.series, s.variant)).collect();
                seen.sort_unstable();
                let mut all: Vec<_> = (0..count).flat_map(|s| ALL[..variants].iter().map(move |v| (s, *v))).collect();
                all.sort_unstable();
                prop_assert_eq!(seen, all);
            }
        }

        #[test]
        fn the_variants_of_a_series_are_neighbours(
            count in 1usize..20, variants in 1usize..=3, rounds in 1u32..6, seed: u64
        ) {
            let series = members(count, variants);
            for group in pairs(&stretch(&series, rounds), seed).chunks(variants) {
                let first = (group[0].round, group[0].series);
                prop_assert!(group.iter().all(|slot| (slot.round, slot.series) == first));
            }
        }

        #[test]
        fn positions_and_rounds_go_on_where_the_run_stands(
            count in 1usize..9, rounds in 1u32..6, first_round in 0u32..99, first_position in 0usize..999, seed: u64
        ) {
            let series = members(count, 2);
            let later = Stretch { first_round, first_position, stage: 2, ..stretch(&series, rounds) };
            let slots = pairs(&later, seed);
            for (place, slot) in slots.iter().enumerate() {
                prop_assert_eq!(slot.position, first_position + place);
                prop_assert!((first_round..first_round + rounds).contains(&slot.round));
                prop_assert_eq!(slot.stage, 2);
            }
        }

        #[test]
        fn one_seed_gives_one_order(seed: u64) {
            let series = members(8, 2);
            prop_assert_eq!(pairs(&stretch(&series, 3), seed), pairs(&stretch(&series, 3), seed));
        }

        #[test]
        fn another_stage_or_a_later_stretch_draws_other_lots(seed: u64) {
            let series = members(8, 2);
            let order = |first_round, stage| -> Vec<_> {
                let stretch = Stretch { first_round, stage, ..stretch(&series, 4) };
                pairs(&stretch, seed).iter().map(|slot| (slot.series, slot.variant)).collect()
            };
            prop_assert_ne!(order(0, 1), order(0, 2));
            prop_assert_ne!(order(0, 1), order(4, 1));
        }
    }

    #[test]
    fn another_seed_gives_another_order() {
        let series = members(8, 1);
        let of = |seed| pairs(&stretch(&series, 3), seed);
        assert!((1..20).any(|seed| of(seed) != of(0)));
    }

    #[test]
    fn the_null_takes_part_in_a_third_of_the_rounds() {
        let series: Vec<_> = (0..4)
            .map(|one| (one, vec![Variant::Baseline, Variant::Candidate, Variant::Null]))
            .collect();
        let slots = pairs(&stretch(&series, 1000), 7);
        let count = |variant| slots.iter().filter(|slot| slot.variant == variant).count();
        assert_eq!((count(Variant::Baseline), count(Variant::Candidate)), (4000, 4000));
        assert!(
            (1150..=1520).contains(&count(Variant::Null)),
            "{}",
            count(Variant::Null)
        );
    }

    /// 4,000 fair coins: 1,810 to 2,190 heads in all but one of a billion seeds.
    #[test]
    fn the_baseline_is_first_half_of_the_time_whatever_else_is_measured() {
        for variants in [2, 3] {
            let series = members(4, variants);
            let slots = pairs(&stretch(&series, 1000), 7);
            let place = |group: &[Slot], wanted| group.iter().position(|slot| slot.variant == wanted);
            let first = slots
                .chunks(variants)
                .filter(|group| place(group, Variant::Baseline) < place(group, Variant::Candidate))
                .count();
            assert!(
                (1810..=2190).contains(&first),
                "{first} of 4000 with {variants} variants"
            );
        }
    }
}
