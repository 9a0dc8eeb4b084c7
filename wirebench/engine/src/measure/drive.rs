//! Runs a load generator against a target and watches both: CPU, connections, output, time.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{fs, io};

use nix::sys::resource::{UsageWho, getrusage};

use crate::measure::interrupt::Interrupt;
use crate::measure::process::{Launch, in_words, tail};
use crate::measure::processes::Processes;
use crate::measure::remote::Host;
use crate::measure::remote::process::Process;
use crate::measure::running::Running;
use crate::measure::target::Target;
use crate::measure::usage::{CpuUsed, steal_ns};
use crate::measure::watched::Watched;
use wirebench_record::run::{CpuTime, ProcessUsage};

/// The most a driver may write in one round, over all its files.
pub const MOST_OUTPUT_BYTES: u64 = 512 << 20;
const TICK: Duration = Duration::from_millis(50);
const STOP_GRACE: Duration = Duration::from_secs(1);
/// Reading the server's sockets costs more than reading CPU times: after the first few ticks, only every fourth tick
/// does so.
const EARLY_LOOKS: u32 = 10;

/// A driver run to make.
#[derive(Debug)]
pub struct Drive<'a> {
    /// Its command.
    pub launch: Launch<'a>,
    /// The driver's name, for messages.
    pub name: &'a str,
    /// Further files it writes.
    pub raw: PathBuf,
    /// The time after which the driver is stopped because it hangs.
    pub timeout: Duration,
    /// Cores the driver can use.
    pub driver_cores: usize,
    /// Cores the server can use.
    pub server_cores: usize,
    /// Takes the driver's process group once it is started.
    pub group: Option<&'a AtomicI32>,
    /// The host on which it runs; `None` for this machine.
    pub host: Option<&'a Host>,
}

/// What was seen of a driver run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Driven {
    /// From exec to end.
    pub wall: Duration,
    /// The server's CPU time.
    pub server_cpu: Option<CpuTime>,
    /// The driver's CPU time.
    pub driver_cpu: Option<CpuTime>,
    /// Share of its cores the server used while it was loaded, ‰.
    pub server_busy_permille: Option<u32>,
    /// Share of its cores the driver used meanwhile, ‰.
    pub driver_busy_permille: Option<u32>,
    /// What each of its processes used, the front first.
    pub processes: Vec<ProcessUsage>,
    /// CPU time the hypervisor gave to others meanwhile, ns.
    pub steal_ns: Option<u64>,
}

impl Driven {
    /// Connections that the front held; `None` if it was not watched, or the load was too short.
    #[must_use]
    pub fn connections_seen(&self) -> Option<u32> {
        self.processes.first()?.connections_seen
    }
}

/// Why a driver run gave nothing to normalise.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// It cannot be started.
    #[error("{driver}: cannot be started: {source}")]
    Start {
        /// The driver.
        driver: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The operating system does not report how it ended.
    #[error("{driver}: ended, but how cannot be learned: {source}; measure again")]
    Wait {
        /// The driver.
        driver: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// Its exit code reports a failure.
    #[error("{driver} {how}{}", if output.is_empty() { String::new() } else { format!(": {output}") })]
    Failed {
        /// The driver.
        driver: String,
        /// Its exit status, as text.
        how: String,
        /// Its last words.
        output: String,
    },
    /// It hung.
    #[error(
        "{driver} was still running after {after:?} and was stopped; set load.timeout in the scenario if it needs longer"
    )]
    TimedOut {
        /// The driver.
        driver: String,
        /// The time limit.
        after: Duration,
    },
    /// It wrote too much output.
    #[error("{driver} wrote more than {} MiB and was stopped", MOST_OUTPUT_BYTES >> 20)]
    TooMuchOutput {
        /// The driver.
        driver: String,
    },
    /// A process of the server ended under it.
    #[error("{how}")]
    ServerDied {
        /// Which, how it ended under load, and its last words.
        how: String,
    },
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
}

/// One reading of both sides.
#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    server: CpuUsed,
    driver: CpuUsed,
}

