//! A run on a cluster in progress: creates its objects, loads the servers in turn, and records the rounds.
//!
//! The rounds of a run on a cluster, in the order and within the time limits of a run on one machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use serde_json::Value;

use crate::deploy::Target;
use crate::kubectl::Cluster;
use crate::names::{Names, key};
use crate::overlay::{Adaptation, METER};
use crate::owner::Owner;
use crate::run_spec::{RunSpec, Side, inputs, objects, wait_until_ready};
use crate::slot::{READ_TIMEOUT, RoundContext};
use crate::{gather, load};
use wirebench_declare::plan::Slot;
use wirebench_declare::span::nanos;
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::measure::{digest, host};
use wirebench_engine::normalise::{self, Jq, failed_round};
use wirebench_engine::session::prepare::{self, tool_version};
use wirebench_engine::session::{
    Ending, Member, Recorded, Recorder, StagedRun, measure_stages, new_folder, screen_stage, started_run, unmeasured,
};
use wirebench_record::check::FailedCheck;
use wirebench_record::run::{Host, Round, RoundStatus, Run, Series, Stage, ToolVersion, Variant, VariantRevision};

/// A run in progress.
pub(crate) struct Session<'a> {
    pub(crate) spec: &'a RunSpec<'a>,
    pub(crate) cluster: &'a Cluster,
    pub(crate) jq: &'a Jq,
    pub(crate) owner: &'a Value,
    pub(crate) recorder: Recorder,
    /// The servers by declared server and variant, or why they cannot be loaded.
    pub(crate) targets: BTreeMap<(String, Variant), Result<Target, String>>,
    pub(crate) version: String,
    pub(crate) began: Instant,
    /// Every slot planned so far.
    pub(crate) slots: Vec<Slot>,
}

impl Session<'_> {
    /// Creates the inputs, load pods and servers, and waits until they are ready. Servers that do not get ready are in `targets`.
    fn create(&mut self) -> anyhow::Result<()> {
        let id = self.recorder.run.id.clone();
        let key = key(&id);
        let (map, volume) = objects(&inputs(self.spec)?, &format!("wb-{key}-inputs"), &key, self.owner)?;
        self.cluster.create(&map)?;
        let pods = load::job(&self.spec.load, &key, self.owner, &volume);
        self.cluster.create(&pods)?;
        self.deploy(&id);
        self.describe();
        Ok(())
    }

    /// Applies every overlay for every variant, and waits for all of them.
    fn deploy(&mut self, id: &str) {
        let spec = self.spec;
        let starting = Instant::now();
        for overlay in &spec.overlays {
            for side in &spec.sides {
                let names = Names::new(id, &overlay.name, side.variant);
                let adapt = Adaptation {
                    names: &names,
                    owner: self.owner,
                    image: side.image.as_deref(),
                    replicas: spec.replicas,
                    meter_image: &spec.load.image,
                };
                log::info!("applying overlay {} for the {}", overlay.name, side.variant.name());
                let target = Target::apply(self.cluster, overlay, &adapt).map_err(|error| format!("{error:#}"));
                self.targets.insert((overlay.server.clone(), side.variant), target);
            }
        }
        for ((server, variant), target) in &mut self.targets {
            let Ok(applied) = target else {
                continue;
            };
            let series = spec.series.iter().find(|one| one.server.name == *server);
            if let Err(error) = wait_until_ready(self.cluster, &spec.project.root, applied, series) {
                log::error!("{server}, {}: {error:#}", variant.name());
                *target = Err(format!("{error:#}"));
            }
        }
        self.recorder.run.spent.start_ns = nanos(starting.elapsed());
    }

    /// Describes the machine of the first server that is ready, and the images that run.
    fn describe(&mut self) {
        for target in self.targets.values().flatten() {
            if let Ok(pods) = target.ready_pods(self.cluster)
                && let Some(pod) = pods.first()
                && let Ok(output) = self.cluster.run((pod, METER), HOST_SCRIPT, READ_TIMEOUT)
            {
                self.recorder.run.host = described_host(&output.stdout, &self.version);
                break;
            }
        }
        let image = self.spec.load.image.clone();
        self.recorder.run.tools.push(tool_version("load image", &image));
    }

    fn report(&self, slot: Slot, round: &Round) {
        let id = &self.spec.series[slot.series].id;
        let variant = if self.is_paired() {
            format!(" {}", slot.variant.name())
        } else {
            String::new()
        };
        let reason = round.reason.as_deref().unwrap_or_default();
        match round.status {
            RoundStatus::Ok => log::info!(
                "round {}: {id}{variant}: {} good",
                slot.round + 1,
                round.ok_count.unwrap_or(0)
            ),
            RoundStatus::Invalid => log::warn!("invalid: {id}{variant}: {reason}"),
            RoundStatus::Failed => log::error!("failed: {id}{variant}: {reason}"),
        }
    }

    /// One round, and how long load ran.
    ///
    /// # Errors
    /// When it cannot be measured; the message is the reason in the record.
    fn round(&self, slot: Slot) -> anyhow::Result<(Round, Duration)> {
        let series = &self.spec.series[slot.series];
        let name = format!("raw/{:04}-{}", slot.position, series.id);
        let folder = self.recorder.folder.join(name);
        let target = match self.targets.get(&(series.server.name.clone(), slot.variant)) {
            Some(Ok(target)) => target,
            Some(Err(reason)) => bail!("{reason}"),
            None => bail!("no overlay runs server {}", series.server.name),
        };
        let context = RoundContext {
            session: self,
            slot,
            series,
            target,
            folder: &folder,
        };
        let (measured, outputs) = context.measure()?;
        let gathered = gather::gather(self.jq, series, &outputs).map_err(|why| anyhow!(why))?;
        let mut round = normalise::checked(series, slot, &measured, gathered.whole);
        round.load_pods = gathered.pods;
        let found = gathered.fault.into_iter();
        round.refuse(found.map(|found| FailedCheck::LoadPods { found }).collect());
        if round.status == RoundStatus::Ok && !self.spec.keep_raw {
            let _ = fs::remove_dir_all(&folder);
        }
        Ok((round, measured.loading))
    }
}

