//! Runs a load generator against a target and watches both: CPU, connections, output, time.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{fs, io};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};
use nix::time::{ClockId, clock_gettime};

use crate::measure::error::MeasureError;
use crate::measure::interrupt::Interrupt;
use crate::measure::load_monitor::LoadMonitor;
use crate::measure::process::{Launch, ProcessGroup, describe_exit, leader_usage, tail};
use crate::measure::remote::Host;
use crate::measure::target::Target;
use crate::measure::usage::{CpuUsed, MachineCpu, UsageReader};
use wirebench_declare::span::nanos;
use wirebench_record::run::{CpuTime, Round};

/// The most bytes that a driver may write in one round, over all its files.
pub const MAX_OUTPUT_BYTES: u64 = 512 << 20;
const TICK: Duration = Duration::from_millis(50);
const STOP_GRACE: Duration = Duration::from_secs(1);
/// Reading the server's sockets costs more than reading CPU times: they are read at each of the first ticks, and then at every
/// fourth.
const EARLY_TICKS: u32 = 10;

/// A driver run to make.
#[derive(Debug)]
pub struct Drive<'a> {
    /// Its command.
    pub launch: Launch<'a>,
    /// The driver's name, for messages.
    pub name: &'a str,
    /// The further file that it writes.
    pub raw: PathBuf,
    /// The time after which the driver is stopped because it hangs.
    pub timeout: Duration,
    /// Cores the driver can use.
    pub driver_cores: usize,
    /// Cores the server can use.
    pub server_cores: usize,
    /// Takes the id of the driver's process group once it is started.
    pub group: Option<&'a AtomicI32>,
    /// The host on which it runs; `None` for this machine.
    pub host: Option<&'a Host>,
}

/// What was measured of server and driver during a load.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// The round as far as it is known without the driver's output.
    pub round: Round,
    /// From the driver's exec to its end.
    pub wall: Duration,
    /// The moment of its end on `CLOCK_MONOTONIC`, ns.
    pub ended_ns: u64,
    /// Wall time with a driver running, warm-up included.
    pub loading: Duration,
    /// Why the probe after the load failed; `None` if it did not.
    pub wrong_afterwards: Option<String>,
}

/// The CPU time of both sides at one moment.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Instant,
    server: CpuUsed,
    driver: CpuUsed,
}

