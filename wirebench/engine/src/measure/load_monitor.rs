//! Measures what each process of a target uses during a load: CPU, memory, connections, bytes on the wire.
//!
//! Counts the connections that a process held during a load, by reading its open sockets a few times. The kernel's table
//! of connections has more detail, but reading it takes milliseconds of a core during the load.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::measure::target::{Instance, Target};
use crate::measure::traffic::{Connection, Meter, Traffic};
use crate::measure::usage_reader::{CpuUsed, UsageReader};
use wirebench_record::run::ProcessUsage;

/// The most searches of the kernel's whole table of sockets in a round; each takes milliseconds.
const MAX_SEARCHES: u32 = 5;
/// Reading the counters of one connection takes the kernel some 10 µs. A process with many connections is read less
/// often, so that the cost stays near 1 %.
const PAUSE_PER_CONNECTION: Duration = Duration::from_millis(1);

/// The processes of a target under one load, the front first.
#[derive(Debug)]
pub struct LoadMonitor {
    processes: Vec<Process>,
    meter: Option<Meter>,
    searches: u32,
}

#[derive(Debug)]
struct Process {
    name: String,
    usage: Arc<dyn UsageReader>,
    /// Its CPU time before the load.
    cpu_before: Option<CpuUsed>,
    /// Its own port.
    port: Option<u16>,
    connections: ConnectionCounter,
    /// Sockets of connections at its own port, if they were looked up.
    accepted: HashSet<u64>,
    period: SteadyPeriod,
    /// The length of the longest steady period under load, and the bytes that were transferred in it.
    longest: Option<(Duration, Traffic)>,
}

/// A period in which a process holds the same sockets.
#[derive(Debug, Default)]
struct SteadyPeriod {
    sockets: HashSet<u64>,
    /// Its connections, and their byte counters when they were found.
    start: Option<(Vec<Connection>, Instant, Traffic)>,
    /// When their counters were last read.
    read_at: Option<Instant>,
    /// The bytes transferred from the start until then.
    transferred: Traffic,
}

impl LoadMonitor {
    /// Starts to measure from now on.
    pub fn of(target: &Target) -> Self {
        let process = |one: &Instance| Process {
            name: one.name.clone(),
            port: one.address.rsplit(':').next().and_then(|port| port.parse().ok()),
            cpu_before: one.usage.cpu(),
            connections: ConnectionCounter::new(Arc::clone(&one.usage)),
            accepted: HashSet::new(),
            usage: Arc::clone(&one.usage),
            period: SteadyPeriod::default(),
            longest: None,
        };
        Self {
            processes: target.instances().map(process).collect(),
            // The kernel's table of connections is that of this machine.
            meter: Meter::open().ok().filter(|_| target.usage.is_local()),
            searches: 0,
        }
    }

    /// Takes one sample; call it repeatedly while the load runs.
    pub fn sample(&mut self) {
        let sockets: Vec<Option<HashSet<u64>>> = self
            .processes
            .iter_mut()
            .map(|process| process.connections.sample())
            .collect();
        // Before the driver connects there is nothing to search for.
        let has_begun = self.processes.first().is_some_and(|front| front.connections.any());
        let Some(meter) = self.meter.as_ref().filter(|_| has_begun) else {
            return;
        };
        let is_new_period = |(process, sockets): (&Process, &Option<HashSet<u64>>)| {
            sockets.as_ref() == Some(&process.period.sockets) && process.period.start.is_none()
        };
        let searches = self.processes.iter().zip(&sockets).any(is_new_period) && self.searches < MAX_SEARCHES;
        let mut connections = None;
        if searches {
            self.searches += 1;
            let all = sockets.iter().flatten().flatten().copied().collect();
            connections = meter.connections(&all).ok();
        }
        // Tiers keep their connections after the load; the load lasts as long as the front holds the driver's
        // connections.
        let front = self.processes.first();
        let is_under_load = front.is_none_or(|front| {
            front.longest.is_none() || sockets.first().and_then(Option::as_ref) == Some(&front.period.sockets)
        });
        for (index, (process, sockets)) in self.processes.iter_mut().zip(sockets).enumerate() {
            if index > 0 && !is_under_load {
                process.period = SteadyPeriod::default();
                continue;
            }
            process.add_sample(sockets.unwrap_or_default(), connections.as_ref(), meter);
        }
    }

