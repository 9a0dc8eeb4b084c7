//! The description that another host prints of itself.

use std::net::IpAddr;

use wirebench_record::run::Host;

use crate::measure::host::fingerprinted;

/// What shell.sh prints about a host, one fact a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    /// The run's folder on the host.
    pub(super) folder: String,
    /// The processor's kind, as `uname -m` names it.
    pub(super) arch: String,
    /// CPUs that the user may use.
    pub(super) cpus: u32,
    /// The kernel's accounting tick, ns.
    pub(super) tick_ns: u64,
    /// Its address in ssh's connection.
    pub(super) ip: IpAddr,
    /// This machine's address in that connection.
    pub(super) local_ip: IpAddr,
    /// The host as a record describes it: without its name and address.
    pub(super) host: Host,
}

impl Facts {
    /// Parses the output of `facts` of shell.sh; other lines, which a login prints, are ignored.
    ///
    /// # Errors
    /// What is missing.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let fact = |name: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(' ')?.trim()))
        };
        let tick: u64 = fact("tick")
            .and_then(|text| text.parse().ok())
            .ok_or("its clock's tick")?;
        let connection = |word: usize| fact("connection").and_then(|text| text.split(' ').nth(word)?.parse().ok());
        let no_address = "the address by which it is reached (SSH_CONNECTION)";
        let size = fact("memory").and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
        let model = fact("model").and_then(|text| Some(text.split_once(':')?.1.trim().to_owned()));
        let cpus = fact("cpus").and_then(|text| text.parse().ok()).ok_or("its CPUs")?;
        Ok(Self {
            folder: fact("dir").ok_or("a folder")?.to_owned(),
            arch: fact("arch").ok_or("its architecture")?.to_owned(),
            cpus,
            tick_ns: 1_000_000_000 / tick.max(1),
            ip: connection(2).ok_or(no_address)?,
            local_ip: connection(0).ok_or(no_address)?,
            host: fingerprinted(Host {
                cpu_model: model,
                cpu_count: cpus,
                memory_bytes: size.map(|kib| kib * 1024),
                kernel: fact("kernel").unwrap_or("unknown").to_owned(),
                ..Host::default()
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "Welcome!\ndir /tmp/wirebench-x\narch x86_64\nkernel Linux 6.1 x86_64\ncpus 4\ntick 100\nconnection 10.0.0.1 4242 10.0.0.2 22\nmemory MemTotal:       1024 kB\nmodel model name\t: A CPU: fast";

    #[test]
    fn a_host_describes_itself() {
        let facts = Facts::parse(OUTPUT).unwrap();
        assert_eq!(
            (facts.cpus, facts.tick_ns, &*facts.ip.to_string()),
            (4, 10_000_000, "10.0.0.2")
        );
        assert_eq!(facts.local_ip.to_string(), "10.0.0.1");
        let host = facts.host;
        assert_eq!(host.cpu_model.as_deref(), Some("A CPU: fast"));
        assert_eq!(host.memory_bytes, Some(1 << 20));
        assert_eq!(host.fingerprint.len(), 12);
        assert!(!format!("{host:?}").contains("10.0.0"), "{host:?}");
    }

    #[test]
    fn what_is_missing_is_named() {
        let without = |name: &str| {
            let lines: Vec<&str> = OUTPUT.lines().filter(|line| !line.starts_with(name)).collect();
            Facts::parse(&lines.join("\n")).unwrap_err()
        };
        assert_eq!(without("cpus"), "its CPUs");
        assert!(without("connection").contains("SSH_CONNECTION"));
    }
}
