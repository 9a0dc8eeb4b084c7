//! The record of a run on a cluster: the same as that of a run on one machine.

use std::path::PathBuf;

use wirebench_engine::measure::digest;
use wirebench_engine::session::{Recorder, started_run, unmeasured};
use wirebench_record::run::{Host, Run, Series, ToolVersion, Variant, VariantRevision};

use crate::run_spec::{RunSpec, Side};

/// Begins to record a run in its folder. The digests of series cover the overlay, the replicas and the number of load pods too, so
/// that values of different deployments are never compared.
pub(crate) fn begin(spec: &RunSpec, id: String, folder: PathBuf, tools: Vec<ToolVersion>) -> Recorder {
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

/// Prints the description of the machine that a server's pod runs on, which [`host`] reads.
pub(crate) const HOST_SCRIPT: &str =
    "grep -m1 'model name' /proc/cpuinfo; grep -c '^processor' /proc/cpuinfo; grep MemTotal /proc/meminfo; uname -srm";

/// The machine of the servers, from the output of [`HOST_SCRIPT`], with the cluster's version as its image.
pub(crate) fn host(text: &str, version: &str) -> Host {
    let value = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let memory = value("MemTotal").and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok());
    let count = text.lines().find_map(|line| line.trim().parse::<u32>().ok());
    let kernel = text.lines().find(|line| line.starts_with("Linux "));
    Host {
        cpu_model: value("model name"),
        cpu_count: count.unwrap_or(1).max(1),
        memory_bytes: memory.map(|kib| kib * 1024),
        kernel: kernel.unwrap_or("unknown").to_owned(),
        image: Some(format!("Kubernetes {version}")),
        fingerprint: digest::short(&format!("{text}\n{version}")),
        ..Host::default()
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
