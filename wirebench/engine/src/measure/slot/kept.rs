//! Servers that keep running between the rounds of a series, where starting and warming them up takes longer than a round.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::measure::target::Target;
use crate::measure::temporary_folder::TemporaryFolder;
use wirebench_record::run::Variant;

/// What the servers of a series need before a round, the same on all sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preparation {
    /// Requests that a fresh process gets after the declared warm-up.
    pub warmup_requests: u64,
    /// Rounds that a process serves.
    pub rounds_per_process: u32,
}

impl Preparation {
    /// The declared warm-up, and a process for each round.
    pub const DECLARED: Self = Self {
        warmup_requests: 0,
        rounds_per_process: 1,
    };
}

/// The servers that wait for their next round, by series and variant. Dropping it stops them.
#[derive(Debug, Default)]
pub struct KeptServers(Mutex<BTreeMap<(String, Variant), KeptServer>>);

/// A running server, warm.
#[derive(Debug)]
pub(super) struct KeptServer {
    pub(super) target: Target,
    /// Rounds that it served.
    pub(super) served: u32,
    /// Takes its output, which outlives a round.
    pub(super) _folder: TemporaryFolder,
}

impl KeptServers {
    /// Takes the server of a variant; `None` if none waits, or it has ended.
    pub(super) fn take(&self, series: &str, variant: Variant) -> Option<KeptServer> {
        let mut server = self.lock().remove(&(series.to_owned(), variant))?;
        server.target.still_runs().is_ok().then_some(server)
    }

    pub(super) fn store(&self, series: &str, variant: Variant, server: KeptServer) {
        self.lock().insert((series.to_owned(), variant), server);
    }

    /// Stops the servers of every variant of a series, so that all begin the next round anew.
    pub fn stop(&self, series: &str) {
        self.lock().retain(|(id, _), _| id != series);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, Variant), KeptServer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
