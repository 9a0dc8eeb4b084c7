//! A process group, on this machine or on another host.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::measure::process::Group;
use crate::measure::remote::process::{Process, Readings};
use crate::measure::usage;
use crate::measure::watched::Watched;

/// A running process group; dropping it kills and reaps it.
#[derive(Debug)]
pub enum Running {
    /// On this machine.
    Here(Group),
    /// On another host.
    There(Process),
}

impl Running {
    /// Its group on this machine, if it is here.
    #[must_use]
    pub const fn here(&self) -> Option<&Group> {
        match self {
            Self::Here(group) => Some(group),
            Self::There(_) => None,
        }
    }

    /// The leader's process id, which is the group's too.
    ///
    /// # Panics
    /// When it is on another host. What reads `/proc` or sends signals is for this machine alone.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.here().expect("its caller measures on this machine only").id()
    }

    /// When it was started.
    #[must_use]
    pub const fn started(&self) -> Instant {
        match self {
            Self::Here(group) => group.started,
            Self::There(process) => process.started,
        }
    }

    /// Whether the leader has ended, or cannot be reached any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        match self {
            Self::Here(group) => group.has_ended(),
            Self::There(process) => process.has_ended(),
        }
    }

    /// Sends SIGTERM to the group, SIGKILL to what still runs after `grace`, and reaps the leader.
    ///
    /// # Errors
    /// When the leader cannot be waited for.
    pub fn stop(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        match self {
            Self::Here(group) => group.stop(grace),
            Self::There(process) => process.stop(grace),
        }
    }

    /// Kills all processes of the group that still run, and reaps the leader.
    ///
    /// # Errors
    /// When the leader cannot be waited for.
    pub fn kill_and_reap(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Here(group) => group.kill_and_reap(),
            Self::There(process) => process.kill_and_wait(),
        }
    }

    /// Ends it as [`Group::end`] does; returns whether the leader ended by itself.
    ///
    /// # Errors
    /// When the leader cannot be waited for.
    pub fn end(&mut self, grace: Duration, leader_watches: bool) -> io::Result<bool> {
        match self {
            Self::Here(group) => group.end(grace, leader_watches),
            Self::There(process) => Ok(process.stop(grace)?.signal() != Some(Signal::SIGKILL as i32)),
        }
    }

    /// Makes sure that what it wrote to its standard error is in `file`, at least the end of it.
    pub fn bring_errors(&self, file: &Path) {
        if let Self::There(process) = self {
            process.copy_errors(file);
        }
    }

    /// Its leader, without a search for others.
    #[must_use]
    pub fn watch_leader(&self) -> Watched {
        match self {
            Self::Here(group) => Watched::Here(usage::Watched::leader(group.id())),
            Self::There(_) => Self::watch(&[self]),
        }
    }

    /// Finds the processes of all these groups, which are on one machine; call it when they are started.
    #[must_use]
    pub fn watch(all: &[&Self]) -> Watched {
        let there: Vec<&Process> = all
            .iter()
            .filter_map(|one| match one {
                Self::Here(_) => None,
                Self::There(process) => Some(process),
            })
            .collect();
        Readings::of(&there).map_or_else(
            || {
                let ids: Vec<i32> = all.iter().filter_map(|one| one.here()).map(Group::id).collect();
                Watched::Here(usage::Watched::groups(&ids))
            },
            Watched::There,
        )
    }
}
