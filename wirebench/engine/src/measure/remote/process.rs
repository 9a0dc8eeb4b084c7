//! A process group on another host: started, watched and ended through its shell.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::measure::remote::shell::Shell;
use crate::measure::usage::CpuUsed;
use wirebench_record::run::CpuTime;

const POLL: Duration = Duration::from_millis(5);
/// Ticks are cut to 10 ms, user and system time each: a difference up to this says nothing of threads that ended.
const TICKS_OFF_NS: u64 = 30_000_000;

/// A process group that was started on another host; dropping it kills it.
#[derive(Debug)]
pub struct Process {
    shell: Arc<Shell>,
    /// The name of its files there.
    name: String,
    pid: i32,
    tick_ns: u64,
    /// When it was started.
    pub started: Instant,
    /// Its exit status, as a shell says it; known once it was waited for.
    ended: OnceLock<i32>,
    /// What the shell's children had used before, user and system, in ticks; `None` if nobody asks for its CPU time.
    before: Option<[u64; 2]>,
}

impl Process {
    /// Starts a command with environment variables added to those of a login there. Its files are called `name`.
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
        let words: Vec<String> = ["start".to_owned(), name.clone(), "env".to_owned()]
            .into_iter()
            .chain(set)
            .chain(argv.iter().cloned())
            .collect();
        let started = Instant::now();
        let said = shell.ask(&shell_words::join(words))?;
        let pid = said.trim().parse().map_err(|_| odd("the id of a process", &said))?;
        Ok(Self {
            shell: Arc::clone(shell),
            name,
            pid,
            tick_ns,
            started,
            ended: OnceLock::new(),
            before: None,
        })
    }

    /// The file of its `stdout` or `stderr`, in the folder that was made there.
    pub(super) fn output(&self, stream: &str) -> String {
        format!("{}.{stream}", self.name)
    }

    /// The same for a process whose CPU time is read at its end; `before` is what [`children`] said before it was started.
    pub(super) fn counted(mut self, before: Option<[u64; 2]>) -> Self {
        self.before = before;
        self
    }

    /// CPU time of all its threads and of the children that it waited for, in ticks of 10 ms; call it when it was waited for.
    /// Other commands of the shell in the meantime are in it: some ms each second.
    #[must_use]
    pub fn used(&self) -> Option<CpuTime> {
        let (before, after) = self.before.zip(children(&self.shell))?;
        let ns = |place: usize| after[place].saturating_sub(before[place]) * self.tick_ns;
        Some(CpuTime {
            user: ns(0),
            system: ns(1),
        })
    }

    /// Whether it has ended; a lost connection ends it.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.get().is_some() || self.look().map_or(true, |status| status.is_some())
    }

    /// Its exit status, if it has ended.
    fn look(&self) -> io::Result<Option<i32>> {
        if let Some(status) = self.ended.get() {
            return Ok(Some(*status));
        }
        let said = self.shell.ask(&format!("state {}", self.pid))?;
        let Some(status) = said.strip_prefix("end ") else {
            return Ok(None);
        };
        let status = status.trim().parse().map_err(|_| odd("an exit status", &said))?;
        Ok(Some(*self.ended.get_or_init(|| status)))
    }

    /// Sends SIGTERM to the group, SIGKILL to what still runs after `grace`, and waits for its end.
    ///
    /// # Errors
    /// When the connection is lost.
    pub fn stop(&self, grace: Duration) -> io::Result<ExitStatus> {
        if self.look()?.is_none() {
            self.shell.ask(&format!("kill -TERM -{}", self.pid))?;
            let deadline = Instant::now() + grace;
            while self.look()?.is_none() && Instant::now() < deadline {
                std::thread::sleep(POLL);
            }
        }
        self.kill_and_wait()
    }

    /// Kills all processes of the group that still run, and waits for its end.
    ///
    /// # Errors
    /// When the connection is lost.
    pub fn kill_and_wait(&self) -> io::Result<ExitStatus> {
        // The group may have no members left, or not be one yet.
        self.shell.ask(&format!("kill -KILL {0} -{0} 2>/dev/null", self.pid))?;
        let status = loop {
            match self.look()? {
                Some(status) => break status,
                None => std::thread::sleep(POLL),
            }
        };
        // Its id may be given to another process from now on.
        self.shell.ask(&format!("rm -f {}.pid", self.name))?;
        // A shell says 128 + the number of a signal.
        Ok(ExitStatus::from_raw(if status > 128 {
            status - 128
        } else {
            status << 8
        }))
    }

    /// Copies the end of its standard error to a file of this machine. Without a connection nothing is copied.
    pub fn copy_errors(&self, to: &Path) {
        if let Ok(said) = self.shell.ask(&format!("tail -c 2000 {}.stderr", self.name)) {
            let _ = std::fs::write(to, said);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended.get().is_none() {
            let _ = self.kill_and_wait();
        }
    }
}