impl Drive<'_> {
    /// Runs the driver to its end, against a target or (process starts) without one. `processes` are measured one by
    /// one during the load; not during a warm-up.
    ///
    /// # Errors
    /// When it or the target fails, it hangs or floods, or the user interrupts; the driver is stopped in any case.
    pub fn run(
        &self,
        mut target: Option<&mut Target>,
        mut processes: Option<Processes>,
        interrupt: &Interrupt,
    ) -> Result<Driven, DriveError> {
        let driver = || self.name.to_owned();
        let server = target.as_deref().map(|target| Rc::clone(&target.watched));
        let server_before = server.as_deref().and_then(Watched::cpu);
        let steal_before = steal_ns();
        let children_before = children_cpu();
        let mut group = self.start(interrupt).map_err(|source| DriveError::Start {
            driver: driver(),
            source,
        })?;
        if let (Some(known), Some(here)) = (self.group, group.here()) {
            known.store(here.id(), Ordering::Relaxed);
        }
        let watched = group.watch_leader();
        let end = End::of(&group);

        let mut looks: Vec<Look> = Vec::new();
        let mut ticks = 0u32;
        while !end.came_within_a_tick(&group) {
            let stopped = self.why_it_stops(&group, target.as_deref_mut(), ticks, interrupt);
            if let Some(error) = stopped {
                let _ = group.stop(STOP_GRACE);
                return Err(error);
            }
            if let (Some(server), Some(driver)) = (server.as_deref().and_then(Watched::cpu), watched.cpu()) {
                // A driver that has just ended has no threads any more, so that its CPU time seems to fall.
                if looks.last().is_none_or(|last| driver.run_ns >= last.driver.run_ns) {
                    looks.push(Look {
                        at: Instant::now(),
                        server,
                        driver,
                    });
                }
            }
            if let Some(processes) = processes
                .as_mut()
                .filter(|_| ticks < EARLY_LOOKS || ticks.is_multiple_of(4))
            {
                processes.look();
            }
            ticks += 1;
        }
        let wall = group.started().elapsed();
        let processes = processes.map(Processes::finish).unwrap_or_default();
        let waited = |source| DriveError::Wait {
            driver: driver(),
            source,
        };
        let status = group.kill_and_reap().map_err(waited)?;
        let driver_cpu = match &group {
            Running::Here(_) => difference(children_before, children_cpu()),
            Running::There(process) => {
                self.bring(process).map_err(waited)?;
                process.used()
            }
        };
        if let Some(Err(how)) = target.map(Target::still_runs) {
            return Err(DriveError::ServerDied { how });
        }
        if !status.success() {
            let mut output = tail(&self.launch.stderr);
            if output.is_empty() {
                output = tail(&self.launch.stdout);
            }
            return Err(DriveError::Failed {
                driver: driver(),
                how: in_words(status),
                output,
            });
        }
        if self.written_here() > MOST_OUTPUT_BYTES {
            return Err(DriveError::TooMuchOutput { driver: driver() });
        }
        let server_after = server.as_deref().and_then(Watched::cpu_with_new_processes);
        let steal_ns = steal_before
            .zip(steal_ns())
            .map(|(before, after)| after.saturating_sub(before));
        let server_cpu = server_before.zip(server_after).map(|(before, after)| {
            let (user, system) = after.since(before);
            CpuTime { user, system }
        });
        let (server_busy_permille, driver_busy_permille) = self.busy(&looks).unzip();
        Ok(Driven {
            wall,
            server_cpu,
            driver_cpu,
            server_busy_permille,
            driver_busy_permille,
            processes,
            steal_ns,
        })
    }

    /// Why the driver must be stopped; `None` if it goes on.
    fn why_it_stops(
        &self,
        group: &Running,
        target: Option<&mut Target>,
        ticks: u32,
        interrupt: &Interrupt,
    ) -> Option<DriveError> {
        let driver = || self.name.to_owned();
        if interrupt.asked() {
            Some(DriveError::Interrupted)
        } else if group.started().elapsed() > self.timeout {
            Some(DriveError::TimedOut {
                driver: driver(),
                after: self.timeout,
            })
        } else if self.written(group, ticks) > MOST_OUTPUT_BYTES {
            Some(DriveError::TooMuchOutput { driver: driver() })
        } else {
            let how = target.and_then(|target| target.still_runs().err());
            how.map(|how| DriveError::ServerDied { how })
        }
    }

    /// Starts the driver where it is to run.
    fn start(&self, interrupt: &Interrupt) -> io::Result<Running> {
        match self.host {
            None => self.launch.start().map(Running::Here),
            Some(host) => {
                let process = host.load(self.launch.argv, self.launch.env, interrupt)?;
                Ok(Running::There(process))
            }
        }
    }

    /// Brings what a driver wrote on another host to the files that one of this machine writes.
    fn bring(&self, process: &Process) -> io::Result<()> {
        let files = [&*self.launch.stdout, &*self.launch.stderr, &*self.raw];
        self.host.map_or(Ok(()), |host| host.bring(process, files))
    }

    /// Bytes written so far to every file of the driver; on another host as seen every few seconds.
    fn written(&self, driver: &Running, ticks: u32) -> u64 {
        match (driver, self.host) {
            (Running::There(process), Some(host)) if ticks.is_multiple_of(40) => host.written(process),
            (Running::There(_), _) => 0,
            (Running::Here(_), _) => self.written_here(),
        }
    }

    fn written_here(&self) -> u64 {
        let files = [&self.launch.stdout, &self.launch.stderr, &self.raw];
        files
            .into_iter()
            .filter_map(|file| Some(fs::metadata(file).ok()?.len()))
            .sum()
    }

    /// Shares of their cores that server and driver used between the first and the last reading in which the server
    /// worked. The driver's work before and after the load (parsing, printing) is excluded.
    fn busy(&self, looks: &[Look]) -> Option<(u32, u32)> {
        let working = |pair: &[Look]| {
            let worked = pair[1].server.run_ns.saturating_sub(pair[0].server.run_ns);
            u128::from(worked) * 100 > (pair[1].at - pair[0].at).as_nanos()
        };
        let first = looks.windows(2).position(working)?;
        let last = looks.windows(2).rposition(working)? + 1;
        let (from, to) = (looks[first], looks[last]);
        let share = |before: CpuUsed, after: CpuUsed, cores: usize| {
            let possible = (to.at - from.at).as_nanos() * cores as u128;
            let used = u128::from(after.run_ns.saturating_sub(before.run_ns));
            u32::try_from((used * 1000 / possible.max(1)).min(1000)).unwrap_or(1000)
        };
        Some((
            share(from.server, to.server, self.server_cores),
            share(from.driver, to.driver, self.driver_cores),
        ))
    }
}

