//! CPU time, memory and sockets of process groups: how they are read on any machine, and from /proc on this one.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::ops::Add;

use nix::sys::time::TimeValLike as _;
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use procfs::process::{FDTarget, Process, Stat, Status, Task, all_processes};
use procfs::{CurrentSI, KernelStats};

use wirebench_record::run::CpuTime;

/// Reads what the processes of one or more groups on one machine use. Every value is `None` if it cannot be read.
pub trait UsageReader: Debug + Send + Sync {
    /// CPU time so far of the processes that were found at the beginning, ended threads included.
    fn cpu(&self) -> Option<CpuUsed>;

    /// CPU time so far, with processes that joined the groups since: workers that were forked during a load.
    fn cpu_with_new_processes(&self) -> Option<CpuUsed>;

    /// How often each thread of the processes that were found at the beginning has gone to sleep so far, by thread id.
    fn sleeps(&self) -> Option<HashMap<i32, u64>> {
        None
    }

    /// Inodes of the open sockets.
    fn sockets(&self) -> Option<HashSet<u64>>;

    /// Largest resident memory so far, bytes, summed over the processes, without the pages of files ([`own_memory`]).
    fn peak_rss_bytes(&self) -> Option<u64>;

    /// Resident memory now, bytes, summed over the processes, without the pages of files.
    fn rss_bytes(&self) -> Option<u64>;
}

/// The resident memory of a process without its pages of files, in the unit of both: how many of those the kernel maps
/// depends on its page cache, so that two copies of one program differ by more than a tenth.
pub fn own_memory(all: u64, files: Option<u64>) -> u64 {
    all.saturating_sub(files.unwrap_or(0))
}

/// CPU time of a group so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuUsed {
    /// CPU time, ns: each process's clock, which includes threads that have ended, plus the children that the process has
    /// waited for (in steps of the kernel's tick, 10 ms).
    pub run_ns: u64,
    /// In user mode, ns, in steps of the tick.
    pub user_ns: u64,
    /// In kernel mode, ns, in steps of the tick.
    pub system_ns: u64,
}

impl CpuUsed {
    /// User and system time since `earlier`: the exact sum, divided in the ratio of the ticks.
    pub fn since(self, earlier: Self) -> CpuTime {
        let total = self.run_ns.saturating_sub(earlier.run_ns);
        let ticked_user = self.user_ns.saturating_sub(earlier.user_ns);
        let ticked = ticked_user + self.system_ns.saturating_sub(earlier.system_ns);
        if ticked == 0 {
            return CpuTime { user: total, system: 0 };
        }
        let user = u128::from(total) * u128::from(ticked_user) / u128::from(ticked);
        let user = u64::try_from(user).unwrap_or(total);
        CpuTime {
            user,
            system: total - user,
        }
    }
}

impl Add for CpuUsed {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            run_ns: self.run_ns + other.run_ns,
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
        }
    }
}

/// The processes of one or more process groups, and those that descend from them, whose usage is read.
#[derive(Debug, Default)]
pub struct LocalUsage {
    groups: Vec<i32>,
    processes: Vec<Process>,
}

impl LocalUsage {
    /// Finds the processes of these groups; call it when they are all started.
    pub fn groups(ids: &[i32]) -> Self {
        let found = descendants(stats().collect::<Vec<_>>().iter(), ids);
        // The leaders first.
        let others = found.into_iter().filter(|id| !ids.contains(id));
        let all = ids.iter().copied().chain(others);
        Self {
            groups: ids.to_vec(),
            processes: all.filter_map(|member| Process::new(member).ok()).collect(),
        }
    }

    /// The group's leader alone, without a search.
    pub fn leader(id: i32) -> Self {
        Self {
            processes: Process::new(id).into_iter().collect(),
            ..Self::default()
        }
    }

    fn cpu_of(process: &Process) -> Option<CpuUsed> {
        let tick_ns = tick_ns();
        let stat = process.stat().ok()?;
        let clock = clock_getcpuclockid(Pid::from_raw(process.pid)).ok()?;
        let own_ns = u64::try_from(clock_gettime(clock).ok()?.num_nanoseconds()).ok()?;
        let children = |ticks: i64| u64::try_from(ticks).unwrap_or(0) * tick_ns;
        let (user_ns, system_ns) = (children(stat.cutime), children(stat.cstime));
        Some(CpuUsed {
            run_ns: own_ns + user_ns + system_ns,
            user_ns: stat.utime * tick_ns + user_ns,
            system_ns: stat.stime * tick_ns + system_ns,
        })
    }

    fn memory(&self, kib: impl Fn(&Status) -> Option<u64>) -> Option<u64> {
        let own = |status: Status| Some(own_memory(kib(&status)?, status.rssfile));
        let sizes = self.processes.iter().filter_map(|process| own(process.status().ok()?));
        sizes.reduce(|sum, size| sum + size).map(|sum| sum * 1024)
    }
}

impl UsageReader for LocalUsage {
    fn cpu(&self) -> Option<CpuUsed> {
        self.processes.iter().filter_map(Self::cpu_of).reduce(Add::add)
    }

