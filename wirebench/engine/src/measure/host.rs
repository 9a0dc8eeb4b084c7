//! Describes the host that a run is made on.

use std::fs;

use crate::measure::digest;
use wirebench_record::run::{Host, RemoteHost};

/// Reads the host's description from the operating system; unknown values are `None`.
pub fn describe(cpu_count: usize) -> Host {
    let memory = first_value("/proc/meminfo", "MemTotal");
    let memory = memory.and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok());
    let image = std::env::var("ImageOS").ok().map(|os| {
        let version = std::env::var("ImageVersion").unwrap_or_default();
        format!("{os} {version}").trim().to_owned()
    });
    let mtu = fs::read_to_string("/sys/class/net/lo/mtu").unwrap_or_default();
    fingerprinted(Host {
        cpu_model: first_value("/proc/cpuinfo", "model name"),
        cpu_count: u32::try_from(cpu_count).unwrap_or(u32::MAX),
        memory_bytes: memory.map(|kib| kib * 1024),
        kernel: kernel().unwrap_or_else(|| "unknown".into()),
        image,
        loopback_mtu_bytes: mtu.trim().parse().ok(),
        fingerprint: String::new(),
    })
}

/// The same host with its fingerprint, over all that is known of it.
pub fn fingerprinted(host: Host) -> Host {
    let lines = format!(
        "{:?}\n{}\n{:?}\n{}\n{:?}\n{:?}",
        host.cpu_model, host.cpu_count, host.memory_bytes, host.kernel, host.image, host.loopback_mtu_bytes
    );
    Host {
        fingerprint: digest::short(&lines),
        ..host
    }
}

/// A host whose fingerprint covers the other hosts of the run too.
pub fn with_others(host: Host, others: &[RemoteHost]) -> Host {
    if others.is_empty() {
        return host;
    }
    let others = others.iter().map(|one| one.host.fingerprint.as_str());
    let all: Vec<&str> = std::iter::once(host.fingerprint.as_str()).chain(others).collect();
    Host {
        fingerprint: digest::short(&all.join(" ")),
        ..host
    }
}

fn first_value(file: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn kernel() -> Option<String> {
    let output = wirebench_spawn::command("uname").arg("-srm").output().ok();
    let output = output.filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()).filter(|text| !text.is_empty())
}
