//! The flags of a run on two hosts: the servers on one, the load from another.

use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::remote::Address;

use crate::run::Pin;

/// Which machines take part besides this one.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "On two hosts")]
pub(super) struct HostArgs {
    /// Run the servers on this host, ssh://USER@HOST:PORT, and load them from here. Latency then holds the network between.
    #[arg(long, value_name = "URL", conflicts_with = "cluster")]
    pub(super) server_host: Option<Address>,
}

impl HostArgs {
    /// The cores of this machine: the driver's alone when the servers run elsewhere.
    pub(super) fn cores(&self, pin: Pin) -> Cores {
        match self.server_host {
            Some(_) => Cores::shared(),
            None => pin.cores(),
        }
    }

    /// The flags again, for the command that repeats a run. A record names no host and no user.
    pub(super) fn as_flags(&self) -> Vec<String> {
        let placeholder = self.server_host.as_ref().map(|_| ["--server-host", "ssh://HOST"]);
        placeholder.into_iter().flatten().map(str::to_owned).collect()
    }
}
