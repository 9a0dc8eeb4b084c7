//! CPU time and memory of a server's pods, read from /proc by the container that wirebench adds to each of them.

use std::collections::BTreeMap;

use wirebench_engine::measure::remote::usage::{ProcessCpu, ThreadCpu, parts};
use wirebench_engine::measure::usage::own_memory;
use wirebench_record::run::{CpuTime, ProcessUsage};

/// Prints what [`Reading::parse`] reads: of every process its control groups, `stat`, resident memory, and the run time of each
/// thread. The containers of the pod share their processes; those of the reading container itself have its own control groups.
pub(crate) const SCRIPT: &str = "cd /proc; echo own; cat self/cgroup; for p in [0-9]*; do \
    echo \"process $p\"; cat $p/cgroup $p/stat 2>/dev/null; while read -r k v u; do case $k in VmRSS:|VmHWM:|RssFile:) echo $k $v;; esac; \
    done <$p/status 2>/dev/null; for t in $p/task/*; do read -r n w <$t/schedstat && echo \"thread ${t##*/} $n\"; done 2>/dev/null; \
    done; true";

/// Linux counts CPU time in hundredths of a second on every architecture that Kubernetes runs on.
const TICK_NS: u64 = 10_000_000;

/// What the processes of one pod have used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// By process id and start time.
    processes: BTreeMap<(u32, u64), Used>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Used {
    cpu: ProcessCpu,
    rss_bytes: u64,
    peak_rss_bytes: u64,
}

impl Reading {
    /// Reads what [`SCRIPT`] printed.
    pub(crate) fn parse(text: &str) -> Self {
        let own = text
            .split("\nprocess ")
            .next()
            .and_then(|part| part.strip_prefix("own\n"));
        let is_group = |line: &&str| line.split(':').count() >= 3 && !line.contains(") ");
        let own: Vec<&str> = own.unwrap_or_default().lines().filter(is_group).collect();
        let processes = parts(text).filter_map(|part| {
            let groups: Vec<&str> = part.lines().filter(is_group).collect();
            let cpu = ProcessCpu::parse(part)?;
            if groups == own || cpu.name == "pause" {
                return None;
            }
            let memory = |name: &str| {
                let line = part.lines().find_map(|line| line.strip_prefix(name))?;
                Some(line.trim().parse::<u64>().ok()? * 1024)
            };
            let own = |name: &str| own_memory(memory(name).unwrap_or(0), memory("RssFile:"));
            let used = Used {
                rss_bytes: own("VmRSS:"),
                peak_rss_bytes: own("VmHWM:"),
                cpu,
            };
            Some((used.cpu.key(), used))
        });
        Self {
            processes: processes.collect(),
        }
    }

    /// What was used since an earlier reading of the same pod; `None` if a process of that time is gone, or there is none.
    fn since(&self, before: &Self) -> Option<CpuTime> {
        if self.processes.is_empty() || before.processes.keys().any(|key| !self.processes.contains_key(key)) {
            return None;
        }
        let of_process = |(key, used): (&(u32, u64), &Used)| {
            let mut threads = ThreadCpu::default();
            let earlier = before.processes.get(key).map(|used| threads.read(&used.cpu, TICK_NS));
            threads.read(&used.cpu, TICK_NS).since(earlier.unwrap_or_default())
        };
        Some(sum(self.processes.iter().map(of_process)))
    }

    fn sum(&self, what: impl Fn(&Used) -> u64) -> u64 {
        self.processes.values().map(what).sum()
    }
}

/// CPU time of several processes together.
pub(crate) fn sum(times: impl Iterator<Item = CpuTime>) -> CpuTime {
    times.fold(CpuTime { user: 0, system: 0 }, |sum, one| CpuTime {
        user: sum.user + one.user,
        system: sum.system + one.system,
    })
}

/// One reading of every pod of a server: by the name of its Deployment, then of the pod.
pub(crate) type Readings = BTreeMap<String, BTreeMap<String, Reading>>;

