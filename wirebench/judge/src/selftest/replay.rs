//! Comparisons assembled from the rounds of a recorded run. A block is everything that was measured back to back in one
//! round. Blocks stay whole and keep their order, so that drift and autocorrelation stay as they were.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::compare::pair_costs;
use wirebench_record::run::{Round, RoundStatus, Run, Series, Variant};

/// A recorded run, from which comparisons are drawn.
#[derive(Debug, Clone)]
pub struct Replay {
    empty: Run,
    /// By block, by series: baseline and candidate.
    blocks: Vec<Vec<(Round, Round)>>,
    costs: Vec<Duration>,
    /// Whether both variants were equal code: if so, it is random which round of a pair counts as the baseline.
    equal: bool,
    /// The share by which the candidate's CPU time is increased.
    worse: f64,
    random: ChaCha8Rng,
    next: usize,
}

impl Replay {
    /// Prepares the recorded run for comparisons whose first stage takes `first_stage` blocks. With `worse` above 0, the
    /// server CPU of every candidate is that share greater than it was measured.
    ///
    /// # Errors
    /// When it has no pairs, or too few; with what to do.
    pub fn new(run: &Run, first_stage: u32, worse: f64, seed: u64) -> Result<Self, String> {
        let has = |variant| run.variants.iter().any(|one| one.variant == variant);
        if !has(Variant::Baseline) || !has(Variant::Candidate) {
            return Err(format!(
                "run {} has no baseline and candidate; record one with: wirebench selftest --rounds 60",
                run.id
            ));
        }
        let mut pairs: Vec<_> = run.series.iter().map(good_pairs).collect();
        let numbers: BTreeSet<u32> = pairs.iter().flat_map(BTreeMap::keys).copied().collect();
        let block = |number| pairs.iter_mut().map(|series| series.remove(&number)).collect();
        let blocks: Vec<Vec<_>> = numbers.into_iter().filter_map(block).collect();
        let found = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
        if found < first_stage {
            return Err(format!(
                "run {} has {found} whole blocks; a comparison takes {first_stage} at least; record more with: wirebench selftest --rounds {first_stage}",
                run.id
            ));
        }
        let mut empty = run.clone();
        empty.series.iter_mut().for_each(|series| series.rounds.clear());
        Ok(Self {
            empty,
            blocks,
            costs: pair_costs(run),
            equal: run.series.iter().all(|one| one.injected_burn_ns.is_none()),
            worse,
            random: ChaCha8Rng::seed_from_u64(seed),
            next: 0,
        })
    }

    /// Moves to a random block, for another comparison.
    pub fn restart(&mut self) {
        self.next = self.random.random_range(0..self.blocks.len());
    }

    /// Whole blocks recorded.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The run without rounds.
    pub(super) fn empty(&self) -> Run {
        self.empty.clone()
    }

    /// The time to measure a pair of each series.
    pub(super) fn costs(&self) -> &[Duration] {
        &self.costs
    }

    /// Adds fresh rounds of both variants to the series at these indices, with these numbers.
    pub(super) fn draw(&mut self, run: &mut Run, series: &[usize], stage: u32, numbers: Range<u32>) -> Drawn {
        // A comparison never uses a block twice: stage 2 must not reuse rounds from stage 1.
        let recorded = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        for number in numbers.start..numbers.end.min(recorded) {
            let block = &self.blocks[self.next % self.blocks.len()];
            self.next += 1;
            for i in series {
                let (mut baseline, mut candidate) = block[*i].clone();
                if self.equal && self.random.random_bool(0.5) {
                    std::mem::swap(&mut baseline, &mut candidate);
                }
                if let Some(cpu) = candidate.server_cpu_ns.as_mut().filter(|_| self.worse > 0.0) {
                    cpu.user += share(cpu.total(), self.worse);
                }
                for (variant, round) in [(Variant::Baseline, baseline), (Variant::Candidate, candidate)] {
                    run.series[*i].rounds.push(Round {
                        variant,
                        stage,
                        round: number,
                        ..round
                    });
                }
            }
        }
        let count = numbers.end - numbers.start;
        Drawn {
            pairs: count * u32::try_from(series.len()).unwrap_or(u32::MAX),
            measuring: series.iter().map(|i| self.costs[*i] * count).sum(),
            is_short: numbers.end > recorded,
        }
    }
}

/// The rounds that were to be drawn.
pub(super) struct Drawn {
    /// Pairs of rounds over all series.
    pub(super) pairs: u32,
    /// The time that measuring them would have taken.
    pub(super) measuring: Duration,
    /// Whether fewer were recorded.
    pub(super) is_short: bool,
}

/// The good pairs of a series, by block.
fn good_pairs(series: &Series) -> BTreeMap<u32, (Round, Round)> {
    let good = |variant| -> BTreeMap<u32, &Round> {
        let usable = |round: &&Round| round.status == RoundStatus::Ok && round.dropped.is_none();
        let mine = series.rounds.iter().filter(|round| round.variant == variant);
        // Of several rounds of one number the first counts.
        mine.filter(usable).rev().map(|round| (round.round, round)).collect()
    };
    let candidates = good(Variant::Candidate);
    let pair = |(number, baseline): (u32, &Round)| {
        let candidate = *candidates.get(&number)?;
        Some((number, (baseline.clone(), candidate.clone())))
    };
    good(Variant::Baseline).into_iter().filter_map(pair).collect()
}

#[expect(clippy::cast_sign_loss, reason = "saturates, and is positive")]
fn share(ns: u64, of: f64) -> u64 {
    (ns as f64 * of) as u64
}
