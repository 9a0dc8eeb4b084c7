//! A process group on this machine or on another host.

use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::measure::process::{Ending, Group};
use crate::measure::remote::process::Process;
use crate::measure::remote::usage::RemoteUsage;
use crate::measure::usage::LocalUsage;
use crate::measure::usage_reader::UsageReader;

/// A running process group; dropping it kills and reaps it.
pub trait ProcessGroup: Debug + Send {
    /// The group, if it is on this machine.
    fn local(&self) -> Option<&Group> {
        None
    }

    /// The process, if it is on another host.
    fn remote(&self) -> Option<&Process> {
        None
    }

    /// When it was started.
    fn started(&self) -> Instant;

    /// Whether the leader has ended, or cannot be reached any more; it is not reaped yet.
    fn has_ended(&self) -> bool;

    /// Sends SIGTERM to the group, SIGKILL to what still runs after `grace`, and reaps the leader.
    ///
    /// # Errors
    /// When the leader cannot be waited for.
    fn stop(&mut self, grace: Duration) -> io::Result<ExitStatus>;

    /// Kills all processes of the group that still run, and reaps the leader.
    ///
    /// # Errors
    /// When the leader cannot be waited for.
    fn kill_and_reap(&mut self) -> io::Result<ExitStatus>;

    /// Stops the group as [`ProcessGroup::stop`] does, but as `how` says, and returns whether the leader ended by itself.
    ///
    /// # Errors
    /// When the leader cannot be waited for.
    fn end(&mut self, grace: Duration, how: Ending) -> io::Result<bool>;

    /// Copies the end of a remote group's standard error to `file`. A local group has written there itself.
    fn fetch_stderr(&self, _file: &Path) {}
}

/// The usage of a group's leader, and on another host of all its processes.
pub fn leader_usage(group: &dyn ProcessGroup) -> Arc<dyn UsageReader> {
    let local = group.local();
    local.map_or_else(|| usage(&[group]), |group| Arc::new(LocalUsage::leader(group.id())))
}

/// Finds the processes of these groups, which are on one machine, and reads their usage; call it when they are started.
pub fn usage(groups: &[&dyn ProcessGroup]) -> Arc<dyn UsageReader> {
    let remote: Vec<&Process> = groups.iter().filter_map(|group| group.remote()).collect();
    if let Some(first) = remote.first() {
        let groups = remote.iter().map(|group| group.pid).collect();
        return Arc::new(RemoteUsage::find(Arc::clone(&first.shell), groups, first.tick_ns));
    }
    let local = groups.iter().filter_map(|group| group.local());
    let ids: Vec<i32> = local.map(Group::id).collect();
    Arc::new(LocalUsage::groups(&ids))
}
