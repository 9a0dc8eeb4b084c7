//! CPU time and memory of processes on another host, read by its shell from /proc.
//!
//! CPU time of a process from the run times of its threads, as `/proc` on another machine shows them: in ns for threads that run,
//! in the kernel's ticks for threads that have ended.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Add;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::measure::remote::shell::Shell;
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
    let processes = parts(output).filter_map(ProcessCpu::parse);
    processes
        .map(|process| threads.entry(process.key()).or_default().read(&process, tick_ns))
        .reduce(Add::add)
}

/// User and system time are each cut to whole ticks, and threads run while the two files are read one after the other: a smaller
/// difference between ticks and run times does not prove that a thread ended.
const TICKS_OF_ERROR: u64 = 3;

/// The CPU times of a process in ticks, and its start time, from `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    /// Time in user and in kernel mode, of all threads that the process ever had.
    pub own_ticks: [u64; 2],
    /// Time in user and in kernel mode of the child processes that it has waited for.
    pub child_ticks: [u64; 2],
    /// When it was started, ticks since boot: processes that had the same id one after the other differ in it.
    pub start_ticks: u64,
}

impl Stat {
    /// Parses the fields of a stat line that follow the program's name.
    pub fn parse(fields: &str) -> Option<Self> {
        // The first of these fields is number 3 in proc_pid_stat(5).
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse().ok();
        Some(Self {
            own_ticks: [field(14)?, field(15)?],
            child_ticks: [field(16)?, field(17)?],
            start_ticks: field(22)?,
        })
    }
}

/// The CPU time of one process at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessCpu {
    /// The process's id.
    pub pid: u32,
    /// The program's name, as the kernel cuts it.
    pub name: String,
    /// What the kernel sums up.
    pub stat: Stat,
    /// The run time of each thread that runs, ns, by thread id; empty if the kernel does not tell it.
    threads: BTreeMap<u32, u64>,
}

impl ProcessCpu {
    /// Parses what follows `process ` in a list of processes: a line with the process's id, a line with its `stat`, and a line
    /// `thread ID NS` for each thread. Other lines are ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let (pid, lines) = text.split_once('\n')?;
        let (begin, fields) = lines.lines().find_map(|line| line.rsplit_once(") "))?;
        Some(Self {
            pid: pid.trim().parse().ok()?,
            name: begin.split_once('(')?.1.to_owned(),
            stat: Stat::parse(fields)?,
            threads: lines.lines().filter_map(thread).collect(),
        })
    }

    /// What distinguishes the process from others that had its id.
    pub const fn key(&self) -> (u32, u64) {
        (self.pid, self.stat.start_ticks)
    }
}

/// The parts of a list of processes, each from behind `process ` on.
pub fn parts(list: &str) -> impl Iterator<Item = &str> {
    let first = list.strip_prefix("process ");
    let skipped = usize::from(first.is_none());
    first.unwrap_or(list).split("\nprocess ").skip(skipped)
}

/// Parses a line `thread ID NS`.
fn thread(line: &str) -> Option<(u32, u64)> {
    let (id, ns) = line.strip_prefix("thread ")?.split_once(' ')?;
    Some((id.parse().ok()?, ns.parse().ok()?))
}

/// Follows the CPU time of one process through its readings.
///
/// The time of running threads is known in ns. The time of ended threads is contained only in the process's ticks; it is at least
/// the time of each ended thread at the last reading that had it. If no thread ended between two readings, the time of ended
/// threads does not change, and the difference between the readings is exact to the ns. Otherwise a reading is at most five ticks below the truth, and never above it.
#[derive(Debug, Clone, Default)]
pub struct ThreadCpu {
    /// The threads of the last reading.
    threads: BTreeMap<u32, u64>,
    /// The time of ended threads; `None` before the first reading.
    ended_ns: Option<u64>,
}

impl ThreadCpu {
    /// CPU time of the process so far, from a new reading of it.
    pub fn read(&mut self, reading: &ProcessCpu, tick_ns: u64) -> CpuUsed {
        let stat = reading.stat;
        let running_ns: u64 = reading.threads.values().sum();
        let ticked_ns = stat.own_ticks.iter().sum::<u64>() * tick_ns;
        let missing_ns = ticked_ns.saturating_sub(running_ns);
        let ended_ns = match self.ended_ns {
            None => missing_ns,
            Some(before) => self.ended_ns_now(before, reading, missing_ns, tick_ns),
        };
        self.ended_ns = Some(ended_ns);
        self.threads.clone_from(&reading.threads);
        let [child_user_ns, child_system_ns] = stat.child_ticks.map(|ticks| ticks * tick_ns);
        CpuUsed {
            run_ns: running_ns + ended_ns + child_user_ns + child_system_ns,
            user_ns: stat.own_ticks[0] * tick_ns + child_user_ns,
            system_ns: stat.own_ticks[1] * tick_ns + child_system_ns,
        }
    }