impl StagedRun for Session<'_> {
    fn run(&mut self) -> &mut Run {
        &mut self.recorder.run
    }

    fn slots(&mut self) -> &mut Vec<Slot> {
        &mut self.slots
    }

    fn is_paired(&self) -> bool {
        self.spec.sides.len() > 1
    }

    fn begin(&mut self, stage: &Stage) -> Vec<Member> {
        let variants: Vec<Variant> = self.spec.sides.iter().map(|side| side.variant).collect();
        let series = self.spec.series.iter().enumerate();
        let members = series.filter(|(_, series)| stage.series.contains(&series.id));
        members.map(|(index, _)| (index, variants.clone())).collect()
    }

    /// The deadline is checked between pairs only.
    fn pass(&mut self, slots: &[Slot], deadline: Option<Instant>) -> anyhow::Result<Ending> {
        let mut before = None;
        for slot in slots {
            let is_new_pair = before != Some(slot.series);
            if is_new_pair && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(Ending::OutOfTime);
            }
            before = Some(slot.series);
            if self.recorder.given_up(slot.series, slot.variant) {
                continue;
            }
            let started = Instant::now();
            let measured = self.round(*slot);
            if self.cluster.interrupt.is_requested() {
                return Ok(Ending::Interrupted);
            }
            let failed = |error| (failed_round(*slot, format!("{error:#}")), Duration::ZERO);
            let (mut round, loading) = measured.unwrap_or_else(failed);
            round.took_ns = Some(nanos(started.elapsed()));
            self.report(*slot, &round);
            self.recorder.run.spent.load_ns += nanos(loading);
            self.recorder.run.spent.measure_ns = nanos(self.began.elapsed());
            self.recorder.run.series[slot.series].rounds.push(round);
            self.recorder.conclude(true)?;
        }
        Ok(Ending::Whole)
    }
}

