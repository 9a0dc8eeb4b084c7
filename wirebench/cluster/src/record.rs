//! The record of a run on a cluster: the same as that of a run on one machine.

use std::path::PathBuf;

use jiff::Timestamp;

use wirebench_engine::session::{conclude, save, unmeasured};
use wirebench_record::run::{
    Host, Pinning, Round, Run, RunStatus, SCHEMA, Series, Spent, Stage, ToolVersion, Variant, VariantRevision,
};

use crate::names::digest;
use crate::order::Order;

/// The record of a run in progress.
pub(crate) struct Recorder {
    pub(crate) run: Run,
    pub(crate) folder: PathBuf,
    variants: Vec<Variant>,
}

/// The image of a variant, as the user named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// Which variant.
    pub variant: Variant,
    /// The image of its servers; `None` for the overlay's own.
    pub image: Option<String>,
}

impl Recorder {
    /// Begins a run in its folder. Digests cover the overlay and the number of load pods too, so that values of other clusters'
    /// shapes are never compared.
    pub(crate) fn begin(order: &Order, id: String, folder: PathBuf, tools: Vec<ToolVersion>) -> Self {
        let now = Timestamp::now().to_string();
        let series = order.series.iter().map(|one| {
            let overlay = order.overlays.iter().find(|overlay| overlay.server == one.server.name);
            let text = overlay.map_or("", |overlay| &overlay.text);
            let whole = format!("{} {} {:?} {text}", one.digest, order.load.pods, order.replicas);
            Series {
                digest: digest(&whole, 6),
                ..unmeasured(one)
            }
        });
        let revision = |side: &Side| VariantRevision {
            variant: side.variant,
            commit: None,
            modified: None,
            name: side.image.clone(),
            committed_at: None,
        };
        let run = Run {
            schema: SCHEMA.into(),
            id,
            trigger: std::env::var("GITHUB_EVENT_NAME").unwrap_or_else(|_| "local".into()),
            profile: order.profile.to_owned(),
            status: RunStatus::Incomplete,
            reason: Some("still running, or ended by force".into()),
            started_at: now.clone(),
            finished_at: now,
            spent: Spent::default(),
            seed: order.seed,
            rounds_planned: order.rounds,
            repeat: order.repeat.clone(),
            stages: Vec::new(),
            accepted: Vec::new(),
            shards: Vec::new(),
            hosts: Vec::new(),
            host: unknown_host(),
            pinning: Pinning {
                server_cores: Vec::new(),
                driver_cores: Vec::new(),
                // A lock of this machine says nothing of the cluster's nodes.
                unlocked: true,
            },
            tools,
            variants: order.sides.iter().map(revision).collect(),
            dependencies: Vec::new(),
            series: series.collect(),
        };
        Self {
            run,
            folder,
            variants: order.sides.iter().map(|side| side.variant).collect(),
        }
    }

    pub(crate) fn add(&mut self, series: usize, round: Round) {
        self.run.series[series].rounds.push(round);
    }

    /// Derives the status of every series and of the run, and writes the record.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(crate) fn save(&mut self, unfinished: bool) -> anyhow::Result<()> {
        for series in &mut self.run.series {
            let planned = planned(&self.run.stages, series, self.run.rounds_planned);
            (series.status, series.reason) = conclude::series(&series.rounds, &self.variants, planned, unfinished);
        }
        (self.run.status, self.run.reason) = conclude::run(&self.run.series, unfinished);
        self.run.finished_at = Timestamp::now().to_string();
        save(&self.run, &self.folder)
    }
}

/// Rounds of each variant planned for a series, over all stages.
fn planned(stages: &[Stage], series: &Series, rounds: u32) -> usize {
    let own = stages.iter().filter(|stage| stage.series.contains(&series.id));
    let all: u32 = own.map(|stage| stage.rounds).sum();
    if stages.is_empty() {
        rounds as usize
    } else {
        all as usize
    }
}

fn unknown_host() -> Host {
    Host {
        cpu_model: None,
        cpu_count: 1,
        memory_bytes: None,
        kernel: "unknown".into(),
        image: None,
        loopback_mtu_bytes: None,
        fingerprint: digest("unknown", 6),
    }
}

/// Prints what [`host`] reads: of the machine that a server's pod is on.
pub(crate) const HOST_SCRIPT: &str =
    "grep -m1 'model name' /proc/cpuinfo; grep -c '^processor' /proc/cpuinfo; grep MemTotal /proc/meminfo; uname -srm";

/// The machine of the servers, from what [`HOST_SCRIPT`] printed there, with the cluster's version as its image.
pub(crate) fn host(text: &str, version: &str) -> Host {
    let after = |begin: &str| {
        Some(
            text.lines()
                .find(|line| line.starts_with(begin))?
                .split_once(':')?
                .1
                .trim()
                .to_owned(),
        )
    };
    let memory = after("MemTotal").and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok());
    let count = text.lines().find_map(|line| line.trim().parse::<u32>().ok());
    let kernel = text.lines().find(|line| line.starts_with("Linux "));
    Host {
        cpu_model: after("model name"),
        cpu_count: count.unwrap_or(1).max(1),
        memory_bytes: memory.map(|kib| kib * 1024),
        kernel: kernel.unwrap_or("unknown").to_owned(),
        image: Some(format!("Kubernetes {version}")),
        loopback_mtu_bytes: None,
        fingerprint: digest(&format!("{text}\n{version}"), 6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_machine_is_described_by_what_a_pod_says() {
        let text = "model name\t: Some CPU @ 2.1GHz\n8\nMemTotal:       16384 kB\nLinux 6.1.0 x86_64\n";
        let host = host(text, "v1.34.4");
        assert_eq!(host.cpu_model.as_deref(), Some("Some CPU @ 2.1GHz"));
        assert_eq!((host.cpu_count, host.memory_bytes), (8, Some(16_777_216)));
        assert_eq!(
            (host.kernel.as_str(), host.image.as_deref()),
            ("Linux 6.1.0 x86_64", Some("Kubernetes v1.34.4"))
        );
    }
}
