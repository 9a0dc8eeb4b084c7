//! One round on a cluster: a check of the response, a warm-up, the load from every pod at the same moment, and a check again.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use futures_util::future::try_join_all;

use wirebench_declare::plan::{PlannedSeries, Slot};
use wirebench_engine::measure::clock::now_ns;
use wirebench_engine::measure::drive::Measured;
use wirebench_engine::measure::slot::{files, timeout};
use wirebench_record::run::{CpuTime, ProcessUsage, Round};

use crate::api::{CommandOutput, compare_clocks};
use crate::deploy::{Target, wait};
use crate::gather::Output;
use crate::load::{self, CONTAINER, Done, ROLE};
use crate::meter::{self, Reading, Readings};
use crate::names::{key, selector};
use crate::overlay::METER;
use crate::probe::Forward;
use crate::run_spec::{OUTPUTS, request};
use crate::session::Session;

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
    pub(crate) async fn measure(&self) -> anyhow::Result<(Measured, Vec<Output>)> {
        let Self { series, target, .. } = *self;
        let servers = target.ready_pods(self.session.cluster).await?;
        let request = request(&self.session.spec.project.root, series)?;
        let forward = Forward::open(self.session.cluster, target, &servers).await?;
        let payload = forward
            .check(&request)
            .map_err(|error| anyhow!("before the load: {error}"))?;
        let pods = wait(self.session.cluster, &self.load_selector(), self.pods() as usize).await?;
        let began = Instant::now();
        self.warm_up(&pods).await?;
        let (used, outputs, wall) = self.drive(&servers, &pods).await?;
        let wrong = forward.check(&request).err();
        let measured = Measured {
            round: Round {
                server_cpu_ns: Some(sum(&used)),
                server_peak_rss_bytes: used.iter().map(|one| one.peak_rss_bytes).sum(),
                payload_bytes: Some(payload),
                processes: used,
                ..Round::default()
            },
            wall,
            loading: began.elapsed(),
            wrong_afterwards: wrong,
        };
        Ok((measured, outputs))
    }

    fn pods(&self) -> u32 {
        self.session.spec.load.pods
    }

    fn load_selector(&self) -> String {
        format!("{},{ROLE}={CONTAINER}", selector(&key(&self.session.recorder.run.id)))
    }

    async fn warm_up(&self, pods: &[String]) -> anyhow::Result<()> {
        let shares = (0..self.pods()).zip(pods).map(|(index, pod)| async move {
            let series = load::shared(self.series, self.pods(), index);
            let Some(script) = load::warm_up(&series, self.slot.series, &self.target.address)? else {
                return Ok(());
            };
            let output = self.run(pod, &script, &series).await?;
            match output.code {
                0 => Ok(()),
                code => Err(anyhow!(
                    "{} ended with {code} while warming up in pod {pod}: {}",
                    series.driver.name,
                    output.stderr
                )),
            }
        });
        try_join_all(shares).await.map(drop)
    }

    /// Runs a command of a driver in a load pod, no longer than its load may take.
    async fn run(&self, pod: &str, script: &str, series: &PlannedSeries<'_>) -> anyhow::Result<CommandOutput> {
        let most = timeout(&series.load);
        let output = tokio::time::timeout(most, self.session.cluster.run(pod, CONTAINER, script)).await;
        output.map_err(|_| anyhow!("{} was still running in pod {pod} after {most:?}", series.driver.name))?
    }

    /// Loads from the load pods, all at the same moment.
    async fn drive(
        &self,
        servers: &[String],
        pods: &[String],
    ) -> anyhow::Result<(Vec<ProcessUsage>, Vec<Output>, Duration)> {
        let clocks = pods
            .iter()
            .map(|pod| compare_clocks(self.session.cluster, pod, CONTAINER));
        let clocks = try_join_all(clocks).await?;
        let before = self.read(servers).await?;
        // A single pod has no other to wait for.
        let delay = if self.pods() > 1 { START_DELAY } else { Duration::ZERO };
        let start = now_ns() + i64::try_from(delay.as_nanos()).unwrap_or(0);
        let started = Instant::now();
        let started_pods = (0..self.pods()).zip(pods).zip(&clocks);
        let loads = started_pods.map(|((index, pod), clock)| async move {
            let series = load::shared(self.series, self.pods(), index);
            let script = load::load(&series, self.slot.series, &self.target.address, clock.to_remote(start))?;
            let output = self.run(pod, &script, &series).await?;
            Done::parse(&output.stdout).ok_or_else(|| anyhow!("pod {pod}: {}{}", output.stdout.trim(), output.stderr))
        });
        let done = try_join_all(loads).await?;
        let wall = started.elapsed();
        let after = self.read(servers).await?;
        let used = meter::usage(&before, &after).map_err(|why| anyhow!(why))?;
        let ended = done.iter().zip(pods).zip(&clocks).enumerate();
        let copies = ended.map(|(index, ((done, pod), clock))| async move {
            let folder = self.folder.join(format!("pod-{index}"));
            self.collect(pod, done, &folder).await?;
            Ok::<_, anyhow::Error>(Output {
                folder,
                clock: *clock,
                began: clock.to_local(done.began),
            })
        });
        Ok((used, try_join_all(copies).await?, wall))
    }

    /// Copies what a driver wrote out of a load pod.
    async fn collect(&self, pod: &str, done: &Done, folder: &Path) -> anyhow::Result<()> {
        if done.code != 0 {
            let script = format!("tail -c 300 {}/{}", OUTPUTS, files::STDERR);
            let words = self.session.cluster.run(pod, CONTAINER, &script).await?.stdout;
            bail!(
                "{} ended with {} in pod {pod}: {}",
                self.series.driver.name,
                done.code,
                words.trim().replace('\n', " ")
            );
        }
        fs::create_dir_all(folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
        for (name, bytes) in [(files::STDOUT, Some(done.stdout_bytes)), (files::RAW, done.raw_bytes)] {
            if let Some(bytes) = bytes {
                let (from, to) = (format!("{OUTPUTS}/{name}"), folder.join(name));
                self.session.cluster.copy((pod, CONTAINER), &from, bytes, &to).await?;
            }
        }
        Ok(())
    }

    /// Reads the CPU time and memory of every server pod.
    async fn read(&self, servers: &[String]) -> anyhow::Result<Readings> {
        let readings = servers.iter().map(|pod| async move {
            let output = self.session.cluster.run(pod, METER, meter::SCRIPT).await?;
            let deployment = self.target.names.deployment(pod);
            Ok::<_, anyhow::Error>((deployment, pod.clone(), Reading::parse(&output.stdout)))
        });
        let mut all = Readings::new();
        for (deployment, pod, reading) in try_join_all(readings).await? {
            all.entry(deployment).or_default().insert(pod, reading);
        }
        Ok(all)
    }
}

fn sum(used: &[ProcessUsage]) -> CpuTime {
    used.iter()
        .filter_map(|one| one.cpu_ns)
        .fold(CpuTime { user: 0, system: 0 }, |sum, one| CpuTime {
            user: sum.user + one.user,
            system: sum.system + one.system,
        })
}
