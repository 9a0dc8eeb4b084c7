//! The command line and the environment of a server's process.
//!
//! What starting a server's processes needs besides their declarations.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use crate::measure::cores::Cores;
use crate::measure::interrupt::Interrupt;
use crate::measure::remote::Host;
use crate::measure::side::Side;
use crate::measure::target::instance::Instance;
use crate::measure::target::tiers::KeptTiers;
use crate::measure::tls::TlsFiles;
use wirebench_declare::args::{Arg, Value, expand, fill};
use wirebench_declare::server::authority;
use wirebench_declare::tier::{DATA, Part};

/// The values of the placeholders of a process's arguments and environment.
pub(in crate::measure) type PartValues = BTreeMap<String, Value>;

/// The values of a process's placeholders: its own address, and the addresses of the tiers that run already. `port` is a port
/// or a placeholder for one.
pub(in crate::measure) fn values(part: &Part, context: &LaunchContext, port: &str, tiers: &[Instance]) -> PartValues {
    let ip = context.ip_of(part);
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let threads = context.host.map_or_else(|| context.cores.server_threads(), Host::cpus);
    let own = [
        ("address", authority(ip, port)),
        ("host", ip.to_string()),
        ("port", port.to_owned()),
        ("threads", threads.to_string()),
        ("tls_cert", text(&context.tls.certificate())),
        ("tls_key", text(&context.tls.key())),
    ];
    let tiers = tiers.iter().map(|tier| (tier.name.clone(), tier.address.clone()));
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    let data = context.data_folder.map(|folder| (DATA.to_owned(), text(folder)));
    own.chain(tiers)
        .chain(data)
        .map(|(name, value)| (name, Value::One(value)))
        .collect()
}

/// The command line of one process on one side, program first.
///
/// # Panics
/// Never for a server that `Server::check` accepted, as it rejects unknown placeholders, and that the side has built.
pub(in crate::measure) fn argv(side: &Side, part: &Part, values: &PartValues) -> Vec<String> {
    let args = expand(&part.args, values).expect("Server::check refuses unknown placeholders");
    // A command may be a shell's script: braces in it that name no placeholder stay as they are, as in the environment.
    let program = side.programs[&part.key()].iter().map(|word| fill(word, values, 0));
    program.chain(args).collect()
}

/// The environment of one process. Braces that name no placeholder stay as they are.
pub(in crate::measure) fn environment(side: &Side, part: &Part, values: &PartValues) -> BTreeMap<String, String> {
    let declared = part.env.iter();
    let declared = declared.map(|(name, text)| (name.clone(), fill(text, values, 0)));
    let own = side.environment.clone().into_iter();
    own.chain(declared).collect()
}

/// True if a process is a tier whose arguments or environment name `{data}`, so that it gets an empty folder.
pub(super) fn names_data_folder(part: &Part) -> bool {
    let in_env = |text: &String| text.contains(&format!("{{{DATA}}}"));
    let in_args = part.args.iter().flat_map(Arg::placeholders).any(|name| name == DATA);
    part.tier.is_some() && (in_args || part.env.values().any(in_env))
}

/// The name of the file that takes `stdout` or `stderr` of a process.
pub(in crate::measure) fn output_file(part: &Part, stream: &str) -> String {
    match &part.tier {
        None => format!("server.{stream}"),
        Some(tier) => format!("tier-{tier}.{stream}"),
    }
}

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
