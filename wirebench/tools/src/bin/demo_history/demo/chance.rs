//! Random numbers that are the same on every machine: each purpose has its own, so that a new series changes no other one.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest as _, Sha256};

const SEED: u64 = 7;

/// Random numbers for one purpose.
pub(super) struct Chance(ChaCha8Rng);

impl Chance {
    /// Those for this purpose.
    pub(super) fn of(purpose: &str) -> Self {
        let digest = Sha256::digest(format!("{SEED} {purpose}"));
        Self(ChaCha8Rng::from_seed(digest.into()))
    }

    /// From 0 up to 1.
    pub(super) fn share(&mut self) -> f64 {
        self.0.random()
    }

    /// A number below `count`.
    pub(super) fn below(&mut self, count: u32) -> u32 {
        self.0.random_range(0..count)
    }

    /// Close to normal, s.d. 1: a sum of twelve, which needs none of the functions that differ between machines.
    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }

    /// A factor around 1 whose logarithm has this standard deviation.
    pub(super) fn factor(&mut self, deviation: f64) -> f64 {
        (deviation * self.normal()).exp()
    }

    /// The items in an order drawn by lot.
    pub(super) fn shuffled<T>(&mut self, mut items: Vec<T>) -> Vec<T> {
        for last in (1..items.len()).rev() {
            let other = self.0.random_range(0..=last);
            items.swap(last, other);
        }
        items
    }
}

/// Hex digits for a purpose, at most 64.
pub(super) fn hex(purpose: &str, digits: usize) -> String {
    let all: String = Sha256::digest(format!("{SEED} {purpose}"))
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    all[..digits].to_owned()
}

/// Six digits: far finer than any noise, and coarser than what machines differ by in the last bit of an exponential.
pub(super) fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
