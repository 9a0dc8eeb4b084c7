//! Tiers with `keep`: started once on each side, and running until the run ends.
//!
//! Between rounds they are stored here. Dropping the store stops them, the tier started last first.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::measure::captured::Captured;
use crate::measure::target::instance::Instance;

/// The kept tiers of every side, by a key for side and server.
#[derive(Debug, Default)]
pub struct KeptTiers(Mutex<BTreeMap<String, Kept>>);

/// What is kept of one server on one side.
#[derive(Debug, Default)]
struct Kept {
    tiers: Vec<Instance>,
    captured: Captured,
}

impl KeptTiers {
    /// Takes the tiers of a server, and the values that its seeds captured when they were sent once. Returns `None` if there
    /// are no tiers, or one has ended: then all of them are stopped, so that they are started together again.
    pub(super) fn take(&self, key: &str) -> Option<(Vec<Instance>, Captured)> {
        let mut all = self.lock();
        let kept = all.get_mut(key)?;
        let mut tiers = std::mem::take(&mut kept.tiers);
        if tiers.is_empty() || tiers.iter().any(|tier| tier.group.has_ended()) {
            stop(tiers);
            return None;
        }
        for tier in &mut tiers {
            tier.find_processes();
        }
        Some((tiers, kept.captured.clone()))
    }

    /// Stores a tier until the next round.
    pub(super) fn store(&self, key: &str, tier: Instance) {
        self.lock().entry(key.to_owned()).or_default().tiers.push(tier);
    }

    /// Stores the values that seeds with `once` captured.
    pub(super) fn store_captured(&self, key: &str, captured: Captured) {
        self.lock().entry(key.to_owned()).or_default().captured = captured;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for KeptTiers {
    fn drop(&mut self) {
        let all = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for kept in std::mem::take(all).into_values() {
            stop(kept.tiers);
        }
    }
}

/// Stops tiers in the order in which they were stored, the tier started last first. An error means that a tier has ended
/// already.
fn stop(tiers: Vec<Instance>) {
    for tier in tiers {
        let _ = tier.stop();
    }
}
