//! Describes the host that a run is made on.

use std::fs;

use crate::measure::digest;
use wirebench_record::run::{Host, RemoteHost};

/// Reads the host's description from the operating system; unknown values are `None`.
pub fn describe(cpu_count: usize) -> Host {
    let uname = wirebench_spawn::command("uname").arg("-srm").output();
    let uname = uname.map(|output| output.stdout).unwrap_or_default();
    let read = |file: &str| fs::read(file).unwrap_or_default();
    let text = [read("/proc/cpuinfo"), read("/proc/meminfo"), uname].join(&b'\n');
    let image = std::env::var("ImageOS").ok().map(|os| {
        let version = std::env::var("ImageVersion").unwrap_or_default();
        format!("{os} {version}").trim().to_owned()
    });
    let mtu = fs::read_to_string("/sys/class/net/lo/mtu").unwrap_or_default();
    fingerprinted(Host {
        cpu_count: u32::try_from(cpu_count).unwrap_or(u32::MAX),
        image,
        loopback_mtu_bytes: mtu.trim().parse().ok(),
        ..described(&String::from_utf8_lossy(&text))
    })
}

/// A host's processor, memory and kernel from lines of its `/proc/cpuinfo` and `/proc/meminfo`, and of `uname -srm`; other lines are
/// ignored, and unknown values are `None`.
pub fn described(text: &str) -> Host {
    let value = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let memory = value("MemTotal").and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok());
    let kernel = text
        .lines()
        .find(|line| line.starts_with("Linux ") || line.starts_with("Darwin "));
    Host {
        cpu_model: value("model name"),
        memory_bytes: memory.map(|kib| kib * 1024),
        kernel: kernel.map_or("unknown", str::trim).to_owned(),
        ..Host::default()
    }
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