fn odd(expected: &str, found: &str) -> io::Error {
    io::Error::other(format!("the other host was asked for {expected}, and said {found:?}"))
}

/// The processes of one or more groups on another host, and what they use.
#[derive(Debug)]
pub struct Readings {
    shell: Arc<Shell>,
    groups: Vec<i32>,
    pids: Vec<i32>,
    tick_ns: u64,
    /// CPU time of threads that have ended, ns by process: only the ticks have it.
    ended: Mutex<HashMap<i32, u64>>,
}

impl Readings {
    /// Finds the processes of all these groups, which are on one host; call it when they are started.
    #[must_use]
    pub fn of(processes: &[&Process]) -> Option<Self> {
        let first = processes.first()?;
        let groups: Vec<i32> = processes.iter().map(|one| one.pid).collect();
        Some(Self::found(Arc::clone(&first.shell), groups, first.tick_ns))
    }

    fn found(shell: Arc<Shell>, groups: Vec<i32>, tick_ns: u64) -> Self {
        let mut readings = Self {
            shell,
            pids: groups.clone(),
            groups,
            tick_ns,
            ended: Mutex::default(),
        };
        let said = readings.ask("members", &readings.groups).unwrap_or_default();
        let others = said.lines().filter_map(|line| line.parse().ok());
        let others: Vec<i32> = others.filter(|pid| !readings.groups.contains(pid)).collect();
        readings.pids.extend(others);
        readings
    }

    fn ask(&self, command: &str, ids: &[i32]) -> Option<String> {
        let ids = ids.iter().map(|id| format!(" {id}"));
        self.shell
            .ask(&std::iter::once(command.to_owned()).chain(ids).collect::<String>())
            .ok()
    }

    /// CPU time so far; see [`crate::measure::usage::Watched::cpu`]. Threads are read in ns, and those that have ended in
    /// ticks.
    #[must_use]
    pub fn cpu(&self) -> Option<CpuUsed> {
        let said = self.ask("cpu", &self.pids)?;
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let each = said.lines().filter_map(|line| cpu_of(line, self.tick_ns, &mut ended));
        each.reduce(|sum, one| CpuUsed {
            run_ns: sum.run_ns + one.run_ns,
            user_ns: sum.user_ns + one.user_ns,
            system_ns: sum.system_ns + one.system_ns,
        })
    }

    /// The same, with processes that joined the groups since.
    #[must_use]
    pub fn cpu_with_new_processes(&self) -> Option<CpuUsed> {
        let all = Self::found(Arc::clone(&self.shell), self.groups.clone(), self.tick_ns);
        let known = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        *all.ended.lock().unwrap_or_else(PoisonError::into_inner) = known;
        all.cpu()
    }

    /// Inodes of the open sockets.
    #[must_use]
    pub fn sockets(&self) -> Option<HashSet<u64>> {
        let said = self.ask("sockets", &self.pids)?;
        let inode = |line: &str| line.split_once("socket:[")?.1.strip_suffix(']')?.parse().ok();
        (!said.is_empty()).then(|| said.lines().filter_map(inode).collect())
    }

