//! One round on a cluster: a check of the response, a warm-up, the load from every pod at the same moment, and a check again.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use futures_util::future::try_join_all;

use wirebench_declare::plan::{PlannedSeries, Slot};
use wirebench_engine::measure::clock::now_ns;
use wirebench_engine::measure::drive::DriverStats;
use wirebench_engine::measure::slot::{Measured, files, timeout};
use wirebench_record::run::{CpuTime, ProcessUsage};

use crate::api::CommandOutput;
use crate::api::compare_clocks;
use crate::deploy::{Target, began, ended, name, wait};
use crate::gather::Output;
use crate::load::{self, CONTAINER, Done, ROLE, Spec};
use crate::meter::{self, Reading, Readings};
use crate::names::{key, selector};
use crate::overlay::METER;
use crate::probe::Forward;
use crate::run_spec::OUTPUTS;
use crate::run_spec::request;
use crate::session::{Created, Session};
use crate::testrun::{self, HOLD, K6};

/// How long before its start all pods are told to begin.
const START_DELAY: Duration = Duration::from_secs(1);
/// How long k6-operator may take beyond the load itself.
const OPERATOR_TIMEOUT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(300);

/// A round to be measured.
pub(crate) struct RoundContext<'a> {
    pub(crate) session: &'a Session<'a>,
    pub(crate) created: &'a Created,
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
        let front = servers
            .iter()
            .find(|pod| pod.starts_with(&target.front.0))
            .context("no front pod is ready")?;
        let forward = Forward::open(self.session.cluster, front, target.front.1).await?;
        let payload = forward
            .check(&request)
            .map_err(|error| anyhow!("before the load: {error}"))?;
        let pods = wait(self.session.cluster, &self.load_selector(), self.pods() as usize).await?;
        let began = Instant::now();
        self.warm_up(&pods).await?;
        let (used, outputs, wall) = if is_operated(series) {
            self.test_run(&servers).await?
        } else {
            self.drive(&servers, &pods).await?
        };
        let wrong = forward.check(&request).err();
        let measured = Measured {
            driven: DriverStats {
                wall,
                server_cpu: Some(sum(&used)),
                processes: used.clone(),
                ..DriverStats::default()
            },
            peak_rss_bytes: used.iter().map(|one| one.peak_rss_bytes).sum(),
            payload_bytes: Some(payload),
            loading: began.elapsed(),
            wrong_afterwards: wrong,
            ..Measured::default()
        };
        Ok((measured, outputs))
    }

    fn pods(&self) -> u32 {
        self.session.spec.load.pods
    }

    fn load_selector(&self) -> String {
        format!("{},{ROLE}={CONTAINER}", selector(&key(&self.created.id)))
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
        let clocks = try_join_all(
            pods.iter()
                .map(|pod| compare_clocks(self.session.cluster, pod, CONTAINER)),
        )
        .await?;
        let before = self.read(servers).await?;
        // A single pod has no other to wait for.
        let delay = if self.pods() > 1 { START_DELAY } else { Duration::ZERO };
        let start = now_ns() + i64::try_from(delay.as_nanos()).unwrap_or(0);
        let started = Instant::now();
        let loads = (0..self.pods())
            .zip(pods)
            .zip(&clocks)
            .map(|((index, pod), clock)| async move {
                let series = load::shared(self.series, self.pods(), index);
                let script = load::load(&series, self.slot.series, &self.target.address, clock.to_remote(start))?;
                let output = self.run(pod, &script, &series).await?;
                Done::parse(&output.stdout)
                    .ok_or_else(|| anyhow!("pod {pod}: {}{}", output.stdout.trim(), output.stderr))
            });
        let done = try_join_all(loads).await?;
        let wall = started.elapsed();
        let after = self.read(servers).await?;
        let used = meter::usage(&before, &after).map_err(|why| anyhow!(why))?;
        let copies = done
            .iter()
            .zip(pods)
            .zip(&clocks)
            .enumerate()
            .map(|(index, ((done, pod), clock))| async move {
                let folder = self.folder.join(format!("pod-{index}"));
                self.collect(self.series, pod, done, &folder).await?;
                Ok::<_, anyhow::Error>(Output {
                    folder,
                    clock: *clock,
                    began: Some(clock.to_local(done.began)),
                })
            });
        Ok((used, try_join_all(copies).await?, wall))
    }

    /// Copies what a driver wrote out of a load pod.
    async fn collect(&self, series: &PlannedSeries<'_>, pod: &str, done: &Done, folder: &Path) -> anyhow::Result<()> {
        if done.code != 0 {
            let script = format!("tail -c 300 {}/{}", OUTPUTS, files::STDERR);
            let words = self.session.cluster.run(pod, CONTAINER, &script).await?.stdout;
            bail!(
                "{} ended with {} in pod {pod}: {}",
                series.driver.name,
                done.code,
                words.trim().replace('\n', " ")
            );
        }
        fs::create_dir_all(folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
        let from = (pod, CONTAINER);
        let file = |name: &str| format!("{OUTPUTS}/{name}");
        self.session
            .cluster
            .copy(
                from,
                &file(files::STDOUT),
                done.stdout_bytes,
                &folder.join(files::STDOUT),
            )
            .await?;
        if let Some(bytes) = done.raw_bytes {
            self.session
                .cluster
                .copy(from, &file(files::RAW), bytes, &folder.join(files::RAW))
                .await?;
        }
        Ok(())
    }

    /// Reads the CPU time and memory of every server pod.
    async fn read(&self, servers: &[String]) -> anyhow::Result<Readings> {
        let reading = |pod: &String| {
            let pod = pod.clone();
            async move {
                let output = self.session.cluster.run(&pod, METER, meter::SCRIPT).await?;
                Ok::<_, anyhow::Error>((
                    self.target.names.deployment(&pod),
                    pod.clone(),
                    Reading::parse(&output.stdout),
                ))
            }
        };
        let mut all = Readings::new();
        for (deployment, pod, reading) in try_join_all(servers.iter().map(reading)).await? {
            all.entry(deployment).or_default().insert(pod, reading);
        }
        Ok(all)
    }

    /// Loads by a TestRun of k6-operator, which is deleted afterwards.
    async fn test_run(&self, servers: &[String]) -> anyhow::Result<(Vec<ProcessUsage>, Vec<Output>, Duration)> {
        let name = format!("wb-{}-{:04}", key(&self.created.id), self.slot.position);
        let created = self.created;
        let spec = Spec {
            name: &name,
            run: &created.id,
            image: &self.session.spec.load.image,
            pods: self.pods(),
            owner: self.session.owner,
            inputs: &created.volume,
        };
        let script = created
            .script
            .as_deref()
            .context("k6's script is not among the inputs")?;
        let values = load::values_of(self.series, self.slot.series, &self.target.address);
        let object = testrun::object(&spec, (&created.name, script), self.series, &values)?;
        self.session.cluster.create(&object).await?;
        let result = self.operated(servers, &name).await;
        self.session.cluster.delete(&object).await?;
        result
    }

    async fn operated(
        &self,
        servers: &[String],
        test: &str,
    ) -> anyhow::Result<(Vec<ProcessUsage>, Vec<Output>, Duration)> {
        let until = Instant::now() + timeout(&self.series.load) + OPERATOR_TIMEOUT;
        let runners = self.runners(test, until, began).await?;
        let before = self.read(servers).await?;
        let started = Instant::now();
        let is_over = |pod: &_, container: &_| ended(pod, container).is_some();
        self.runners(test, until, is_over).await?;
        let wall = started.elapsed();
        let after = self.read(servers).await?;
        let used = meter::usage(&before, &after).map_err(|why| anyhow!(why))?;
        let copies = runners.iter().enumerate().map(|(index, pod)| async move {
            let folder = self.folder.join(format!("pod-{index}"));
            fs::create_dir_all(&folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
            let clock = compare_clocks(self.session.cluster, pod, HOLD).await?;
            let output = self.session.cluster.run(pod, HOLD, &testrun::size()).await?;
            let bytes = output
                .stdout
                .trim()
                .parse()
                .map_err(|_| anyhow!("pod {pod}: k6 left no output: {}", output.stderr))?;
            let file = format!("{}/{}", OUTPUTS, files::RAW);
            self.session
                .cluster
                .copy((pod, HOLD), &file, bytes, &folder.join(files::RAW))
                .await?;
            self.session
                .cluster
                .run(pod, HOLD, &format!("touch {}", testrun::TAKEN))
                .await?;
            Ok::<_, anyhow::Error>(Output {
                folder,
                clock,
                began: None,
            })
        });
        Ok((used, try_join_all(copies).await?, wall))
    }

    /// Waits until k6 is in this state in every runner pod of a TestRun. The operator says "finished" even when a runner failed,
    /// so that the pods themselves are looked at.
    async fn runners(
        &self,
        test: &str,
        until: Instant,
        is: impl Fn(&k8s_openapi::api::core::v1::Pod, &str) -> bool,
    ) -> anyhow::Result<Vec<String>> {
        loop {
            let pods = self.session.cluster.pods(&format!("k6_cr={test}")).await?;
            for pod in &pods {
                if let Some(fault) = crate::deploy::fault(pod) {
                    let words = self.session.cluster.log_tail(&name(pod), K6).await;
                    if fault.is_hopeless || ended(pod, K6).is_some() {
                        bail!("pod {} of TestRun {test}: {}: {words}", name(pod), fault.what);
                    }
                }
                if let Some((code, reason)) = ended(pod, K6).filter(|(code, _)| *code != 0) {
                    let words = self.session.cluster.log_tail(&name(pod), K6).await;
                    let why = if code == 99 {
                        "a threshold failed".to_owned()
                    } else {
                        reason
                    };
                    bail!("k6 ended with {code} ({why}) in pod {}: {words}", name(pod));
                }
            }
            let runners = self.session.cluster.pods(&testrun::selector(test)).await?;
            if runners.len() == self.pods() as usize && runners.iter().all(|pod| is(pod, K6)) {
                return Ok(runners.iter().map(name).collect());
            }
            if Instant::now() > until {
                bail!(
                    "TestRun {test}: {} of {} runner pods came so far; `kubectl describe testrun` says more while one runs",
                    runners.len(),
                    self.pods()
                );
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

/// True if k6-operator loads for this series.
pub(crate) fn is_operated(series: &PlannedSeries) -> bool {
    series.driver.tool.program == testrun::PROGRAM
}

fn sum(used: &[ProcessUsage]) -> CpuTime {
    used.iter()
        .filter_map(|one| one.cpu_ns)
        .fold(CpuTime { user: 0, system: 0 }, |sum, one| CpuTime {
            user: sum.user + one.user,
            system: sum.system + one.system,
        })
}
