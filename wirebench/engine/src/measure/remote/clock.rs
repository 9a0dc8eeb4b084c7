//! Compares another host's clock with this machine's.

use std::io;

use crate::measure::clock::{Clock, Reading, now_ns};
use crate::measure::remote::shell::Shell;

/// How often the clock is read.
const READINGS: usize = 5;

/// Compares the clocks; `None` if the host's `date` does not print nanoseconds.
///
/// # Errors
/// When the connection is lost.
pub(super) fn compare(shell: &Shell) -> io::Result<Option<Clock>> {
    let mut readings = Vec::new();
    for _ in 0..READINGS {
        let sent = now_ns();
        let output = shell.run("date +%s%N")?;
        let received = now_ns();
        readings.extend(
            output
                .trim()
                .parse()
                .ok()
                .map(|remote| Reading { sent, remote, received }),
        );
    }
    Ok(Clock::compare(&readings))
}
