//! The tiers behind a server's front: started before it, stopped after it, or kept for the next round.
//!
//! Tiers with `keep`: started once on each side, and running until the run ends.
//!
//! Between rounds they are stored here. Dropping the store stops them, the tier started last first.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::measure::error::MeasureError;
use crate::measure::process;
use crate::measure::ready::is_ready;
use crate::measure::side::Side;
use crate::measure::target::instance::Instance;
use crate::measure::target::spawn::{LaunchContext, spawn};
use crate::measure::values::Captured;
use wirebench_declare::server::Server;

/// The running tiers of one server.
#[derive(Debug)]
pub struct Tiers {
    /// In the order in which they were started.
    pub list: Vec<Instance>,
    /// Takes those with `keep` between rounds; `None` if all are stopped.
    kept: Option<Arc<KeptTiers>>,
    /// The key of side and server there.
    key: String,
    /// Whether they were started for this round, so that commands and seeds with `once` are run.
    pub(super) is_new: bool,
}

impl Tiers {
    /// Takes the kept tiers of a server and starts the others, each when the one before is ready. Returns the values that seeds
    /// with `once` captured in an earlier round, too.
    ///
    /// # Errors
    /// When a tier cannot be started or does not get ready.
    pub(super) fn start(
        side: &Side,
        server: &Server,
        context: &LaunchContext,
    ) -> Result<(Self, Captured), MeasureError> {
        let key = format!("{} {}", side.revision.variant.name(), server.name);
        let (mut kept, captured) = context.kept.and_then(|kept| kept.take(&key)).unwrap_or_default();
        let is_new = kept.is_empty();
        let mut list: Vec<Instance> = Vec::new();
        for part in &server.tiers {
            if let Some(index) = kept.iter().position(|tier| tier.name == part.name()) {
                list.push(kept.swap_remove(index));
                continue;
            }
            let mut tier = spawn(side, part, context, &list)?;
            let (address, ca) = (tier.address.clone(), context.tls.certificate());
            let check = || is_ready(&part.ready, &address, part.protocol, &ca);
            tier.wait_until_ready(part.ready_timeout.0, context.interrupt, check)?;
            list.push(tier);
        }
        let tiers = Self {
            list,
            kept: context.kept.cloned(),
            key,
            is_new,
        };
        Ok((tiers, captured))
    }

    /// Stores the values that seeds captured in the round in which the kept tiers were started.
    pub(super) fn store_captured(&self, server: &Server, captured: &Captured) {
        if let (Some(kept), true) = (&self.kept, self.is_new && server.tiers.iter().any(|tier| tier.keep)) {
            kept.lock().entry(self.key.clone()).or_default().captured = captured.clone();
        }
    }

    /// Stops them, the tier started last first; those with `keep` go on running until the next round.
    ///
    /// # Errors
    /// When one cannot be waited for; the others are stopped all the same.
    pub fn stop(self) -> io::Result<()> {
        let mut stopped = Ok(());
        for tier in self.list.into_iter().rev() {
            match &self.kept {
                Some(kept) if tier.keep => kept.lock().entry(self.key.clone()).or_default().tiers.push(tier),
                _ => stopped = stopped.and(tier.stop()),
            }
        }
        stopped
    }
}

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
        if kept.tiers.is_empty() || kept.tiers.iter().any(|tier| tier.group.has_ended()) {
            all.remove(key);
            return None;
        }
        let mut tiers = std::mem::take(&mut kept.tiers);
        for tier in &mut tiers {
            tier.usage = process::usage(&[&*tier.group]);
        }
        Some((tiers, kept.captured.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Kept {
    /// Stops the tiers in the order in which they were stored, the tier started last first. An error means that a tier has ended
    /// already.
    fn drop(&mut self) {
        for tier in self.tiers.drain(..) {
            let _ = tier.stop();
        }
    }
}
