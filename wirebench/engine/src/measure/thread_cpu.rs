//! CPU time of a process from the run times of its threads, as `/proc` on another machine shows them: in ns for threads that run,
//! in the kernel's ticks for threads that have ended.

use std::collections::BTreeMap;

use crate::measure::usage::CpuUsed;

/// User and system time are each cut to whole ticks, and threads run while the two files are read one after the other: a smaller
/// difference between ticks and run times does not prove that a thread ended.
const TICKS_OF_ERROR: u64 = 3;

/// The CPU times of a process in ticks, and its start time, from `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    /// Time in user mode, of all threads that the process ever had.
    pub user_ticks: u64,
    /// Time in kernel mode, of all threads that the process ever had.
    pub system_ticks: u64,
    /// Time in user mode of the child processes that it has waited for.
    pub child_user_ticks: u64,
    /// Time in kernel mode of the child processes that it has waited for.
    pub child_system_ticks: u64,
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
            user_ticks: field(14)?,
            system_ticks: field(15)?,
            child_user_ticks: field(16)?,
            child_system_ticks: field(17)?,
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
        let ticked_ns = (stat.user_ticks + stat.system_ticks) * tick_ns;
        let missing_ns = ticked_ns.saturating_sub(running_ns);
        let ended_ns = match self.ended_ns {
            None => missing_ns,
            Some(before) => self.ended_ns_now(before, reading, missing_ns, tick_ns),
        };
        self.ended_ns = Some(ended_ns);
        self.threads.clone_from(&reading.threads);
        let child_user_ns = stat.child_user_ticks * tick_ns;
        let child_system_ns = stat.child_system_ticks * tick_ns;
        CpuUsed {
            run_ns: running_ns + ended_ns + child_user_ns + child_system_ns,
            user_ns: stat.user_ticks * tick_ns + child_user_ns,
            system_ns: stat.system_ticks * tick_ns + child_system_ns,
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
