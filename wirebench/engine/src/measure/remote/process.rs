//! A process group on another host: started, watched and ended through its shell.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::measure::process::MOST_TAIL_BYTES;
use crate::measure::process::ProcessGroup;
use crate::measure::remote::shell::Shell;
use crate::measure::thread_cpu::Stat;
use wirebench_record::run::CpuTime;

const POLL: Duration = Duration::from_millis(5);
/// How long a killed process may take to end. One that waits for a broken disk or network file system may never do so.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// A process group that was started on another host; dropping it kills it.
#[derive(Debug)]
pub struct Process {
    pub(in crate::measure) shell: Arc<Shell>,
    /// The name of its files there.
    name: String,
    pub(in crate::measure) pid: i32,
    pub(in crate::measure) tick_ns: u64,
    /// When it was started.
    started: Instant,
    /// Its exit status as a shell reports it, once it has ended.
    exit_status: OnceLock<i32>,
    /// The [`reaped_ticks`] before it was started; `None` if its CPU time is not measured.
    pub(super) ticks_before: Option<[u64; 2]>,
}

impl Process {
    /// Starts a command with environment variables added to those of a login on the host. Its output files are called `name`.
    ///
    /// # Errors
    /// When the connection is lost. A program that cannot be started ends with status 126 or 127.
    pub fn start(
        shell: &Arc<Shell>,
        name: String,
        argv: &[String],
        env: &BTreeMap<String, String>,
        tick_ns: u64,
    ) -> io::Result<Self> {
        let set = env.iter().map(|(name, value)| format!("{name}={value}"));
        let words = ["start".to_owned(), name.clone(), "env".to_owned()];
        let words = words.into_iter().chain(set).chain(argv.iter().cloned());
        let started = Instant::now();
        let output = shell.run(&shell_words::join(words))?;
        let pid = output.trim().parse();
        let pid = pid.map_err(|_| unexpected("the id of a process", &output))?;
        Ok(Self {
            shell: Arc::clone(shell),
            name,
            pid,
            tick_ns,
            started,
            exit_status: OnceLock::new(),
            ticks_before: None,
        })
    }

    /// The name of the file with its `stdout` or `stderr`, in the run's folder on the host.
    pub(super) fn output(&self, stream: &str) -> String {
        format!("{}.{stream}", self.name)
    }

    /// CPU time of all its threads and of the child processes that it reaped, in steps of 10 ms; call it after its end. It
    /// includes other commands that the shell ran in the meantime: a few ms per second.
    pub fn cpu_time(&self) -> Option<CpuTime> {
        let (before, after) = self.ticks_before.zip(reaped_ticks(&self.shell))?;
        let ns = |place: usize| after[place].saturating_sub(before[place]) * self.tick_ns;
        Some(CpuTime {
            user: ns(0),
            system: ns(1),
        })
    }

    /// Its exit status, if it has ended.
    fn poll(&self) -> io::Result<Option<i32>> {
        if let Some(status) = self.exit_status.get() {
            return Ok(Some(*status));
        }
        let output = self.shell.run(&format!("state {}", self.pid))?;
        let Some(status) = output.strip_prefix("end ") else {
            return Ok(None);
        };
        let status = status.trim().parse();
        let status = status.map_err(|_| unexpected("an exit status", &output))?;
        Ok(Some(*self.exit_status.get_or_init(|| status)))
    }

    /// Kills all processes of the group that still run, and waits for its end.
    ///
    /// # Errors
    /// When the connection is lost, or it does not end.
    fn kill_and_wait_for(&self, timeout: Duration) -> io::Result<ExitStatus> {
        // The group may have no members left, or not be one yet.
        self.shell.run(&format!("kill -KILL {0} -{0} 2>/dev/null", self.pid))?;
        let deadline = Instant::now() + timeout;
        let status = loop {
            match self.poll()? {
                Some(status) => break status,
                None if Instant::now() >= deadline => {
                    let message = format!(
                        "process {} on the other host still runs {timeout:?} after SIGKILL; look there what it waits for",
                        self.pid
                    );
                    return Err(io::Error::new(io::ErrorKind::TimedOut, message));
                }
                None => std::thread::sleep(POLL),
            }
        };
        // From now on its id may be reused.
        self.shell.run(&format!("rm -f {}.pid", self.name))?;
        // A shell reports 128 + the number of a signal.
        Ok(ExitStatus::from_raw(if status > 128 {
            status - 128
        } else {
            status << 8
        }))
    }
}

impl ProcessGroup for Process {
    fn remote(&self) -> Option<&Self> {
        Some(self)
    }

    fn started(&self) -> Instant {
        self.started
    }

    fn has_ended(&self) -> bool {
        self.poll().map_or(true, |status| status.is_some())
    }

    fn stop(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        if self.poll()?.is_none() {
            self.shell.run(&format!("kill -TERM -{}", self.pid))?;
            let deadline = Instant::now() + grace;
            while self.poll()?.is_none() && Instant::now() < deadline {
                std::thread::sleep(POLL);
            }
        }
        self.kill_and_reap()
    }

    fn kill_and_reap(&mut self) -> io::Result<ExitStatus> {
        self.kill_and_wait_for(KILL_TIMEOUT)
    }

    fn fetch_stderr(&self, to: &Path) {
        if let Ok(end) = self
            .shell
            .run(&format!("tail -c {MOST_TAIL_BYTES} {}.stderr", self.name))
        {
            let _ = std::fs::write(to, end);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.exit_status.get().is_none() {
            let _ = self.kill_and_reap();
        }
    }
}

fn unexpected(expected: &str, found: &str) -> io::Error {
    io::Error::other(format!(
        "the other host was expected to print {expected}, and printed {found:?}"
    ))
}

/// User and system time of the shell's child processes that have ended, in ticks.
pub(super) fn reaped_ticks(shell: &Shell) -> Option<[u64; 2]> {
    let stat = Stat::parse(&shell.run("children").ok()?)?;
    Some([stat.child_user_ticks, stat.child_system_ticks])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_does_not_end_is_not_waited_for_for_ever() {
        let shell = Arc::new(Shell::open(&mut wirebench_spawn::command("/bin/sh")).unwrap());
        let argv = ["sleep", "100"].map(str::to_owned);
        let process = Process::start(&shell, "one".into(), &argv, &BTreeMap::new(), 1).unwrap();
        shell.run("state() { echo run; }").unwrap();
        let error = process.kill_and_wait_for(Duration::from_millis(20)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(error.to_string().contains(&process.pid.to_string()), "{error}");
        // Without a shell, dropping the process does not wait either.
        let _ = shell.run("kill -KILL $$");
    }
}
