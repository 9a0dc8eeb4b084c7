//! One round on a cluster: a check of the response, a warm-up, the load from every pod at the same moment, and a check again.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};

use wirebench_declare::plan::{PlannedSeries, Slot};
use wirebench_engine::measure::clock::{Clock, now_ns};
use wirebench_engine::measure::drive::Measured;
use wirebench_engine::measure::slot::{files, timeout};
use wirebench_record::run::{ProcessUsage, Round};

use crate::deploy::{Target, wait};
use crate::gather::Output;
use crate::kubectl::{Cluster, CommandOutput, at_once};
use crate::load::{self, CONTAINER, Done, ROLE};
use crate::meter::{self, Reading, Readings};
use crate::names::{key, selector};
use crate::overlay::METER;
use crate::run_spec::{OUTPUTS, request};
use crate::session::Session;

/// How long a command in a pod may take that only reads.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// How long before its start all pods are told to begin.
const START_DELAY: Duration = Duration::from_secs(1);

/// A round to be measured.
pub(crate) struct RoundContext<'a> {
    pub(crate) session: &'a Session<'a>,
    pub(crate) slot: Slot,
    pub(crate) series: &'a PlannedSeries<'a>,
    pub(crate) target: &'a Target,
    /// Takes the pods' outputs.
    pub(crate) folder: &'a Path,
}

impl RoundContext<'_> {
    /// Measures one round.
    ///
    /// # Errors
    /// When servers, load pods or drivers fail; the message says which.
    pub(crate) fn measure(&self) -> anyhow::Result<(Measured, Vec<Output>)> {
        let Self { series, target, .. } = *self;
        let servers = target.ready_pods(self.session.cluster)?;
        let request = request(&self.session.spec.project.root, series)?;
        let forward = target.forward(self.session.cluster, &servers)?;
        let payload = forward
            .check(&request)
            .map_err(|error| anyhow!("before the load: {error:#}"))?;
        let selector = format!("{},{ROLE}={CONTAINER}", selector(&key(&self.session.recorder.run.id)));
        let pods = wait(self.session.cluster, &selector, self.session.spec.load.pods as usize)?;
        let began = Instant::now();
        self.warm_up(&pods)?;
        let (used, outputs, wall) = self.drive(&servers, &pods)?;
        let wrong = forward.check(&request).err().map(|error| format!("{error:#}"));
        let measured = Measured {
            round: Round {
                server_cpu_ns: Some(meter::sum(used.iter().filter_map(|one| one.cpu_ns))),
                server_peak_rss_bytes: used.iter().map(|one| one.peak_rss_bytes).sum(),
                payload_bytes: Some(payload),
                processes: used,
                ..Round::default()
            },
            wall,
            loading: began.elapsed(),
            wrong_afterwards: wrong,
            ..Measured::default()
        };
        Ok((measured, outputs))
    }

    fn warm_up(&self, pods: &[String]) -> anyhow::Result<()> {
        let (cluster, series) = (self.session.cluster, self.series);
        let (number, address) = (self.slot.series, &self.target.address);
        let count = self.session.spec.load.pods;
        at_once(pods, |index, pod| {
            let series = series.with_load(load::share_of(&series.load, count, index));
            let Some(script) = load::warm_up(&series, number, address)? else {
                return Ok(());
            };
            let output = run(cluster, pod, &script, &series)?;
            match output.code {
                0 => Ok(()),
                code => Err(anyhow!(
                    "{} ended with {code} while warming up in pod {pod}: {}",
                    series.driver.name,
                    output.stderr
                )),
            }
        })
        .map(drop)
    }

    /// Loads from the load pods, all at the same moment.
    fn drive(&self, servers: &[String], pods: &[String]) -> anyhow::Result<(Vec<ProcessUsage>, Vec<Output>, Duration)> {
        let (cluster, series) = (self.session.cluster, self.series);
        let (number, address) = (self.slot.series, &self.target.address);
        let count = self.session.spec.load.pods;
        let clocks = at_once(pods, |_, pod| cluster.compare_clock((pod, CONTAINER)))?;
        let before = self.read(servers)?;
        // A single pod has no other to wait for.
        let delay = if count > 1 { START_DELAY } else { Duration::ZERO };
        let start = now_ns() + i64::try_from(delay.as_nanos()).unwrap_or(0);
        let started = Instant::now();
        let timed: Vec<(&String, Clock)> = pods.iter().zip(clocks).collect();
        let done = at_once(&timed, |index, (pod, clock)| {
            let series = series.with_load(load::share_of(&series.load, count, index));
            let script = load::load(&series, number, address, start + clock.offset_ns)?;
            let output = run(cluster, pod, &script, &series)?;
            Done::parse(&output.stdout)
                .ok_or_else(|| anyhow!("load pod {pod}: {}{}", output.stdout.trim(), output.stderr))
        })?;
        let wall = started.elapsed();
        let after = self.read(servers)?;
        let used = meter::usage(&before, &after).map_err(|why| anyhow!(why))?;
        let ended: Vec<((&String, Clock), Done)> = timed.into_iter().zip(done).collect();
        let (folder, driver) = (self.folder, &series.driver.name);
        let outputs = at_once(&ended, |index, ((pod, clock), done)| {
            let folder = folder.join(format!("pod-{index}"));
            collect(cluster, driver, pod, done, &folder)?;
            Ok(Output {
                folder,
                clock: *clock,
                began: done.began - clock.offset_ns,
            })
        })?;
        Ok((used, outputs, wall))
    }

    /// Reads the CPU time and memory of every server pod.
    fn read(&self, servers: &[String]) -> anyhow::Result<Readings> {
        let cluster = self.session.cluster;
        let readings = at_once(servers, |_, pod| {
            let output = cluster.run((pod, METER), meter::SCRIPT, READ_TIMEOUT)?;
            Ok(Reading::parse(&output.stdout))
        })?;
        let mut all = Readings::new();
        for (pod, reading) in servers.iter().zip(readings) {
            let deployment = self.target.names.deployment(pod);
            all.entry(deployment).or_default().insert(pod.clone(), reading);
        }
        Ok(all)
    }
}

/// Runs a command of a driver in a load pod, no longer than its load may take.
fn run(cluster: &Cluster, pod: &str, script: &str, series: &PlannedSeries<'_>) -> anyhow::Result<CommandOutput> {
    let output = cluster.run((pod, CONTAINER), script, timeout(&series.load));
    output.with_context(|| format!("{} in pod {pod}", series.driver.name))
}

/// Copies what a driver wrote out of a load pod.
fn collect(cluster: &Cluster, driver: &str, pod: &str, done: &Done, folder: &Path) -> anyhow::Result<()> {
    if done.code != 0 {
        let script = format!("tail -c 300 {}/{}", OUTPUTS, files::STDERR);
        let words = cluster.run((pod, CONTAINER), &script, READ_TIMEOUT)?.stdout;
        bail!(
            "{driver} ended with {} in pod {pod}: {}",
            done.code,
            words.trim().replace('\n', " ")
        );
    }
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    for (name, bytes) in [(files::STDOUT, Some(done.stdout_bytes)), (files::RAW, done.raw_bytes)] {
        if let Some(bytes) = bytes {
            let (from, to) = (format!("{OUTPUTS}/{name}"), folder.join(name));
            cluster.copy((pod, CONTAINER), &from, bytes, &to)?;
        }
    }
    Ok(())
}