/// Measures a run on a cluster, writes its record, and removes all objects that it created there. Servers or load pods that fail
/// are not an error: they are in the record.
///
/// # Errors
/// When the cluster cannot be reached or refuses the load pods, jq is missing, the results folder cannot be written, or something
/// could not be removed.
pub fn measure(spec: &RunSpec) -> anyhow::Result<Recorded> {
    prepare::filters(spec.project)?;
    let (jq, jq_version) = prepare::jq(spec.project)?;
    let interrupt = Interrupt::watch()?;
    let (cluster, version) = Cluster::connect(spec.context.as_deref(), spec.namespace.as_deref(), interrupt)?;
    let (id, folder) = new_folder(&std::path::absolute(spec.out)?, spec.seed)?;
    let owner = Owner::make(&cluster, &key(&id), &spec.load.image).inspect_err(|_| {
        // No object was created: there is nothing to record.
        let _ = fs::remove_dir_all(&folder);
    })?;
    let reference = owner.reference.clone();
    let tools = vec![jq_version, tool_version("kubernetes", &version)];
    let session = Session {
        spec,
        cluster: &cluster,
        jq: &jq,
        owner: &reference,
        recorder: begin_record(spec, id, folder, tools),
        targets: BTreeMap::new(),
        version,
        began: Instant::now(),
        slots: Vec::new(),
    };
    let measured = measure_session(session);
    log::info!("removing what the run made");
    let removed = owner.remove();
    let recorded = measured?;
    removed?;
    Ok(recorded)
}

/// Creates the servers and load pods, and measures the stages.
fn measure_session(mut session: Session) -> anyhow::Result<Recorded> {
    session.recorder.conclude(true)?;
    let created = session.create();
    if session.cluster.interrupt.is_requested() {
        return session.recorder.finish(true);
    }
    created?;
    let budget = session.is_paired().then_some(session.spec.budget);
    let ids = session.recorder.run.series.iter().map(|series| series.id.clone());
    let screen = screen_stage(ids.collect(), session.spec.rounds);
    let second_stage = session.spec.second_stage;
    let ending = measure_stages(&mut session, &screen, budget, second_stage)?;
    session.recorder.finish(ending == Ending::Interrupted)
}

/// Begins to record a run in its folder. The digests of series cover the overlay, the replicas and the number of load pods too, so
/// that values of different deployments are never compared.
fn begin_record(spec: &RunSpec, id: String, folder: PathBuf, tools: Vec<ToolVersion>) -> Recorder {
    let series = spec.series.iter().map(|one| {
        let overlay = spec.overlays.iter().find(|overlay| overlay.server == one.server.name);
        let text = overlay.map_or("", |overlay| &overlay.text);
        let whole = format!("{} {} {:?} {text}", one.digest, spec.load.pods, spec.replicas);
        Series {
            digest: digest::short(&whole),
            ..unmeasured(one)
        }
    });
    let revision = |side: &Side| VariantRevision {
        variant: side.variant,
        name: side.image.clone(),
        ..VariantRevision::default()
    };
    let unknown_host = Host {
        cpu_count: 1,
        kernel: "unknown".into(),
        fingerprint: digest::short("unknown"),
        ..Host::default()
    };
    // A lock of this machine does not protect the cluster's nodes: the run stays `unlocked`.
    let run = Run {
        repeat: spec.repeat.clone(),
        tools,
        variants: spec.sides.iter().map(revision).collect(),
        series: series.collect(),
        ..started_run(id, spec.profile, spec.seed, spec.rounds, unknown_host)
    };
    let variants: Vec<Variant> = spec.sides.iter().map(|side| side.variant).collect();
    let variants = vec![variants; run.series.len()];
    Recorder { run, folder, variants }
}

/// Prints the description of the machine that a server's pod runs on, which [`described_host`] reads.
const HOST_SCRIPT: &str =
    "grep -m1 'model name' /proc/cpuinfo; grep -c '^processor' /proc/cpuinfo; grep MemTotal /proc/meminfo; uname -srm";

/// The machine of the servers, from the output of [`HOST_SCRIPT`], with the cluster's version as its image.
fn described_host(text: &str, version: &str) -> Host {
    let count = text.lines().find_map(|line| line.trim().parse::<u32>().ok());
    Host {
        cpu_count: count.unwrap_or(1).max(1),
        image: Some(format!("Kubernetes {version}")),
        fingerprint: digest::short(&format!("{text}\n{version}")),
        ..host::described(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_machine_is_described_by_what_a_pod_says() {
        let text = "model name\t: Some CPU @ 2.1GHz\n8\nMemTotal:       16384 kB\nLinux 6.1.0 x86_64\n";
        let host = described_host(text, "v1.34.4");
        assert_eq!(host.cpu_model.as_deref(), Some("Some CPU @ 2.1GHz"));
        assert_eq!((host.cpu_count, host.memory_bytes), (8, Some(16_777_216)));
        assert_eq!(
            (host.kernel.as_str(), host.image.as_deref()),
            ("Linux 6.1.0 x86_64", Some("Kubernetes v1.34.4"))
        );
    }
}
