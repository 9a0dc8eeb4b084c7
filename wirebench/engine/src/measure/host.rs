//! Describes the host that a run is made on.

use std::fs;

use crate::measure::digest;
use wirebench_record::run::{Host, RemoteHost};

/// Reads the host's description from the operating system; unknown values are `None`.
pub fn describe(cpu_count: usize) -> Host {
    let cpu_model =
        first_value("/proc/cpuinfo", "model name").or_else(|| output_of("sysctl", &["-n", "machdep.cpu.brand_string"]));
    let memory_bytes = first_value("/proc/meminfo", "MemTotal")
        .and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib * 1024))
        .or_else(|| output_of("sysctl", &["-n", "hw.memsize"])?.parse().ok());
    let kernel = output_of("uname", &["-srm"]).unwrap_or_else(|| "unknown".into());
    let image = std::env::var("ImageOS").ok().map(|os| {
        let version = std::env::var("ImageVersion").unwrap_or_default();
        format!("{os} {version}").trim().to_owned()
    });
    let loopback_mtu_bytes = fs::read_to_string("/sys/class/net/lo/mtu")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    let cpu_count = u32::try_from(cpu_count).unwrap_or(u32::MAX);
    fingerprinted(Host {
        cpu_model,
        cpu_count,
        memory_bytes,
        kernel,
        image,
        loopback_mtu_bytes,
        fingerprint: String::new(),
    })
}

/// The same host with its fingerprint.
pub fn fingerprinted(host: Host) -> Host {
    let Host {
        cpu_model,
        cpu_count,
        memory_bytes,
        kernel,
        image,
        loopback_mtu_bytes,
        fingerprint: _,
    } = &host;
    let lines = format!("{cpu_model:?}\n{cpu_count}\n{memory_bytes:?}\n{kernel}\n{image:?}\n{loopback_mtu_bytes:?}");
    Host {
        fingerprint: digest::short(&lines),
        ..host
    }
}

/// A host whose fingerprint covers the other hosts of the run too.
pub fn with_others(host: Host, others: &[RemoteHost]) -> Host {
    let all = others.iter().map(|one| one.host.fingerprint.as_str());
    let all: Vec<&str> = std::iter::once(host.fingerprint.as_str()).chain(all).collect();
    match &all[..] {
        [_] => host,
        all => Host {
            fingerprint: digest::short(&all.join(" ")),
            ..host
        },
    }
}

fn first_value(file: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn output_of(program: &str, args: &[&str]) -> Option<String> {
    let output = wirebench_spawn::command(program)
        .args(args)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()).filter(|text| !text.is_empty())
}