    /// What each process used; call it when the load is over.
    pub fn finish(self) -> Vec<ProcessUsage> {
        let is_chain = self.processes.len() > 1;
        let usage = |process: Process| {
            let cpu = process.cpu_before.zip(process.usage.cpu_with_new_processes());
            let per_second = |bytes: fn(&Traffic) -> u64| {
                let (length, traffic) = process.longest.as_ref()?;
                u64::try_from(u128::from(bytes(traffic)) * 1_000_000_000 / length.as_nanos().max(1)).ok()
            };
            ProcessUsage {
                cpu_ns: cpu.map(|(before, after)| after.since(before)),
                peak_rss_bytes: process.usage.peak_rss_bytes(),
                rss_bytes: process.usage.rss_bytes(),
                received_bytes_per_s: per_second(|traffic| traffic.received),
                sent_bytes_per_s: per_second(|traffic| traffic.sent),
                // The front of a chain opens connections too: only what it accepted is the driver's.
                connections_seen: if is_chain {
                    u32::try_from(process.accepted.len()).ok().filter(|count| *count > 0)
                } else {
                    process.connections.count()
                },
                name: process.name,
            }
        };
        let used: Vec<ProcessUsage> = self.processes.into_iter().map(usage).collect();
        // On systems without these counters the values are null.
        let known = used.iter().any(|one| one.cpu_ns.is_some());
        if known { used } else { Vec::new() }
    }
}

impl Process {
    /// Continues the steady period with one sample, or begins another.
    fn add_sample(&mut self, sockets: HashSet<u64>, found: Option<&HashMap<u64, Connection>>, meter: &Meter) {
        let own = |connection: &Connection| Some(connection.local_port()) == self.port;
        let known = found.into_iter().flatten().filter(|(inode, _)| sockets.contains(inode));
        let accepted = known.filter(|(_, connection)| own(connection)).map(|(inode, _)| *inode);
        self.accepted.extend(accepted);
        if sockets != self.period.sockets {
            self.period = SteadyPeriod {
                sockets,
                ..SteadyPeriod::default()
            };
            return;
        }
        match &self.period.start {
            None => {
                let Some(found) = found else { return };
                let inodes = self.period.sockets.iter();
                let connections: Vec<Connection> = inodes.filter_map(|inode| found.get(inode).cloned()).collect();
                if let Some(traffic) = meter.traffic(&connections) {
                    self.period.start = Some((connections, Instant::now(), traffic));
                }
            }
            Some((connections, since, before)) => {
                let pause = PAUSE_PER_CONNECTION * u32::try_from(connections.len()).unwrap_or(u32::MAX);
                if self.period.read_at.is_some_and(|at| at.elapsed() < pause) {
                    return;
                }
                self.period.read_at = Some(Instant::now());
                let Some(now) = meter.traffic(connections) else { return };
                let length = since.elapsed();
                let transferred = Traffic {
                    received: now.received.saturating_sub(before.received),
                    sent: now.sent.saturating_sub(before.sent),
                };
                // While no bytes are transferred, the load has not begun or is over.
                let loaded = transferred != self.period.transferred;
                self.period.transferred = transferred;
                if loaded && self.longest.as_ref().is_none_or(|(longest, _)| *longest <= length) {
                    self.longest = Some((length, transferred));
                }
            }
        }
    }
}

/// Counts the connections of one process.
#[derive(Debug)]
pub struct ConnectionCounter {
    server: Arc<dyn UsageReader>,
    before: HashSet<u64>,
    during: HashSet<u64>,
}

impl ConnectionCounter {
    /// Starts counting: sockets that are open already (listeners, a pool of its own) do not count.
    pub fn new(server: Arc<dyn UsageReader>) -> Self {
        let before = server.sockets().unwrap_or_default();
        Self {
            server,
            before,
            during: HashSet::new(),
        }
    }

    /// Reads the sockets that are open now, during the load; `None` if they cannot be read.
    pub fn sample(&mut self) -> Option<HashSet<u64>> {
        let sockets = self.server.sockets()?;
        self.during.extend(sockets.difference(&self.before));
        Some(sockets)
    }

    /// Whether a connection was seen already.
    pub fn any(&self) -> bool {
        !self.during.is_empty()
    }

    /// The number of distinct connections seen; `None` if the load fell between two samples, or sockets cannot be read.
    pub fn count(self) -> Option<u32> {
        u32::try_from(self.during.len()).ok().filter(|count| *count > 0)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;

    use super::ConnectionCounter;
    use crate::measure::usage::LocalUsage;
    use crate::measure::usage_reader::UsageReader;

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
        let mut counter = ConnectionCounter::new(Arc::clone(&own));
        let accepted = |count: usize| -> Vec<(TcpStream, TcpStream)> {
            (0..count)
                .map(|_| (TcpStream::connect(address).unwrap(), listener.accept().unwrap().0))
                .collect()
        };
        let first = accepted(3);
        counter.sample();
        drop(first);
        let _second = accepted(2);
        counter.sample();
        // This process holds both ends of each. Other tests of this program may open sockets of their own meanwhile.
        assert!(counter.count().unwrap() >= 10);
    }

    #[test]
    fn without_a_look_nothing_is_claimed() {
        let own = own();
        assert_eq!(ConnectionCounter::new(own).count(), None);
    }
}
