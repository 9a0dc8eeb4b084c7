//! Runs a program, and measures its time and memory.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// The cost of running a program.
pub(crate) struct Took {
    seconds: f64,
    /// CPU seconds of the program and its children.
    cpu: f64,
    /// The peak of the resident memory of the program itself in MiB, read every 5 ms.
    mib: u64,
}

impl fmt::Display for Took {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{:.2} s, {:.2} s of CPU time, at most {} MiB",
            self.seconds, self.cpu, self.mib
        )
    }
}

/// The program wirebench in the folder of this program.
pub(crate) fn wirebench() -> anyhow::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let folder = here.parent().unwrap_or(&here);
    Ok(folder.join("wirebench"))
}

/// Runs a program to its end.
///
/// # Errors
/// If it cannot be started or fails.
pub(crate) fn took(command: &mut Command) -> anyhow::Result<Took> {
    let (started, before) = (Instant::now(), cpu_seconds()?);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let mut mib = 0;
    let status = loop {
        mib = mib.max(resident(&child));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        sleep(Duration::from_millis(5));
    };
    let seconds = started.elapsed().as_secs_f64();
    anyhow::ensure!(status.success(), "{command:?}: {status}");
    let cpu = cpu_seconds()? - before;
    Ok(Took { seconds, cpu, mib })
}

/// CPU time of all children that have ended.
fn cpu_seconds() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

fn resident(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}
