//! Measures what each process of a target uses during a load: CPU, memory, connections.
//!
//! Counts the connections that a process held during a load, by reading its open sockets a few times. The kernel's table
//! of connections has more detail, but reading it takes milliseconds of a core during the load: it is read a few times only, and
//! only of a chain, to tell the connections that a process accepted from those that it opened.

use std::collections::HashSet;
use std::sync::Arc;

use crate::measure::sock_diag::local_ports;
use crate::measure::target::{Instance, Target};
use crate::measure::usage::{CpuUsed, UsageReader};
use wirebench_record::run::ProcessUsage;

/// The most readings of the kernel's whole table of sockets in a round; each takes milliseconds.
const MAX_SEARCHES: u32 = 5;

/// The processes of a target under one load, the front first.
#[derive(Debug)]
pub struct LoadMonitor {
    processes: Vec<Process>,
    searches: u32,
}

#[derive(Debug)]
struct Process {
    name: String,
    usage: Arc<dyn UsageReader>,
    /// Its CPU time before the load.
    cpu_before: Option<CpuUsed>,
    /// Its own port; `None` if it is on another host, whose connections this kernel does not know.
    port: Option<u16>,
    /// Sockets that were open before the load (listeners, a pool of its own): they do not count.
    before: HashSet<u64>,
    during: HashSet<u64>,
    /// The sockets of the last sample.
    now: HashSet<u64>,
    /// How many samples before the last one had the same sockets.
    unchanged: u32,
    /// Sockets of connections at its own port, if they were looked up.
    accepted: HashSet<u64>,
}

impl LoadMonitor {
    /// Starts to measure from now on.
    pub fn of(target: &Target) -> Self {
        let port = |one: &Instance| one.address.rsplit(':').next()?.parse().ok();
        let process = |one: &Instance| {
            let port = one.group.local().and_then(|_| port(one));
            Process::new(&one.name, Arc::clone(&one.usage), port)
        };
        Self {
            processes: target.instances().map(process).collect(),
            searches: 0,
        }
    }

    /// Takes one sample; call it repeatedly while the load runs.
    pub fn sample(&mut self) {
        let mut is_new_period = false;
        for process in &mut self.processes {
            process.sample();
            is_new_period |= process.unchanged == 1;
        }
        // Before the driver connects there is nothing to search for.
        let has_begun = self.processes.first().is_some_and(|front| !front.during.is_empty());
        let is_chain = self.processes.len() > 1;
        if !(is_chain && has_begun && is_new_period && self.searches < MAX_SEARCHES) {
            return;
        }
        self.searches += 1;
        let ports = local_ports().unwrap_or_default();
        for process in &mut self.processes {
            let is_own = |inode: &&u64| process.port.is_some() && ports.get(inode).copied() == process.port;
            process.accepted.extend(process.now.iter().filter(is_own));
        }
    }

    /// What each process used; call it when the load is over.
    pub fn finish(self) -> Vec<ProcessUsage> {
        let is_chain = self.processes.len() > 1;
        let used = |process: Process| {
            let cpu = process.cpu_before.zip(process.usage.cpu_with_new_processes());
            ProcessUsage {
                name: process.name,
                cpu_ns: cpu.map(|(before, after)| after.since(before)),
                peak_rss_bytes: process.usage.peak_rss_bytes(),
                rss_bytes: process.usage.rss_bytes(),
                // The front of a chain opens connections too: only what it accepted is the driver's.
                connections_seen: count(if is_chain { &process.accepted } else { &process.during }),
                ..ProcessUsage::default()
            }
        };
        let used: Vec<ProcessUsage> = self.processes.into_iter().map(used).collect();
        // On systems without these counters the values are null.
        let known = used.iter().any(|one| one.cpu_ns.is_some());
        if known { used } else { Vec::new() }
    }
}

impl Process {
    fn new(name: &str, usage: Arc<dyn UsageReader>, port: Option<u16>) -> Self {
        Self {
            name: name.to_owned(),
            cpu_before: usage.cpu(),
            port,
            before: usage.sockets().unwrap_or_default(),
            usage,
            during: HashSet::new(),
            now: HashSet::new(),
            unchanged: 0,
            accepted: HashSet::new(),
        }
    }

    /// Reads the sockets that are open now, during the load.
    fn sample(&mut self) {
        let sockets = self.usage.sockets().unwrap_or_default();
        self.during.extend(sockets.difference(&self.before));
        self.unchanged = if sockets == self.now { self.unchanged + 1 } else { 0 };
        self.now = sockets;
    }
}

/// The number of distinct connections seen; `None` if the load fell between two samples, or sockets cannot be read.
fn count(sockets: &HashSet<u64>) -> Option<u32> {
    u32::try_from(sockets.len()).ok().filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;

    use super::{Process, count};
    use crate::measure::usage::LocalUsage;
    use crate::measure::usage::UsageReader;

    /// This process.
    fn own() -> Arc<dyn UsageReader> {
        let id = std::process::id().try_into().expect("the id of a process fits");
        Arc::new(LocalUsage::leader(id))
    }

    #[test]
    fn counts_distinct_connections_whether_still_open_or_not() {
        let own = own();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut process = Process::new("own", Arc::clone(&own), None);
        let accepted = |count: usize| -> Vec<(TcpStream, TcpStream)> {
            (0..count)
                .map(|_| (TcpStream::connect(address).unwrap(), listener.accept().unwrap().0))
                .collect()
        };
        let first = accepted(3);
        process.sample();
        drop(first);
        let _second = accepted(2);
        process.sample();
        // This process holds both ends of each. Other tests of this program may open sockets of their own meanwhile.
        assert!(count(&process.during).unwrap() >= 10);
    }

    #[test]
    fn without_a_look_nothing_is_claimed() {
        let own = own();
        assert_eq!(count(&Process::new("own", own, None).during), None);
    }
}
