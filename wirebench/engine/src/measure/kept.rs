//! Tiers that are kept: started once on each side, and running until the run ends.
//!
//! Between rounds they wait here. When this is dropped they are asked to end, those started last first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::measure::instance::{Home, Instance, Parked};
use crate::measure::seed::Captured;

/// The kept tiers of every side, by a key for side and server.
#[derive(Debug, Default)]
pub struct Kept(Mutex<BTreeMap<String, Stay>>);

/// What stays of one server on one side.
#[derive(Debug, Default)]
struct Stay {
    tiers: Vec<Parked>,
    captured: Captured,
}

impl Kept {
    /// Takes the tiers of a server, and the values that its seeds captured when they were sent once. `None` if there are none,
    /// or one has ended: then all of them are stopped, so that they start anew together.
    pub fn take(self: &Arc<Self>, key: &str) -> Option<(Vec<Instance>, Captured)> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stay = all.get_mut(key)?;
        let mut tiers: Vec<Parked> = std::mem::take(&mut stay.tiers);
        if tiers.is_empty() || tiers.iter_mut().any(Parked::has_ended) {
            stop(tiers);
            return None;
        }
        let home = || Home {
            kept: Arc::clone(self),
            key: key.to_owned(),
        };
        let instances = tiers.into_iter().map(|tier| Instance::unparked(tier, home()));
        Some((instances.collect(), stay.captured.clone()))
    }

    /// Keeps a tier for the next round.
    pub(super) fn park(&self, key: &str, tier: Parked) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(key.to_owned()).or_default().tiers.push(tier);
    }

    /// Keeps the values that seeds captured which are sent once.
    pub fn remember(&self, key: &str, captured: Captured) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(key.to_owned()).or_default().captured = captured;
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let all = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for stay in std::mem::take(all).into_values() {
            stop(stay.tiers);
        }
    }
}

/// Asks tiers to end, in the order in which they were parked: those started last first. One that cannot be waited for has
/// ended already.
fn stop(tiers: Vec<Parked>) {
    for tier in tiers {
        let _ = tier.stop();
    }
}
