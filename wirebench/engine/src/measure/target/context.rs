//! What starting a server's processes needs besides their declarations.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use crate::measure::cores::Cores;
use crate::measure::interrupt::Interrupt;
use crate::measure::remote::Host;
use crate::measure::target::kept::KeptTiers;
use crate::measure::tls::TlsFiles;
use wirebench_declare::tier::Part;

/// Where and with what the processes of a server are started.
#[derive(Debug, Clone, Copy)]
pub struct LaunchContext<'a> {
    /// The folder for their output.
    pub folder: &'a Path,
    /// The cores that they run on.
    pub cores: &'a Cores,
    /// The certificate that they show to clients.
    pub tls: &'a TlsFiles,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
    /// Takes the tiers with `keep` between rounds; without it, every tier is started for each round.
    pub kept: Option<&'a Arc<KeptTiers>>,
    /// The empty folder of the process that is started, if it has one.
    pub data_folder: Option<&'a Path>,
    /// The host on which they run; `None` for this machine.
    pub host: Option<&'a Host>,
    /// The address of this machine for load generators on another host: the front listens there.
    pub listen_ip: Option<IpAddr>,
}

impl LaunchContext<'_> {
    /// The address at which a process listens. Tiers behind the front get requests only from their own machine.
    pub(in crate::measure) fn ip_of(&self, part: &Part) -> IpAddr {
        match (self.host, self.listen_ip) {
            (Some(host), _) => host.ip(),
            (None, Some(ip)) if part.tier.is_none() => ip,
            (None, _) => part.host,
        }
    }
}