impl Drive<'_> {
    /// Runs the driver to its end, against a target or (process starts) without one. `monitor` measures the processes of the
    /// target one by one; there is none during a warm-up.
    ///
    /// # Errors
    /// When it or the target fails, it hangs or floods, or the user interrupts; the driver is stopped in any case.
    pub fn run(
        &self,
        mut target: Option<&mut Target>,
        mut monitor: Option<LoadMonitor>,
        interrupt: &Interrupt,
    ) -> Result<Measured, MeasureError> {
        let server = target.as_deref().map(|target| Arc::clone(&target.usage));
        let sleeps_before = server.as_deref().and_then(UsageReader::sleeps);
        let server_before = server.as_deref().and_then(UsageReader::cpu);
        let (machine_before, began) = (MachineCpu::now(), Instant::now());
        let children_before = children_cpu();
        let mut group = self.start(interrupt).map_err(|error| cannot_start(self.name, &error))?;
        if let (Some(group_id), Some(local)) = (self.group, group.local()) {
            group_id.store(local.id(), Ordering::Relaxed);
        }
        let samples = self.watch(&mut *group, target.as_deref_mut(), monitor.as_mut(), interrupt)?;
        let (wall, ended_ns) = (group.started().elapsed(), monotonic_ns());
        let processes = monitor.map(LoadMonitor::finish).unwrap_or_default();
        let wait_error = |error| {
            format!(
                "{}: ended, but how cannot be learned: {error}; measure again",
                self.name
            )
        };
        let status = group.kill_and_reap().map_err(wait_error)?;
        let driver_cpu = match (group.remote(), self.host) {
            (Some(process), Some(host)) => {
                let files = [&*self.launch.stdout, &*self.launch.stderr, &*self.raw];
                host.download_output(process, files).map_err(wait_error)?;
                process.cpu_time()
            }
            _ => difference(children_before, children_cpu()),
        };
        if let Some(Err(how)) = target.map(Target::still_runs) {
            return Err(how.into());
        }
        self.check_end(status)?;
        let server_after = server.as_deref().and_then(UsageReader::cpu_with_new_processes);
        let sleeps_after = server.as_deref().and_then(UsageReader::sleeps);
        let (machine, over_ns) = (machine_before.zip(MachineCpu::now()), nanos(began.elapsed()));
        let host_steal_ns = machine.and_then(|(before, after)| after.stolen_since(&before));
        // Workers that were forked during the load are in no sample.
        let known = server.as_deref().and_then(UsageReader::cpu);
        let of_new_ns = (server_after.zip(known)).map_or(0, |(all, known)| all.run_ns.saturating_sub(known.run_ns));
        let (server_busy_permille, driver_busy_permille) = self.busy(&samples, of_new_ns).unzip();
        let server_cpu_ns = server_before
            .zip(server_after)
            .map(|(before, after)| after.since(before));
        let others = machine.zip(server_cpu_ns.zip(driver_cpu));
        let others = others.filter(|_| self.host.is_none());
        Ok(Measured {
            round: Round {
                server_cpu_ns,
                others_busy_permille: others.map(|((before, after), (server, driver))| {
                    after.others_since(&before, server.total() + driver.total(), over_ns)
                }),
                server_sleeps: sleeps_before
                    .zip(sleeps_after)
                    .map(|(before, after)| rise(&before, &after)),
                driver_cpu_ns: driver_cpu,
                server_busy_permille,
                driver_busy_permille,
                // None if the front was not watched, or the load was too short.
                connections_seen: processes.first().and_then(|front| front.connections_seen),
                processes,
                host_steal_ns,
                host_steal_over_ns: host_steal_ns.map(|_| over_ns),
                ..Round::default()
            },
            wall,
            ended_ns,
            loading: wall,
            wrong_afterwards: None,
        })
    }

    /// Samples CPU times until the driver has ended.
    ///
    /// # Errors
    /// When the driver has to be stopped first: why.
    fn watch(
        &self,
        group: &mut dyn ProcessGroup,
        mut target: Option<&mut Target>,
        mut monitor: Option<&mut LoadMonitor>,
        interrupt: &Interrupt,
    ) -> Result<Vec<Sample>, MeasureError> {
        let server = target.as_deref().map(|target| Arc::clone(&target.usage));
        let driver = leader_usage(group);
        let end = end_of(group);
        let mut samples: Vec<Sample> = Vec::new();
        let mut ticks = 0u32;
        while !ends_within_a_tick(end.as_ref(), group) {
            if let Some(error) = self.stop_reason(group, target.as_deref_mut(), ticks, interrupt) {
                let _ = group.stop(STOP_GRACE);
                return Err(error);
            }
            if let (Some(server), Some(driver)) = (server.as_deref().and_then(UsageReader::cpu), driver.cpu()) {
                // A driver that has just ended has no threads any more, so that its CPU time seems to fall.
                if samples.last().is_none_or(|last| driver.run_ns >= last.driver.run_ns) {
                    samples.push(Sample {
                        at: Instant::now(),
                        server,
                        driver,
                    });
                }
            }
            if let Some(monitor) = &mut monitor
                && (ticks < EARLY_TICKS || ticks.is_multiple_of(4))
            {
                monitor.sample();
            }
            ticks += 1;
        }
        Ok(samples)
    }

    /// Why the driver must be stopped; `None` if it goes on.
    fn stop_reason(
        &self,
        group: &dyn ProcessGroup,
        target: Option<&mut Target>,
        ticks: u32,
        interrupt: &Interrupt,
    ) -> Option<MeasureError> {
        if interrupt.is_requested() {
            return Some(MeasureError::Interrupted);
        }
        if group.started().elapsed() > self.timeout {
            return Some(MeasureError::TimedOut(format!(
                "{} was still running after {:?} and was stopped; set load.timeout in the scenario if it needs longer",
                self.name, self.timeout
            )));
        }
        if self.output_bytes(group, ticks) > MAX_OUTPUT_BYTES {
            return Some(self.too_much_output());
        }
        target.and_then(|target| target.still_runs().err()).map(Into::into)
    }

    /// Checks the exit status and the size of the output.
    fn check_end(&self, status: ExitStatus) -> Result<(), MeasureError> {
        if !status.success() {
            let outputs = [&self.launch.stderr, &self.launch.stdout].map(|file| tail(file));
            let output = outputs.into_iter().find(|text| !text.is_empty());
            let output = output.map_or_else(String::new, |output| format!(": {output}"));
            return Err(MeasureError::Failed(format!(
                "{} {}{output}",
                self.name,
                describe_exit(status)
            )));
        }
        if self.local_output_bytes() > MAX_OUTPUT_BYTES {
            return Err(self.too_much_output());
        }
        Ok(())
    }

    fn too_much_output(&self) -> MeasureError {
        MeasureError::Failed(format!(
            "{} wrote more than {} MiB and was stopped",
            self.name,
            MAX_OUTPUT_BYTES >> 20
        ))
    }

    /// Starts the driver on its host.
    fn start(&self, interrupt: &Interrupt) -> io::Result<Box<dyn ProcessGroup>> {
        Ok(match self.host {
            None => Box::new(self.launch.start()?),
            Some(host) => Box::new(host.start_load(&self.launch.argv, &self.launch.env, interrupt)?),
        })
    }

    /// Bytes written so far to every file of the driver; on another host 0 except at every 40th tick.
    fn output_bytes(&self, driver: &dyn ProcessGroup, ticks: u32) -> u64 {
        match (driver.remote(), self.host) {
            (Some(process), Some(host)) if ticks.is_multiple_of(40) => host.output_bytes(process),
            (Some(_), _) => 0,
            (None, _) => self.local_output_bytes(),
        }
    }

    fn local_output_bytes(&self) -> u64 {
        let files = [&self.launch.stdout, &self.launch.stderr, &self.raw];
        files
            .into_iter()
            .filter_map(|file| Some(fs::metadata(file).ok()?.len()))
            .sum()
    }

    /// The shares of their cores that server and driver used between the first and the last sample in which the server worked,
    /// ‰. The driver's work before and after the load (parsing, printing) is excluded. `of_new_ns` is the CPU time of server
    /// processes that the samples lack.
    fn busy(&self, samples: &[Sample], of_new_ns: u64) -> Option<(u32, u32)> {
        let working = |pair: &[Sample]| {
            let worked = pair[1].server.run_ns.saturating_sub(pair[0].server.run_ns);
            u128::from(worked) * 100 > (pair[1].at - pair[0].at).as_nanos()
        };
        let first = samples.windows(2).position(working)?;
        let last = samples.windows(2).rposition(working)? + 1;
        let (from, to) = (samples[first], samples[last]);
        let share = |before: CpuUsed, after: CpuUsed, more_ns: u64, cores: usize| {
            let possible = (to.at - from.at).as_nanos() * cores as u128;
            let used = u128::from(after.run_ns.saturating_sub(before.run_ns) + more_ns);
            u32::try_from((used * 1000 / possible.max(1)).min(1000)).unwrap_or(1000)
        };
        Some((
            share(from.server, to.server, of_new_ns, self.server_cores),
            share(from.driver, to.driver, 0, self.driver_cores),
        ))
    }
}