    /// The time of ended threads at a later reading, in which the ticks show `missing_ns` more than the threads that run; `before` is
    /// that at the last reading.
    fn ended_ns_now(&self, before: u64, reading: &ProcessCpu, missing_ns: u64, tick_ns: u64) -> u64 {
        // A thread with less run time than before is another one with the same id.
        let has_ended = |(id, ns): &(&u32, &u64)| reading.threads.get(id).is_none_or(|now| now < ns);
        let ended: Vec<u64> = self.threads.iter().filter(has_ended).map(|(_, ns)| *ns).collect();
        let known_ns = before + ended.iter().sum::<u64>();
        let error_ns = if ended.is_empty() && !reading.threads.is_empty() {
            TICKS_OF_ERROR * tick_ns
        } else {
            0
        };
        if missing_ns > known_ns + error_ns {
            missing_ns
        } else {
            known_ns
        }
    }
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

#[cfg(test)]
mod thread_cpu_tests {
    use super::*;
    use proptest::prelude::*;

    const TICK: u64 = 10_000_000;

    /// What happens to the threads of a process.
    #[derive(Debug, Clone)]
    enum Event {
        Start,
        /// A thread runs: which of those that run (modulo their number), and how long in user and in kernel mode.
        Run(usize, u64, u64),
        End(usize),
        Read,
    }

    /// A process whose true CPU time is known.
    #[derive(Default)]
    struct Process {
        threads: BTreeMap<u32, u64>,
        started: u32,
        user_ns: u64,
        system_ns: u64,
        ended: u32,
    }

    impl Process {
        fn nth(&self, index: usize) -> Option<u32> {
            self.threads.keys().copied().nth(index % self.threads.len().max(1))
        }

        fn happens(&mut self, event: &Event) {
            match event {
                Event::Start => {
                    self.started += 1;
                    self.threads.insert(self.started, 0);
                }
                Event::Run(index, user, system) => {
                    if let Some(id) = self.nth(*index) {
                        *self.threads.get_mut(&id).unwrap() += user + system;
                        self.user_ns += user;
                        self.system_ns += system;
                    }
                }
                Event::End(index) => {
                    if let Some(id) = self.nth(*index) {
                        self.threads.remove(&id);
                        self.ended += 1;
                    }
                }
                Event::Read => {}
            }
        }

        fn reading(&self) -> ProcessCpu {
            let (user, system) = (self.user_ns / TICK, self.system_ns / TICK);
            let threads = self.threads.iter().map(|(id, ns)| format!("thread {id} {ns}\n"));
            let text = format!(
                "7\n7 (a (b) c) S 1 7 7 0 -1 0 0 0 0 0 {user} {system} 0 0 20 0 2 0 50 9\n{}",
                threads.collect::<String>()
            );
            ProcessCpu::parse(&text).unwrap()
        }
    }

    fn event() -> impl Strategy<Value = Event> {
        let time = || prop_oneof![0u64..1_000_000, 0u64..100_000_000];
        prop_oneof![
            1 => Just(Event::Start),
            4 => (any::<usize>(), time(), time()).prop_map(|(index, user, system)| Event::Run(index, user, system)),
            1 => any::<usize>().prop_map(Event::End),
            2 => Just(Event::Read),
        ]
    }

    proptest! {
        #[test]
        fn cpu_time_is_right_whichever_threads_start_run_and_end(
            before in prop::collection::vec(event(), 0..30), events in prop::collection::vec(event(), 0..60)
        ) {
            let mut process = Process::default();
            process.happens(&Event::Start);
            before.iter().for_each(|event| process.happens(event));
            let mut cpu = ThreadCpu::default();
            let first = cpu.read(&process.reading(), TICK);
            let (ended_at_first, first_ns) = (process.ended, process.user_ns + process.system_ns);
            let mut last = (first, process.threads.clone());
            for event in &events {
                process.happens(event);
                if !matches!(event, Event::Read) {
                    continue;
                }
                let used = cpu.read(&process.reading(), TICK);
                let true_ns = process.user_ns + process.system_ns;
                prop_assert!(used.run_ns >= process.threads.values().sum::<u64>());
                prop_assert!(used.run_ns <= true_ns && true_ns < used.run_ns + (TICKS_OF_ERROR + 2) * TICK);
                let still_run = process.threads.iter().map(|(id, ns)| ns - last.1.get(id).unwrap_or(&0));
                prop_assert!(used.run_ns - last.0.run_ns >= still_run.sum::<u64>());
                if process.ended == ended_at_first {
                    prop_assert_eq!(used.run_ns - first.run_ns, true_ns - first_ns);
                }
                if process.ended == 0 {
                    prop_assert_eq!(used.run_ns, true_ns);
                }
                last = (used, process.threads.clone());
            }
        }
    }

    #[test]
    fn a_thread_that_ended_counts_at_least_as_much_as_was_seen_of_it() {
        let mut process = Process::default();
        for event in [
            Event::Start,
            Event::Start,
            Event::Run(0, 25_000_000, 0),
            Event::Run(1, 4_000_000, 0),
        ] {
            process.happens(&event);
        }
        let mut cpu = ThreadCpu::default();
        assert_eq!(cpu.read(&process.reading(), TICK).run_ns, 29_000_000);
        process.happens(&Event::End(0));
        assert_eq!(cpu.read(&process.reading(), TICK).run_ns, 29_000_000);
    }

    #[test]
    fn a_list_is_divided_at_its_processes_alone() {
        let list = "process 7\n7 (a process 5) S\nthread 7 1\nprocess 8\n8 (b) S\n";
        assert_eq!(
            parts(list).collect::<Vec<_>>(),
            ["7\n7 (a process 5) S\nthread 7 1", "8\n8 (b) S\n"]
        );
        assert_eq!(parts(&format!("own\n{list}")).count(), 2);
        assert_eq!(parts("").count(), 0);
    }
}