    /// Searches /proc, which takes milliseconds.
    fn cpu_with_new_processes(&self) -> Option<CpuUsed> {
        if self.groups.is_empty() {
            return self.cpu();
        }
        Self::groups(&self.groups).cpu()
    }

    fn sleeps(&self) -> Option<HashMap<i32, u64>> {
        let tasks = self
            .processes
            .iter()
            .filter_map(|process| process.tasks().ok())
            .flatten();
        let sleeps = |task: Task| Some((task.tid, task.status().ok()?.voluntary_ctxt_switches?));
        Some(tasks.flatten().filter_map(sleeps).collect())
    }

    fn sockets(&self) -> Option<HashSet<u64>> {
        let sockets: Vec<Vec<u64>> = self.processes.iter().filter_map(sockets_of).collect();
        (!sockets.is_empty()).then(|| sockets.into_iter().flatten().collect())
    }

    fn peak_rss_bytes(&self) -> Option<u64> {
        self.memory(|status| status.vmhwm)
    }

    fn rss_bytes(&self) -> Option<u64> {
        self.memory(|status| status.vmrss)
    }
}

/// Inodes of the sockets that a process has open; `None` if they cannot be read.
pub(in crate::measure) fn sockets_of(process: &Process) -> Option<Vec<u64>> {
    let inode = |target| match target {
        FDTarget::Socket(inode) => Some(inode),
        _ => None,
    };
    let open = process.fd().ok()?.flatten();
    Some(open.filter_map(|info| inode(info.target)).collect())
}

fn stats() -> impl Iterator<Item = Stat> {
    let processes = all_processes().into_iter().flatten().flatten();
    processes.filter_map(|process| process.stat().ok())
}

/// Which of all processes belong to these groups or descend from them, by id: Postgres serves each connection in a process with a
/// group of its own. A leader that has left its group is one of them.
pub(in crate::measure) fn descendants<'a>(all: impl Iterator<Item = &'a Stat>, groups: &[i32]) -> HashSet<i32> {
    let all: Vec<&Stat> = all.collect();
    let of_groups = all
        .iter()
        .filter(|stat| groups.contains(&stat.pgrp) || groups.contains(&stat.pid));
    let mut found: HashSet<i32> = of_groups.map(|stat| stat.pid).collect();
    let mut known = 0;
    while known < found.len() {
        known = found.len();
        let children = all.iter().filter(|stat| found.contains(&stat.ppid));
        found.extend(children.map(|stat| stat.pid).collect::<Vec<i32>>());
    }
    found
}

/// The processes of a group that have not ended, by id.
pub fn members(group: i32) -> Vec<i32> {
    let members = stats().filter(|stat| stat.pgrp == group && stat.state != 'Z');
    members.map(|stat| stat.pid).collect()
}

/// The kernel's accounting tick, ns.
fn tick_ns() -> u64 {
    1_000_000_000 / procfs::ticks_per_second().max(1)
}

/// CPU time of all CPUs of this machine so far.
#[derive(Debug, Clone, Copy)]
pub struct MachineCpu {
    /// Of programs, ns; interrupts are not part of it.
    pub used_ns: u64,
    /// What the hypervisor gave to others, ns; `None` where it is not told.
    pub steal_ns: Option<u64>,
    /// CPUs of the machine.
    pub cpus: usize,
}

impl MachineCpu {
    /// `None` if it cannot be read.
    pub fn now() -> Option<Self> {
        let stats = KernelStats::current().ok()?;
        Some(Self {
            used_ns: (stats.total.user + stats.total.nice + stats.total.system) * tick_ns(),
            steal_ns: stats.total.steal.map(|ticks| ticks * tick_ns()),
            cpus: stats.cpu_time.len(),
        })
    }

    /// What the hypervisor gave to others since `earlier`, ns.
    pub fn stolen_since(&self, earlier: &Self) -> Option<u64> {
        Some(self.steal_ns?.saturating_sub(earlier.steal_ns?))
    }

    /// The share of all CPU time since `earlier`, `over_ns` ago, that was used by others than those that used `own_ns` of it, ‰.
    pub fn others_since(&self, earlier: &Self, own_ns: u64, over_ns: u64) -> u32 {
        let others = self.used_ns.saturating_sub(earlier.used_ns).saturating_sub(own_ns);
        let possible = u128::from(over_ns) * self.cpus as u128;
        u32::try_from(u128::from(others) * 1000 / possible.max(1)).map_or(1000, |share| share.min(1000))
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    fn python(script: &str) -> Child {
        let mut command = Command::new("python3");
        command
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command.spawn().unwrap()
    }

    /// A tenth of a second of work in threads that have ended, in a process of its own.
    #[test]
    fn threads_that_ended_and_children_that_were_waited_for_are_counted() {
        let burn = "import threading, time, os\n\
            def burn():\n    end = time.thread_time() + 0.2\n    while time.thread_time() < end: pass\n\
            for _ in range(3):\n    one = threading.Thread(target=burn); one.start(); one.join()\n\
            child = os.fork()\n\
            if child == 0:\n    burn(); os._exit(0)\n\
            os.waitpid(child, 0)\n\
            print(time.process_time() + sum(os.times()[2:4]), flush=True)\ninput()\n";
        let mut child = python(burn);
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        use crate::measure::usage::UsageReader as _;

        let used = super::LocalUsage::leader(child.id().try_into().unwrap()).cpu().unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
        // The kernel's own account: the process's clock, and its children by ticks.
        let expected = line.trim().parse::<f64>().unwrap();
        let found = std::time::Duration::from_nanos(used.run_ns).as_secs_f64();
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "{found} s found, {expected} s used"
        );
    }

