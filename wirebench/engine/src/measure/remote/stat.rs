//! The fields of `/proc/PID/stat` on another host, and the CPU time of the processes that its shell has reaped.

use crate::measure::remote::shell::Shell;

/// User and system time of the shell's child processes that have ended, in ticks.
pub(super) fn reaped_ticks(shell: &Shell) -> Option<[u64; 2]> {
    let [_, _, user, system] = cpu_ticks(&shell.run("children").ok()?)?;
    Some([user, system])
}

/// utime, stime, cutime and cstime in ticks, from the fields of `/proc/PID/stat` after the name.
pub(super) fn cpu_ticks(fields: &str) -> Option<[u64; 4]> {
    let words = fields.split_whitespace().skip(11).take(4);
    let times: Vec<u64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
    times.try_into().ok()
}