/// Gets a message when a local driver has ended; `None` if it runs on another host.
fn end_of(driver: &dyn ProcessGroup) -> Option<Receiver<()>> {
    let wait = driver.local()?.waiter();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        wait();
        let _ = sender.send(());
    });
    Some(receiver)
}

/// Whether the driver has ended after a tick at most.
fn ends_within_a_tick(end: Option<&Receiver<()>>, driver: &dyn ProcessGroup) -> bool {
    match end {
        Some(end) => end.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout),
        None => {
            std::thread::sleep(TICK);
            driver.has_ended()
        }
    }
}

pub(super) fn cannot_start(driver: &str, error: &io::Error) -> MeasureError {
    MeasureError::Failed(format!("{driver}: cannot be started: {error}"))
}

/// By how much the numbers of those threads rose, in all, that both readings have.
fn rise(before: &HashMap<i32, u64>, after: &HashMap<i32, u64>) -> u64 {
    let of_thread = |(id, after): (&i32, &u64)| Some(after.saturating_sub(*before.get(id)?));
    after.iter().filter_map(of_thread).sum()
}

/// Now on `CLOCK_MONOTONIC`, ns.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from);
    nanos(now.unwrap_or_default())
}

/// CPU time of all child processes reaped so far.
fn children_cpu() -> Option<CpuTime> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let ns = |time: TimeVal| u64::try_from(time.num_nanoseconds()).ok();
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
