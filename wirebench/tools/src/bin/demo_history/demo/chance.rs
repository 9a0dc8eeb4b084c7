//! Random numbers that are the same on every machine. Each purpose has a generator of its own, so that a new series does not
//! change the others.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest as _, Sha256};

const SEED: u64 = 7;

/// A random number generator for one purpose.
pub(super) struct Chance(ChaCha8Rng);

impl Chance {
    /// The generator for a purpose.
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

    /// Nearly normal with standard deviation 1: a sum of twelve numbers, without functions whose results differ between machines.
    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }

    /// A factor around 1 whose logarithm has this standard deviation.
    pub(super) fn factor(&mut self, deviation: f64) -> f64 {
        (deviation * self.normal()).exp()
    }

    /// The items in random order.
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

/// Rounds to six digits: far finer than any noise, and coarser than the differences between machines in the last bit of an
/// exponential.
pub(super) fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
