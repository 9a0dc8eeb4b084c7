//! What each process of a target uses during a load: CPU, memory, connections, bytes on the wire.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::measure::connections::Seen;
use crate::measure::instance::Instance;
use crate::measure::target::Target;
use crate::measure::traffic::{Connection, Meter, Traffic};
use crate::measure::usage::CpuUsed;
use crate::measure::watched::Watched;
use wirebench_record::run::{CpuTime, ProcessUsage};

/// How often a round may search the kernel's whole table of sockets, which takes milliseconds.
const MOST_SEARCHES: u32 = 5;
/// Reading the counters of one connection takes the kernel some 10 µs. A process with many connections is read less
/// often, so that the cost stays near 1 %.
const A_CONNECTION: Duration = Duration::from_millis(1);

/// The processes of a target under one load, the front first.
#[derive(Debug)]
pub struct Processes {
    list: Vec<Process>,
    meter: Option<Meter>,
    searches: u32,
}

#[derive(Debug)]
struct Process {
    name: String,
    watched: Rc<Watched>,
    cpu: Option<CpuUsed>,
    /// Its own port.
    port: Option<u16>,
    seen: Seen,
    /// Connections at its own port, if they were looked up.
    accepted: HashSet<u64>,
    stretch: Stretch,
    longest: Option<(Duration, Traffic)>,
}

/// A period in which a process holds the same sockets.
#[derive(Debug, Default)]
struct Stretch {
    sockets: HashSet<u64>,
    /// Its connections, and their byte counters when they were found.
    measured: Option<(Vec<Connection>, Instant, Traffic)>,
    /// When their counters were last read.
    asked: Option<Instant>,
    /// The bytes since then.
    moved: Traffic,
}

impl Processes {
    /// Starts to measure the use of resources from now on.
    #[must_use]
    pub fn of(target: &Target) -> Self {
        let process = |one: &Instance| Process {
            name: one.name.clone(),
            port: one.address.rsplit(':').next().and_then(|port| port.parse().ok()),
            cpu: one.watched.cpu(),
            seen: Seen::at(Rc::clone(&one.watched)),
            accepted: HashSet::new(),
            watched: Rc::clone(&one.watched),
            stretch: Stretch::default(),
            longest: None,
        };
        Self {
            list: target.instances().map(process).collect(),
            // The kernel's table of connections is that of this machine.
            meter: Meter::open().ok().filter(|_| target.watched.is_here()),
            searches: 0,
        }
    }

    /// Looks while the load runs.
    pub fn look(&mut self) {
        let sockets: Vec<Option<HashSet<u64>>> = self.list.iter_mut().map(|process| process.seen.look()).collect();
        // Before the driver connects there is nothing to search for.
        let begun = self.list.first().is_some_and(|front| front.seen.any());
        let Some(meter) = self.meter.as_ref().filter(|_| begun) else {
            return;
        };
        let steady = |(process, sockets): (&Process, &Option<HashSet<u64>>)| {
            sockets.as_ref() == Some(&process.stretch.sockets) && process.stretch.measured.is_none()
        };
        let wanted = self.list.iter().zip(&sockets).any(steady) && self.searches < MOST_SEARCHES;
        let mut connections = None;
        if wanted {
            self.searches += 1;
            let all = sockets.iter().flatten().flatten().copied().collect();
            connections = meter.connections(&all).ok();
        }
        // Tiers keep their connections after the load; the load lasts as long as the front holds the driver's
        // connections.
        let front = self.list.first();
        let lasts = front.is_none_or(|front| {
            front.longest.is_none() || sockets.first().and_then(Option::as_ref) == Some(&front.stretch.sockets)
        });
        for (place, (process, sockets)) in self.list.iter_mut().zip(sockets).enumerate() {
            if place > 0 && !lasts {
                process.stretch = Stretch::default();
                continue;
            }
            process.follow(sockets.unwrap_or_default(), connections.as_ref(), meter);
        }
    }

    /// What each of them used, now that the load is over.
    #[must_use]
    pub fn finish(self) -> Vec<ProcessUsage> {
        let is_chain = self.list.len() > 1;
        let usage = |process: Process| {
            let cpu = process
                .cpu
                .zip(process.watched.cpu_with_new_processes())
                .map(|(before, after)| {
                    let (user, system) = after.since(before);
                    CpuTime { user, system }
                });
            let peak_rss_bytes = process.watched.peak_rss_bytes();
            let per_second = |bytes: fn(&Traffic) -> u64| {
                let (length, traffic) = process.longest.as_ref()?;
                u64::try_from(u128::from(bytes(traffic)) * 1_000_000_000 / length.as_nanos().max(1)).ok()
            };
            ProcessUsage {
                cpu_ns: cpu,
                peak_rss_bytes,
                rss_bytes: process.watched.rss_bytes(),
                received_bytes_per_s: per_second(|traffic| traffic.received),
                sent_bytes_per_s: per_second(|traffic| traffic.sent),
                // The front of a chain opens connections too: only what it accepted is the driver's.
                connections_seen: if is_chain {
                    u32::try_from(process.accepted.len()).ok().filter(|count| *count > 0)
                } else {
                    process.seen.count()
                },
                name: process.name,
            }
        };
        let used: Vec<ProcessUsage> = self.list.into_iter().map(usage).collect();
        // On systems without these counters the values are null.
        let known = used.iter().any(|one| one.cpu_ns.is_some());
        if known { used } else { Vec::new() }
    }
}

impl Process {
    /// One reading: continues the period, or begins another.
    fn follow(&mut self, sockets: HashSet<u64>, found: Option<&HashMap<u64, Connection>>, meter: &Meter) {
        let own = |connection: &Connection| Some(connection.local_port()) == self.port;
        let known = found.into_iter().flatten().filter(|(inode, _)| sockets.contains(inode));
        let accepted = known.filter(|(_, connection)| own(connection)).map(|(inode, _)| *inode);
        self.accepted.extend(accepted);
        if sockets != self.stretch.sockets {
            self.stretch = Stretch {
                sockets,
                ..Stretch::default()
            };
            return;
        }
        match &self.stretch.measured {
            None => {
                let Some(found) = found else { return };
                let inodes = self.stretch.sockets.iter();
                let connections: Vec<Connection> = inodes.filter_map(|inode| found.get(inode).cloned()).collect();
                if let Some(traffic) = meter.traffic(&connections) {
                    self.stretch.measured = Some((connections, Instant::now(), traffic));
                }
            }
            Some((connections, since, before)) => {
                let pause = A_CONNECTION * u32::try_from(connections.len()).unwrap_or(u32::MAX);
                if self.stretch.asked.is_some_and(|asked| asked.elapsed() < pause) {
                    return;
                }
                self.stretch.asked = Some(Instant::now());
                let Some(now) = meter.traffic(connections) else { return };
                let length = since.elapsed();
                let moved = Traffic {
                    received: now.received.saturating_sub(before.received),
                    sent: now.sent.saturating_sub(before.sent),
                };
                // While nothing moves, the load has not begun or is over.
                let loaded = moved != self.stretch.moved;
                self.stretch.moved = moved;
                if loaded && self.longest.as_ref().is_none_or(|(longest, _)| *longest <= length) {
                    self.longest = Some((length, moved));
                }
            }
        }
    }
}