/// How the end of a driver is noticed.
enum End {
    /// On this machine: at once, by a thread that waits for it.
    Here(Receiver<()>),
    /// On another host: by looking.
    There,
}

impl End {
    fn of(driver: &Running) -> Self {
        let Some(group) = driver.here() else {
            return Self::There;
        };
        let (ended, end) = mpsc::channel();
        let wait = group.waiter();
        std::thread::spawn(move || {
            wait();
            let _ = ended.send(());
        });
        Self::Here(end)
    }

    /// Waits for it, a tick at most.
    fn came_within_a_tick(&self, driver: &Running) -> bool {
        match self {
            Self::Here(end) => end.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout),
            Self::There => {
                std::thread::sleep(TICK);
                driver.has_ended()
            }
        }
    }
}

/// CPU time of all children reaped so far.
fn children_cpu() -> Option<CpuTime> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let ns = |time: nix::sys::time::TimeVal| {
        u64::try_from(time.tv_sec())
            .ok()?
            .checked_mul(1_000_000_000)?
            .checked_add(u64::try_from(time.tv_usec()).ok()? * 1000)
    };
    Some(CpuTime {
        user: ns(usage.user_time())?,
        system: ns(usage.system_time())?,
    })
}

fn difference(before: Option<CpuTime>, after: Option<CpuTime>) -> Option<CpuTime> {
    let (before, after) = before.zip(after)?;
    Some(CpuTime {
        user: after.user.saturating_sub(before.user),
        system: after.system.saturating_sub(before.system),
    })
}
