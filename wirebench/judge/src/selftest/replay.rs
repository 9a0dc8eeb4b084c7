//! Comparisons assembled from the rounds of a recorded run. A block is everything that was measured back to back in one
//! round. Blocks stay whole and keep their order, so that drift and autocorrelation stay as they were.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::compare::pair_costs;
use crate::selftest::Source;
use wirebench_record::run::{Round, RoundStatus, Run, Series, Variant};

/// A recorded run, from which comparisons are drawn.
#[derive(Debug, Clone)]
pub struct Replay {
    empty: Run,
    /// By block, by series: baseline and candidate.
    blocks: Vec<Vec<Option<(Round, Round)>>>,
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
        let mut numbers: Vec<u32> = run
            .series
            .iter()
            .flat_map(|series| series.rounds.iter().map(|r| r.round))
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let whole = |block: &Vec<Option<(Round, Round)>>| block.iter().all(Option::is_some);
        let blocks: Vec<Vec<_>> = (numbers.iter())
            .map(|number| run.series.iter().map(|series| pair(series, *number)).collect())
            .filter(whole)
            .collect();
        let found = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
        if found < first_stage {
            return Err(format!(
                "run {} has {found} whole blocks; a comparison takes {first_stage} at least; record more with: wirebench selftest --rounds {first_stage}",
                run.id
            ));
        }
        let mut empty = run.clone();
        empty.series.iter_mut().for_each(|series| series.rounds.clear());
        empty.stages.clear();
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
}

impl Source for Replay {
    fn empty(&self) -> Run {
        self.empty.clone()
    }

    fn rounds(&mut self, series: &[usize], stage: u32, first: u32, count: u32) -> Vec<(usize, Vec<Round>)> {
        // A comparison never uses a block twice: stage 2 must not reuse rounds from stage 1.
        let left = u32::try_from(self.blocks.len())
            .unwrap_or(u32::MAX)
            .saturating_sub(first);
        let mut drawn: Vec<(usize, Vec<Round>)> = series.iter().map(|i| (*i, Vec::new())).collect();
        for number in first..first + count.min(left) {
            let block = &self.blocks[self.next % self.blocks.len()];
            self.next += 1;
            for (i, rounds) in &mut drawn {
                let Some((baseline, candidate)) = block[*i].clone() else {
                    continue;
                };
                let exchange = self.equal && self.random.random_bool(0.5);
                let (baseline, mut candidate) = if exchange {
                    (candidate, baseline)
                } else {
                    (baseline, candidate)
                };
                if let Some(cpu) = candidate.server_cpu_ns.as_mut().filter(|_| self.worse > 0.0) {
                    cpu.user += share(cpu.total(), self.worse);
                }
                for (variant, round) in [(Variant::Baseline, baseline), (Variant::Candidate, candidate)] {
                    rounds.push(Round {
                        variant,
                        stage,
                        round: number,
                        ..round
                    });
                }
            }
        }
        drawn
    }

    fn pair_costs(&self) -> Vec<Duration> {
        self.costs.clone()
    }
}

/// The good pair of a series in a block.
fn pair(series: &Series, number: u32) -> Option<(Round, Round)> {
    let of = |variant| {
        let mine = |round: &&Round| round.variant == variant && round.round == number;
        let usable = |round: &&Round| round.status == RoundStatus::Ok && round.dropped.is_none();
        series.rounds.iter().filter(mine).find(usable).cloned()
    };
    of(Variant::Baseline).zip(of(Variant::Candidate))
}

#[expect(
    clippy::cast_sign_loss,
    reason = "a share of a CPU time, positive and far below 2^53 ns"
)]
fn share(ns: u64, of: f64) -> u64 {
    (ns as f64 * of) as u64
}
