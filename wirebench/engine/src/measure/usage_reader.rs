//! Reads the CPU time, memory and sockets of processes, on this machine or on another host.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::ops::Add;

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

#[cfg(test)]
mod tests {
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