/// What the pods of each Deployment used between two readings.
///
/// # Errors
/// When a pod or one of its processes is not the same any more; the message names it.
pub(crate) fn usage(before: &Readings, after: &Readings) -> Result<Vec<ProcessUsage>, String> {
    let mut all = Vec::new();
    for (name, pods) in after {
        let earlier = before
            .get(name)
            .ok_or_else(|| format!("{name}: no reading before the load"))?;
        if !pods.keys().eq(earlier.keys()) {
            return Err(format!("{name}: its pods changed during the load"));
        }
        let of_pod = |(pod, reading): (&String, &Reading)| {
            let used = reading.since(&earlier[pod]);
            used.ok_or_else(|| format!("pod {pod}: its server ended or was started again during the load"))
        };
        let cpu: Vec<CpuTime> = pods.iter().map(of_pod).collect::<Result<_, String>>()?;
        all.push(ProcessUsage {
            name: name.clone(),
            cpu_ns: Some(sum(cpu.into_iter())),
            peak_rss_bytes: Some(pods.values().map(|pod| pod.sum(|used| used.peak_rss_bytes)).sum()),
            rss_bytes: Some(pods.values().map(|pod| pod.sum(|used| used.rss_bytes)).sum()),
            ..ProcessUsage::default()
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(user: u64, start: u64) -> String {
        format!(
            "own\n4:memory:/pod/meter\n0::/\nprocess 1\n4:memory:/pod/pause\n0::/\n1 (pause) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0\n\
             process 7\n4:memory:/pod/server\n0::/\n7 (gate) way) S 0 7 7 0 -1 0 0 0 0 0 {user} 30 0 0 20 0 2 0 {start} 9 9\nVmHWM: 4000\nVmRSS: 3000\nRssFile: 500\n\
             process 9\n4:memory:/pod/meter\n0::/\n9 (sh) S 0 7 7 0 -1 0 0 0 0 0 77 77 0 0 20 0 2 0 60 9 9\nVmHWM: 1\nVmRSS: 1\n"
        )
    }

    fn readings(user: u64, start: u64) -> Readings {
        let pod = BTreeMap::from([("front-1".to_owned(), Reading::parse(&text(user, start)))]);
        BTreeMap::from([("front".to_owned(), pod)])
    }

    #[test]
    fn only_the_servers_own_processes_count() {
        let found = usage(&readings(100, 50), &readings(250, 50)).unwrap();
        assert_eq!(found.len(), 1);
        let expected = CpuTime {
            user: 1_500_000_000,
            system: 0,
        };
        assert_eq!(found[0].cpu_ns, Some(expected));
        assert_eq!(
            (found[0].peak_rss_bytes, found[0].rss_bytes),
            (Some(3_584_000), Some(2_560_000))
        );
    }

    /// What [`SCRIPT`] prints of a server with these threads, beside 100 ms in ticks.
    fn threads(user: u64, threads: &[(u32, u64)]) -> Readings {
        let lines: String = threads.iter().map(|(id, ns)| format!("thread {id} {ns}\n")).collect();
        let text = text(user, 50).replace("process 9", &format!("{lines}process 9"));
        BTreeMap::from([(
            "front".to_owned(),
            BTreeMap::from([("front-1".to_owned(), Reading::parse(&text))]),
        )])
    }

    fn used(before: &Readings, after: &Readings) -> u64 {
        usage(before, after).unwrap()[0].cpu_ns.unwrap().total()
    }

    #[test]
    fn the_run_time_of_threads_is_exact_to_the_ns() {
        let before = threads(100, &[(7, 1_000), (8, 50_000_000)]);
        let after = threads(110, &[(7, 2_001), (8, 153_000_000), (9, 1_000_000)]);
        assert_eq!(used(&before, &after), 104_001_001);
    }

    #[test]
    fn ticks_count_where_a_thread_ended() {
        let before = threads(100, &[(7, 1_000), (8, 50_000_000)]);
        assert_eq!(used(&before, &threads(110, &[(7, 2_001)])), 100_000_000);
        // It began and ended between the readings.
        let after = threads(110, &[(7, 2_001), (8, 50_000_000)]);
        assert_eq!(used(&before, &after), 100_000_000);
        // The kernel does not tell run times.
        assert_eq!(used(&before, &threads(110, &[])), 100_000_000);
    }

    #[test]
    fn a_server_that_was_started_again_has_no_usage() {
        let error = usage(&readings(100, 50), &readings(10, 90)).unwrap_err();
        assert_eq!(
            error,
            "pod front-1: its server ended or was started again during the load"
        );
        let mut other = readings(250, 50);
        let pods = other.get_mut("front").unwrap();
        let pod = pods.pop_first().unwrap().1;
        pods.insert("front-2".into(), pod);
        assert_eq!(
            usage(&readings(100, 50), &other).unwrap_err(),
            "front: its pods changed during the load"
        );
    }

    #[test]
    fn what_is_no_reading_has_no_processes() {
        for text in ["", "own\n", "process x\n1 (a) S", "own\nprocess 5\n0::/a\n5 (b) S 1\n"] {
            assert!(Reading::parse(text).processes.is_empty(), "{text:?}");
        }
    }
}