    /// As Postgres serves a connection.
    #[test]
    fn a_process_that_left_the_group_of_its_parent_is_counted() {
        use crate::measure::usage::UsageReader as _;
        use std::io::{BufRead as _, BufReader};
        use std::os::unix::process::CommandExt as _;

        let script = "import os, time, sys\n\
            if os.fork() == 0:\n    os.setsid()\n    while time.process_time() < 0.2: pass\n    print(1, flush=True)\n\
            sys.stdin.read()\n";
        let mut command = Command::new("python3");
        command.args(["-c", script]).process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        BufReader::new(child.stdout.take().unwrap())
            .lines()
            .next()
            .unwrap()
            .unwrap();
        let used = super::LocalUsage::groups(&[child.id().try_into().unwrap()])
            .cpu()
            .unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(used.run_ns >= 200_000_000, "{used:?}");
    }

    #[test]
    fn pages_of_files_are_no_memory_of_the_process() {
        use crate::measure::usage::UsageReader as _;
        use std::io::{BufRead as _, BufReader};

        let script = "import mmap, sys, tempfile\n\
            with tempfile.TemporaryFile() as file:\n    file.write(bytes(64 << 20))\n    file.flush()\n    \
            pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n    sum(pages[::4096])\n    own = bytes([1]) * (8 << 20)\n    \
            print(1, flush=True)\n    sys.stdin.read()\n";
        let mut child = python(script);
        BufReader::new(child.stdout.take().unwrap())
            .lines()
            .next()
            .unwrap()
            .unwrap();
        let usage = super::LocalUsage::leader(child.id().try_into().unwrap());
        let own = [usage.peak_rss_bytes(), usage.rss_bytes()].map(|bytes| bytes.unwrap() >> 20);
        let status = usage.processes[0].status().unwrap();
        let [peak, all] = [status.vmhwm, status.vmrss].map(|kib| kib.unwrap() >> 10);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(
            all >= 72 && own.iter().all(|own| (8..64).contains(own)),
            "{own:?} MiB of {peak} and {all} MiB"
        );
    }

    #[test]
    fn what_other_programs_use_of_the_machine_is_told_apart_from_what_is_ones_own() {
        use std::time::Instant;

        let (began, before) = (Instant::now(), super::MachineCpu::now().unwrap());
        let burn = "import time\nwhile time.process_time() < 0.3: pass\n";
        assert!(python(burn).wait().unwrap().success());
        let (over, after) = (began.elapsed(), super::MachineCpu::now().unwrap());
        let over_ns = u64::try_from(over.as_nanos()).unwrap();
        let share = |own_ns| after.others_since(&before, own_ns, over_ns);
        // In steps of the tick; other programs may use more.
        let burnt = 250_000_000_000 / (over_ns * after.cpus as u64);
        assert!(u64::from(share(0)) >= burnt, "{} of {burnt}", share(0));
        assert_eq!(share(after.used_ns - before.used_ns), 0);
    }

    #[test]
    fn the_sleeps_of_every_thread_are_counted() {
        use crate::measure::usage::UsageReader as _;
        use std::io::{BufRead as _, BufReader, Write as _};

        let sleeper = "import threading, time\n\
            def work():\n    input(); [time.sleep(0.001) for _ in range(40)]; print(2, flush=True); input()\n\
            one = threading.Thread(target=work); one.start()\n\
            print(1, flush=True)\none.join()\n";
        let mut child = python(sleeper);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        let usage = super::LocalUsage::leader(child.id().try_into().unwrap());
        let before = usage.sleeps().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"\n").unwrap();
        lines.next().unwrap().unwrap();
        let after = usage.sleeps().unwrap();
        stdin.write_all(b"\n").unwrap();
        child.wait().unwrap();
        assert_eq!(before.len(), 2, "{before:?}");
        let rises: Vec<u64> = after.iter().map(|(id, sleeps)| sleeps - before[id]).collect();
        assert!(rises.iter().any(|rise| *rise >= 40), "{rises:?}");
    }
}

#[cfg(test)]
mod usage_reader_tests {
    use super::*;

    #[test]
    fn shares_the_exact_time_by_ticks() {
        let used = CpuUsed {
            run_ns: 1_003_000_000,
            user_ns: 300_000_000,
            system_ns: 700_000_000,
        };
        let expected = CpuTime {
            user: 300_900_000,
            system: 702_100_000,
        };
        assert_eq!(used.since(CpuUsed::default()), expected);
    }
}