    /// Largest resident memory so far, bytes, summed over the processes.
    #[must_use]
    pub fn peak_rss_bytes(&self) -> Option<u64> {
        self.memory("VmHWM:")
    }

    /// Resident memory now, bytes, summed over the processes.
    #[must_use]
    pub fn rss_bytes(&self) -> Option<u64> {
        self.memory("VmRSS:")
    }

    fn memory(&self, key: &str) -> Option<u64> {
        let said = self.ask("memory", &self.pids)?;
        let kib = |line: &str| line.strip_prefix(key)?.split_whitespace().next()?.parse::<u64>().ok();
        said.lines()
            .filter_map(kib)
            .reduce(|sum, size| sum + size)
            .map(|sum| sum * 1024)
    }
}

/// What the children of a shell used that have ended, user and system, in ticks.
pub(super) fn children(shell: &Shell) -> Option<[u64; 2]> {
    let [_, _, user, system] = times(&shell.ask("children").ok()?)?;
    Some([user, system])
}

/// utime, stime, cutime and cstime, in ticks, of the fields of `/proc/PID/stat` from the state on, which is number 0.
fn times(fields: &str) -> Option<[u64; 4]> {
    let words = fields.split_whitespace().skip(11).take(4);
    let times: Vec<u64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
    times.try_into().ok()
}

/// One line of `cpu`: the id, the ns that the threads ran which still exist, and the fields of `/proc/PID/stat` from the
/// state on. `ended` takes what threads ran that do not exist any more.
fn cpu_of(line: &str, tick_ns: u64, ended: &mut HashMap<i32, u64>) -> Option<CpuUsed> {
    let (pid, rest) = line.trim_start().split_once(' ')?;
    let (threads_ns, fields) = rest.split_once(' ')?;
    let (pid, threads_ns): (i32, u64) = (pid.parse().ok()?, threads_ns.parse().ok()?);
    let [user, system, child_user, child_system] = times(fields)?;
    let own_ns = (user + system) * tick_ns;
    let before = ended.entry(pid).or_default();
    let missing = own_ns.saturating_sub(threads_ns);
    if missing > *before + TICKS_OFF_NS {
        *before = missing;
    }
    Some(CpuUsed {
        run_ns: threads_ns + *before + (child_user + child_system) * tick_ns,
        user_ns: (user + child_user) * tick_ns,
        system_ns: (system + child_system) * tick_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: u64 = 10_000_000;

    fn line(threads_ns: u64, user: u64, system: u64) -> String {
        format!("7 {threads_ns} S 1 7 7 0 -1 4194304 225 0 0 0 {user} {system} 1 2 20 0 1 0 4132253")
    }

    #[test]
    fn threads_that_run_are_exact_and_those_that_ended_are_not_lost() {
        let mut ended = HashMap::new();
        let mut run = |line: &str| cpu_of(line, TICK, &mut ended).unwrap().run_ns - 30_000_000;
        assert_eq!(run(&line(123_456_789, 10, 2)), 123_456_789);
        // Two ticks more than the threads: within what the ticks are off.
        assert_eq!(run(&line(123_456_789, 12, 2)), 123_456_789);
        // A thread that ran 200 ms has ended.
        assert_eq!(run(&line(50_000_000, 20, 5)), 250_000_000);
        assert_eq!(run(&line(60_000_001, 21, 5)), 260_000_001);
    }

    #[test]
    fn without_the_times_of_threads_the_ticks_are_used() {
        let used = cpu_of(&line(0, 30, 10), TICK, &mut HashMap::new()).unwrap();
        assert_eq!(
            (used.run_ns, used.user_ns, used.system_ns),
            (430_000_000, 310_000_000, 120_000_000)
        );
        assert_eq!(cpu_of("7 12 S 1", TICK, &mut HashMap::new()), None);
    }
}
