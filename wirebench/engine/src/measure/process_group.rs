//! A process group on this machine or on another host.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::measure::process::{Ending, Group};
use crate::measure::remote::process::Process;
use crate::measure::remote::usage::RemoteUsage;
use crate::measure::usage::LocalUsage;
use crate::measure::usage_reader::UsageReader;

/// A running process group; dropping it kills and reaps it.
#[derive(Debug)]
pub enum ProcessGroup {
    /// On this machine.
    Local(Group),
    /// On another host.
    Remote(Process),
}

impl ProcessGroup {
    /// The group, if it is on this machine.
    pub const fn local(&self) -> Option<&Group> {
        match self {
            Self::Local(group) => Some(group),
            Self::Remote(_) => None,
        }
    }

    /// The leader's process id, which is the group's too; `None` if it is on another host.
    pub fn local_id(&self) -> Option<i32> {
        self.local().map(Group::id)
    }

    /// The process, if it is on another host.
    const fn remote(&self) -> Option<&Process> {
        match self {
            Self::Local(_) => None,
            Self::Remote(process) => Some(process),
        }
    }

    /// When it was started.
    pub const fn started(&self) -> Instant {
        match self {
            Self::Local(group) => group.started,
            Self::Remote(process) => process.started,
        }
    }

    /// Whether the leader has ended, or cannot be reached any more.
    pub fn has_ended(&self) -> bool {
        match self {
            Self::Local(group) => group.has_ended(),
            Self::Remote(process) => process.has_ended(),
        }
    }

    /// Sends SIGTERM to the group, SIGKILL to what still runs after `grace`, and reaps the leader.
    ///
    /// # Errors
    /// When the leader cannot be waited for.
    pub fn stop(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        match self {
            Self::Local(group) => group.stop(grace),
            Self::Remote(process) => process.stop(grace),
        }
    }

    /// Kills all processes of the group that still run, and reaps the leader.
    ///
    /// # Errors
    /// When the leader cannot be waited for.
    pub fn kill_and_reap(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Local(group) => group.kill_and_reap(),
            Self::Remote(process) => process.kill_and_wait(),
        }
    }

    /// Ends it as [`Group::end`] does; returns whether the leader ended by itself.
    ///
    /// # Errors
    /// When the leader cannot be waited for.
    pub fn end(&mut self, grace: Duration, how: Ending) -> io::Result<bool> {
        match self {
            Self::Local(group) => group.end(grace, how),
            Self::Remote(process) => Ok(process.stop(grace)?.signal() != Some(Signal::SIGKILL as i32)),
        }
    }

    /// Copies the end of a remote group's standard error to `file`. A local group has written there itself.
    pub fn fetch_stderr(&self, file: &Path) {
        if let Self::Remote(process) = self {
            process.copy_stderr(file);
        }
    }

    /// Reads the usage of its leader, and on another host of all its processes.
    pub fn leader_usage_reader(&self) -> Arc<dyn UsageReader> {
        match self {
            Self::Local(group) => Arc::new(LocalUsage::leader(group.id())),
            Self::Remote(process) => Arc::new(RemoteUsage::of(process, &[process])),
        }
    }

    /// Finds the processes of these groups, which are on one machine, and reads their usage; call it when they are started.
    pub fn usage_reader(groups: &[&Self]) -> Arc<dyn UsageReader> {
        let remote: Vec<&Process> = groups.iter().filter_map(|group| group.remote()).collect();
        match remote.first() {
            Some(first) => Arc::new(RemoteUsage::of(first, &remote)),
            None => {
                let local = groups.iter().filter_map(|group| group.local());
                let ids: Vec<i32> = local.map(Group::id).collect();
                Arc::new(LocalUsage::groups(&ids))
            }
        }
    }
}
