//! CPU time of the processes that the shell on another host has reaped.

use crate::measure::remote::shell::Shell;
use crate::measure::thread_cpu::Stat;

/// User and system time of the shell's child processes that have ended, in ticks.
pub(super) fn reaped_ticks(shell: &Shell) -> Option<[u64; 2]> {
    let stat = Stat::parse(&shell.run("children").ok()?)?;
    Some([stat.child_user_ticks, stat.child_system_ticks])
}
