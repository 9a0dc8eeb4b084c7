//! CPU time and memory of a process group, read from /proc; null without /proc.

/// CPU time of a group so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuUsed {
    /// CPU time in ns: the kernel's clock of each process, which includes threads that have ended, plus the children that
    /// the processes have waited for (those in steps of the kernel's tick, 10 ms).
    pub run_ns: u64,
    /// In user mode, ns, in steps of the tick.
    pub user_ns: u64,
    /// In kernel mode, ns, in steps of the tick.
    pub system_ns: u64,
}

impl CpuUsed {
    /// User and system time since `earlier`, ns: the exact sum, divided in the ratio of the ticks.
    #[must_use]
    pub fn since(self, earlier: Self) -> (u64, u64) {
        let total = self.run_ns.saturating_sub(earlier.run_ns);
        let ticked_user = self.user_ns.saturating_sub(earlier.user_ns);
        let ticked = ticked_user + self.system_ns.saturating_sub(earlier.system_ns);
        if ticked == 0 {
            return (total, 0);
        }
        let user = u128::from(total) * u128::from(ticked_user) / u128::from(ticked);
        let user = u64::try_from(user).unwrap_or(total);
        (user, total - user)
    }
}

#[cfg(target_os = "linux")]
pub use linux::{Watched, members, steal_ns};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashSet;

    use nix::sys::time::TimeValLike as _;
    use nix::time::{clock_getcpuclockid, clock_gettime};
    use nix::unistd::Pid;
    use procfs::process::{FDTarget, FDsIter, Process, Status, all_processes};
    use procfs::{CurrentSI, KernelStats};

    use super::CpuUsed;

    /// The processes of one or more process groups.
    #[derive(Debug)]
    pub struct Watched {
        groups: Vec<i32>,
        processes: Vec<Process>,
        tick_ns: u64,
    }

    impl Watched {
        /// Finds the processes of these groups; call it when they are all started.
        #[must_use]
        pub fn groups(ids: &[i32]) -> Self {
            let found = if ids.is_empty() { Vec::new() } else { members_of(ids) };
            // The leaders first.
            let others = found.into_iter().filter(|member| !ids.contains(member));
            let all = ids.iter().copied().chain(others);
            Self {
                groups: ids.to_vec(),
                processes: all.filter_map(|member| Process::new(member).ok()).collect(),
                tick_ns: tick_ns(),
            }
        }

        /// The group's leader alone, without a search.
        #[must_use]
        pub fn leader(id: i32) -> Self {
            Self {
                groups: Vec::new(),
                processes: Process::new(id).into_iter().collect(),
                tick_ns: tick_ns(),
            }
        }

        /// CPU time so far of the processes that were found at the beginning; `None` if it cannot be read. Threads that
        /// have ended are included.
        #[must_use]
        pub fn cpu(&self) -> Option<CpuUsed> {
            let each = self.processes.iter().filter_map(|process| self.cpu_of(process));
            each.reduce(|sum, one| CpuUsed {
                run_ns: sum.run_ns + one.run_ns,
                user_ns: sum.user_ns + one.user_ns,
                system_ns: sum.system_ns + one.system_ns,
            })
        }

        /// The same, with processes that joined the groups since: workers that were forked during a load. Searches /proc,
        /// which takes milliseconds.
        #[must_use]
        pub fn cpu_with_new_processes(&self) -> Option<CpuUsed> {
            if self.groups.is_empty() {
                return self.cpu();
            }
            Self::groups(&self.groups).cpu()
        }

        fn cpu_of(&self, process: &Process) -> Option<CpuUsed> {
            let stat = process.stat().ok()?;
            let clock = clock_getcpuclockid(Pid::from_raw(process.pid)).ok()?;
            let own_ns = u64::try_from(clock_gettime(clock).ok()?.num_nanoseconds()).ok()?;
            let children = |ticks: i64| u64::try_from(ticks).unwrap_or(0) * self.tick_ns;
            let (user_ns, system_ns) = (children(stat.cutime), children(stat.cstime));
            Some(CpuUsed {
                run_ns: own_ns + user_ns + system_ns,
                user_ns: stat.utime * self.tick_ns + user_ns,
                system_ns: stat.stime * self.tick_ns + system_ns,
            })
        }

        /// Inodes of the open sockets; `None` if they cannot be read.
        #[must_use]
        pub fn sockets(&self) -> Option<HashSet<u64>> {
            let tables: Vec<_> = self.processes.iter().filter_map(|process| process.fd().ok()).collect();
            let inode = |target| {
                if let FDTarget::Socket(inode) = target {
                    Some(inode)
                } else {
                    None
                }
            };
            let sockets = |table: FDsIter| {
                table
                    .flatten()
                    .filter_map(|info| inode(info.target))
                    .collect::<Vec<_>>()
            };
            (!tables.is_empty()).then(|| tables.into_iter().flat_map(sockets).collect())
        }

        /// Largest resident memory so far, bytes, summed over the processes.
        #[must_use]
        pub fn peak_rss_bytes(&self) -> Option<u64> {
            self.memory(|status| status.vmhwm)
        }

        /// Resident memory now, bytes, summed over the processes.
        #[must_use]
        pub fn rss_bytes(&self) -> Option<u64> {
            self.memory(|status| status.vmrss)
        }

        fn memory(&self, kib: impl Fn(Status) -> Option<u64>) -> Option<u64> {
            let sizes = self.processes.iter().filter_map(|process| kib(process.status().ok()?));
            sizes.reduce(|sum, size| sum + size).map(|sum| sum * 1024)
        }
    }

    fn members_of(groups: &[i32]) -> Vec<i32> {
        let processes = all_processes().into_iter().flatten().flatten();
        processes
            .filter(|process| process.stat().is_ok_and(|stat| groups.contains(&stat.pgrp)))
            .map(|process| process.pid)
            .collect()
    }

    /// The processes of a group, by id.
    #[must_use]
    pub fn members(group: i32) -> Vec<i32> {
        members_of(&[group])
    }

    /// The kernel's accounting tick, ns.
    fn tick_ns() -> u64 {
        1_000_000_000 / procfs::ticks_per_second().max(1)
    }

    /// CPU time the hypervisor gave to others so far, ns over all CPUs.
    #[must_use]
    pub fn steal_ns() -> Option<u64> {
        let ticks = KernelStats::current().ok()?.total.steal?;
        Some(ticks * tick_ns())
    }
}

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Watched, members, steal_ns};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::CpuUsed;

    /// Nothing can be watched on this system.
    #[derive(Debug)]
    pub struct Watched;

    impl Watched {
        /// Watches nothing.
        #[must_use]
        pub fn groups(_: &[i32]) -> Self {
            Self
        }
        /// Watches nothing.
        #[must_use]
        pub fn leader(_: i32) -> Self {
            Self
        }
        /// Not measured.
        #[must_use]
        pub fn sockets(&self) -> Option<std::collections::HashSet<u64>> {
            None
        }
        /// Not measured.
        #[must_use]
        pub fn cpu(&self) -> Option<CpuUsed> {
            None
        }
        /// Not measured.
        #[must_use]
        pub fn cpu_with_new_processes(&self) -> Option<CpuUsed> {
            None
        }
        /// Not measured.
        #[must_use]
        pub fn peak_rss_bytes(&self) -> Option<u64> {
            None
        }
        /// Not measured.
        #[must_use]
        pub fn rss_bytes(&self) -> Option<u64> {
            None
        }
    }

    /// Not measured.
    #[must_use]
    pub fn steal_ns() -> Option<u64> {
        None
    }

    /// Unknown.
    #[must_use]
    pub fn members(_group: i32) -> Vec<i32> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::CpuUsed;

    #[test]
    fn shares_the_exact_time_by_ticks() {
        let used = CpuUsed {
            run_ns: 1_003_000_000,
            user_ns: 300_000_000,
            system_ns: 700_000_000,
        };
        assert_eq!(used.since(CpuUsed::default()), (300_900_000, 702_100_000));
    }

    /// A tenth of a second of work in threads that have ended, in a process of its own.
    #[cfg(target_os = "linux")]
    #[test]
    fn threads_that_ended_and_children_that_were_waited_for_are_counted() {
        use std::process::{Command, Stdio};

        let burn = "import threading, time, os\n\
            def burn():\n    end = time.thread_time() + 0.2\n    while time.thread_time() < end: pass\n\
            for _ in range(3):\n    one = threading.Thread(target=burn); one.start(); one.join()\n\
            child = os.fork()\n\
            if child == 0:\n    burn(); os._exit(0)\n\
            os.waitpid(child, 0)\n\
            print(time.process_time() + sum(os.times()[2:4]), flush=True)\ninput()\n";
        let mut child = Command::new("python3")
            .args(["-c", burn])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut said).unwrap();
        let used = super::Watched::leader(child.id().try_into().unwrap()).cpu().unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
        // The kernel's own account: the process's clock, and its children by ticks.
        let expected = said.trim().parse::<f64>().unwrap();
        let found = std::time::Duration::from_nanos(used.run_ns).as_secs_f64();
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "{found} s found, {expected} s used"
        );
    }
}
