//! CPU time and memory of a process group, read from /proc; nothing where there is no /proc.

/// CPU time of a group so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuUsed {
    /// On a CPU, ns, summed over threads alive now.
    pub run_ns: u64,
    /// In user mode, ns, in steps of the kernel's tick (10 ms), ended threads included.
    pub user_ns: u64,
    /// In kernel mode, ns, likewise.
    pub system_ns: u64,
}

impl CpuUsed {
    /// What was used since `earlier`, as user and system ns: the exact sum shared out by the ticks.
    #[must_use]
    pub fn since(self, earlier: Self) -> (u64, u64) {
        let ticked_user = self.user_ns.saturating_sub(earlier.user_ns);
        let ticked = ticked_user + self.system_ns.saturating_sub(earlier.system_ns);
        let run = self.run_ns.saturating_sub(earlier.run_ns);
        // Threads that ended take their exact time with them; ticks then know more.
        let tolerance = 50_000_000;
        let total = if ticked > run + tolerance { ticked } else { run };
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

    use procfs::process::{FDTarget, FDsIter, Process, Status, all_processes};
    use procfs::{CurrentSI, KernelStats};

    use super::CpuUsed;

    /// The processes of one group.
    #[derive(Debug)]
    pub struct Watched {
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
                processes: all.filter_map(|member| Process::new(member).ok()).collect(),
                tick_ns: tick_ns(),
            }
        }

        /// The group's leader alone, without a search.
        #[must_use]
        pub fn leader(id: i32) -> Self {
            Self {
                processes: Process::new(id).into_iter().collect(),
                tick_ns: tick_ns(),
            }
        }

        /// CPU time so far; none when nothing could be read.
        #[must_use]
        pub fn cpu(&self) -> Option<CpuUsed> {
            let mut used = CpuUsed::default();
            let mut any = false;
            for process in &self.processes {
                let (Ok(stat), Ok(tasks)) = (process.stat(), process.tasks()) else {
                    continue;
                };
                used.user_ns += stat.utime * self.tick_ns;
                used.system_ns += stat.stime * self.tick_ns;
                used.run_ns += tasks
                    .flatten()
                    .filter_map(|task| Some(task.schedstat().ok()?.sum_exec_runtime))
                    .sum::<u64>();
                any = true;
            }
            any.then_some(used)
        }

        /// Sockets open now, by inode; none when nothing could be read.
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

    #[test]
    fn believes_the_ticks_when_threads_took_their_time_with_them() {
        let used = CpuUsed {
            run_ns: 10_000_000,
            user_ns: 400_000_000,
            system_ns: 100_000_000,
        };
        assert_eq!(used.since(CpuUsed::default()), (400_000_000, 100_000_000));
    }
}
