//! A target: a running server with the tiers behind it. Starts it, waits until it is ready, watches and stops it.

mod instance;
mod spawn;
mod tiers;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::measure::error::MeasureError;
use crate::measure::interrupt::Interrupt;
use crate::measure::process::{self, Ending, ProcessGroup};
use crate::measure::ready::is_ready;
use crate::measure::request::send_seeds;
use crate::measure::side::Side;
use crate::measure::target::spawn::{run_before, spawn};
use crate::measure::usage::UsageReader;
use crate::measure::values::Captured;
use crate::measure::wire::Endpoint;
use wirebench_declare::server::Server;

pub use instance::Instance;
pub use spawn::LaunchContext;
pub(super) use spawn::{argv, environment, values as part_values};
pub use tiers::{KeptTiers, Tiers};

/// A running server: the front, and the tiers behind it.
#[derive(Debug)]
pub struct Target {
    /// The front.
    pub front: Instance,
    /// The tiers.
    pub tiers: Tiers,
    /// From the first exec to ready.
    pub ready_after: Duration,
    /// Reads the usage of all processes that ran when it was ready.
    pub usage: Arc<dyn UsageReader>,
    /// The file with the certificate that the front must show over TLS, or with its issuer's.
    pub ca: PathBuf,
    /// The values that its seeds captured.
    pub captured: Captured,
}

impl Target {
    /// Starts one of a side's servers on a free port, its tiers before it, and waits until it is ready.
    ///
    /// # Errors
    /// When one of its processes cannot be started, ends early, or is not ready in time, or a seed fails.
    pub fn start(side: &Side, server: &Server, context: &LaunchContext) -> Result<Self, MeasureError> {
        let mut target = Self::launch(side, server, context)?;
        let (address, ca) = (target.front.address.clone(), target.ca.clone());
        let check = || is_ready(&server.front.ready, &address, server.protocols[0], &ca);
        target.wait_until_ready(server, context.interrupt, check)?;
        target.send_seeds(server)?;
        Ok(target)
    }

    /// Sends the seeds of the server, which is ready.
    ///
    /// # Errors
    /// When a seed fails.
    pub fn send_seeds(&mut self, server: &Server) -> Result<(), MeasureError> {
        let endpoint = Endpoint {
            address: &self.front.address,
            protocol: server.protocols[0],
            ca: &self.ca,
        };
        send_seeds(server, endpoint, self.tiers.is_new, &mut self.captured)?;
        self.tiers.store_captured(server, &self.captured);
        Ok(())
    }

    /// Starts a server as [`Target::start`] does, but does not wait until the front is ready; its tiers are.
    ///
    /// # Errors
    /// When the front cannot be started, or a tier does not get ready.
    pub fn launch(side: &Side, server: &Server, context: &LaunchContext) -> Result<Self, MeasureError> {
        let (tiers, captured) = Tiers::start(side, server, context)?;
        run_before(side, server, context, &tiers.list, tiers.is_new)?;
        let front = spawn(side, &server.front, context, &tiers.list)?;
        let usage = process::leader_usage(&*front.group);
        let ca = server.ca.as_ref().map(|file| side.folder.join(file));
        Ok(Self {
            front,
            tiers,
            ready_after: Duration::ZERO,
            usage,
            ca: ca.unwrap_or_else(|| context.tls.certificate()),
            captured,
        })
    }

    /// Polls until the front is ready; the error of `check` says what it found instead.
    ///
    /// # Errors
    /// When it ends early or is not ready in time.
    pub fn wait_until_ready(
        &mut self,
        server: &Server,
        interrupt: &Interrupt,
        check: impl Fn() -> Result<(), String>,
    ) -> Result<(), MeasureError> {
        self.front
            .wait_until_ready(server.front.ready_timeout.0, interrupt, check)?;
        // A tier that runs since an earlier round was ready before.
        let mut started_now = self.tiers.list.iter().filter(|tier| !tier.keep || self.tiers.is_new);
        let first = started_now.next().unwrap_or(&self.front);
        self.ready_after = first.group.started().elapsed();
        let groups: Vec<&dyn ProcessGroup> = self.instances().map(|one| &*one.group).collect();
        self.usage = process::usage(&groups);
        Ok(())
    }

    /// The front, then the tiers, the nearest first.
    pub fn instances(&self) -> impl Iterator<Item = &Instance> {
        [&self.front].into_iter().chain(self.tiers.list.iter().rev())
    }

    /// Checks that every process still runs.
    ///
    /// # Errors
    /// When one has ended: which, how, and its last output.
    pub fn still_runs(&mut self) -> Result<(), String> {
        // When a tier ends, processes in front of it may end too: checks the deepest one first.
        for tier in &mut self.tiers.list {
            tier.still_runs().map_err(|how| format!("tier {} {how}", tier.name))?;
        }
        self.front.still_runs().map_err(|how| format!("the server {how}"))
    }

    /// Ends the front, which is on this machine, as `how` says, by SIGKILL after `grace`, and returns whether it ended by itself. The
    /// tiers are stopped afterwards.
    ///
    /// # Errors
    /// When one cannot be waited for.
    pub fn end(mut self, grace: Duration, how: Ending) -> io::Result<bool> {
        let ended = self.front.group.local().is_some_and(|group| group.end(grace, how));
        let killed = self.front.group.kill_and_reap();
        self.tiers.stop()?;
        killed.map(|_| ended)
    }

    /// Stops only the front: SIGTERM, then SIGKILL after two seconds. The tiers keep running.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn stop_front(self) -> io::Result<Tiers> {
        self.front.stop()?;
        Ok(self.tiers)
    }

    /// Stops everything, the front first.
    ///
    /// # Errors
    /// When a process cannot be waited for.
    pub fn stop(self) -> io::Result<()> {
        self.stop_front()?.stop()
    }
}
