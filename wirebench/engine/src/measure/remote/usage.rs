//! CPU time and memory of processes on another host, read by its shell from /proc.

use std::collections::{HashMap, HashSet};
use std::ops::Add;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::measure::remote::shell::Shell;
use crate::measure::thread_cpu::{self, ProcessCpu, ThreadCpu};
use crate::measure::usage::{CpuUsed, UsageReader, own_memory};

type Threads = HashMap<(u32, u64), ThreadCpu>;

/// The processes of one or more groups on another host, whose usage is read.
#[derive(Debug)]
pub struct RemoteUsage {
    shell: Arc<Shell>,
    groups: Vec<i32>,
    pids: Vec<i32>,
    tick_ns: u64,
    /// The CPU time of each process so far, with its ended threads, by process id and start time.
    threads: Mutex<Threads>,
}

impl RemoteUsage {
    /// Finds the processes of these groups, which are on one host; call it when they are started.
    pub fn find(shell: Arc<Shell>, groups: Vec<i32>, tick_ns: u64) -> Self {
        let mut usage = Self {
            shell,
            pids: groups.clone(),
            groups,
            tick_ns,
            threads: Mutex::default(),
        };
        let output = usage.query("members", &usage.groups).unwrap_or_default();
        let others = output.lines().filter_map(|line| line.parse().ok());
        let others: Vec<i32> = others.filter(|pid| !usage.groups.contains(pid)).collect();
        usage.pids.extend(others);
        usage
    }

    fn query(&self, command: &str, ids: &[i32]) -> Option<String> {
        let ids: Vec<String> = ids.iter().map(i32::to_string).collect();
        self.shell.run(&format!("{command} {}", ids.join(" "))).ok()
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory(&self, key: &str) -> Option<u64> {
        let output = self.query("memory", &self.pids)?;
        let kib = |line: &str, key: &str| line.strip_prefix(key)?.split_whitespace().next()?.parse::<u64>().ok();
        let sum = |key: &str| {
            output
                .lines()
                .filter_map(|line| kib(line, key))
                .reduce(|sum, size| sum + size)
        };
        Some(own_memory(sum(key)?, sum("RssFile:")) * 1024)
    }
}

impl UsageReader for RemoteUsage {
    /// Running threads are read in ns, ended threads in ticks.
    fn cpu(&self) -> Option<CpuUsed> {
        let output = self.query("cpu", &self.pids)?;
        cpu_of(&output, self.tick_ns, &mut self.lock())
    }

    fn cpu_with_new_processes(&self) -> Option<CpuUsed> {
        let all = Self::find(Arc::clone(&self.shell), self.groups.clone(), self.tick_ns);
        all.lock().clone_from(&self.lock());
        all.cpu()
    }

    fn sockets(&self) -> Option<HashSet<u64>> {
        let output = self.query("sockets", &self.pids)?;
        let inode = |line: &str| line.split_once("socket:[")?.1.strip_suffix(']')?.parse().ok();
        (!output.is_empty()).then(|| output.lines().filter_map(inode).collect())
    }

    fn peak_rss_bytes(&self) -> Option<u64> {
        self.memory("VmHWM:")
    }

    fn rss_bytes(&self) -> Option<u64> {
        self.memory("VmRSS:")
    }
}

/// The sum over all processes in the output of `cpu`; `None` without one. `threads` is updated.
fn cpu_of(output: &str, tick_ns: u64, threads: &mut Threads) -> Option<CpuUsed> {
    let processes = thread_cpu::parts(output).filter_map(ProcessCpu::parse);
    processes
        .map(|process| threads.entry(process.key()).or_default().read(&process, tick_ns))
        .reduce(Add::add)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: u64 = 10_000_000;

    fn line(threads_ns: u64, user: u64, system: u64) -> String {
        format!(
            "process 7\n7 (server) S 1 7 7 0 -1 4194304 225 0 0 0 {user} {system} 1 2 20 0 1 0 4132253\nthread 7 {threads_ns}"
        )
    }

    #[test]
    fn threads_that_run_are_exact_and_those_that_ended_are_not_lost() {
        let mut threads = HashMap::new();
        let mut run = |line: &str| cpu_of(line, TICK, &mut threads).unwrap().run_ns - 30_000_000;
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
        assert_eq!(cpu_of("process 7\n7 (server) S 1", TICK, &mut HashMap::new()), None);
    }
}
