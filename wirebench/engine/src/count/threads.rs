//! Checks whether every thread of a process group waits, so that it does nothing until new bytes arrive.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::measure::usage;

/// The threads of the processes that were in a group when this was made.
#[derive(Debug)]
pub struct GroupThreads(Vec<Process>);

/// A process and its threads. Their /proc files stay open, because they are read several times for every request.
#[derive(Debug)]
struct Process {
    tasks: PathBuf,
    /// The link count of the folder of threads: two, plus one for each thread.
    links: u64,
    threads: Vec<Thread>,
}

#[derive(Debug)]
struct Thread {
    stat: File,
    schedstat: File,
}

/// The state of a thread.
enum State {
    Waits,
    Runs,
    Gone,
}

impl GroupThreads {
    /// Finds the group's processes.
    pub fn group(id: i32) -> Self {
        let process = |member: i32| Process {
            tasks: PathBuf::from(format!("/proc/{member}/task")),
            links: 0,
            threads: Vec::new(),
        };
        Self(usage::members(id).into_iter().map(process).collect())
    }

    /// True if no thread runs or is runnable.
    pub fn all_wait(&mut self) -> bool {
        self.0.iter_mut().all(Process::all_wait)
    }

    /// The same without a race: a thread may wake another one and go to sleep between the readings of both, so that both
    /// are read as waiting. In that case their CPU time changes between two readings.
    pub fn surely_all_wait(&mut self) -> bool {
        let before = self.cpu_ns();
        self.all_wait() && self.cpu_ns() == before && self.all_wait()
    }

    /// CPU time of all threads so far, ns.
    pub fn cpu_ns(&mut self) -> u64 {
        let threads = self.0.iter_mut().flat_map(|process| {
            process.refresh();
            &process.threads
        });
        threads.filter_map(Thread::cpu_ns).sum()
    }
}

impl Process {
    /// A process that has ended counts as waiting.
    fn all_wait(&mut self) -> bool {
        self.refresh();
        for thread in &self.threads {
            match thread.state() {
                State::Waits => {}
                State::Runs => return false,
                // Another thread may have started instead.
                State::Gone => self.links = 0,
            }
        }
        true
    }

    /// Opens the files of all threads again if the threads changed.
    fn refresh(&mut self) {
        let links = fs::metadata(&self.tasks).map_or(0, |folder| folder.nlink());
        if links != self.links || links == 0 {
            let entries = fs::read_dir(&self.tasks).into_iter().flatten().flatten();
            self.threads = entries.filter_map(|entry| Thread::open(&entry.path())).collect();
            self.links = links;
        }
    }
}

impl Thread {
    fn open(folder: &Path) -> Option<Self> {
        Some(Self {
            stat: File::open(folder.join("stat")).ok()?,
            schedstat: File::open(folder.join("schedstat")).ok()?,
        })
    }

    /// The state is the letter after the name, which is in parentheses.
    fn state(&self) -> State {
        let mut buffer = [0; 512];
        let Ok(length) = self.stat.read_at(&mut buffer, 0) else {
            return State::Gone;
        };
        let named = buffer[..length].iter().rposition(|byte| *byte == b')');
        match named.and_then(|end| buffer.get(end + 2)) {
            Some(b'S') => State::Waits,
            Some(b'Z' | b'X') | None => State::Gone,
            Some(_) => State::Runs,
        }
    }

    /// The first number of its schedstat.
    fn cpu_ns(&self) -> Option<u64> {
        let mut buffer = [0; 128];
        let length = self.schedstat.read_at(&mut buffer, 0).ok()?;
        let text = std::str::from_utf8(&buffer[..length]).ok()?;
        text.split(' ').next()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;
    use std::time::Duration;

    use super::GroupThreads;

    /// Whether it becomes true within ten seconds.
    fn soon(what: impl FnMut() -> bool) -> bool {
        wirebench_testing::holds_within(Duration::from_secs(10), what)
    }

    #[test]
    fn a_process_that_waits_is_told_from_one_that_computes() {
        let start = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).process_group(0).spawn().unwrap()
        };
        let (mut waiting, mut busy) = (start("sleep 30"), start("while :; do :; done"));
        let group = |id: u32| GroupThreads::group(i32::try_from(id).unwrap());
        assert!(soon(|| group(waiting.id()).surely_all_wait()));
        let mut computing = group(busy.id());
        assert!(soon(|| computing.cpu_ns() > 0));
        assert!(!(0..50).any(|_| computing.surely_all_wait()));
        for child in [&mut waiting, &mut busy] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(computing.all_wait(), "what has ended does nothing more");
    }
}
