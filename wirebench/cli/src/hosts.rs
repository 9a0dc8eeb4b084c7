//! The flags of a run on several hosts: the servers on one, the load from another.

use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::remote::Address;

use crate::run::Pin;

/// Which machines take part besides this one.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "On several hosts")]
pub(super) struct HostArgs {
    /// Run the servers on this host, ssh://USER@HOST:PORT, and load them from here. Latency then holds the network between.
    #[arg(long, value_name = "URL", conflicts_with = "cluster")]
    pub(super) server_host: Option<Address>,

    /// Run the load generators on this host, and the servers here (or on --server-host). Servers then listen to the network
    #[arg(long, value_name = "URL", conflicts_with = "cluster")]
    pub(super) driver_host: Option<Address>,
}

impl HostArgs {
    /// The cores of this machine: of one side alone when the other runs elsewhere.
    pub(super) fn cores(&self, pin: Pin) -> Cores {
        if self.server_host.is_some() || self.driver_host.is_some() {
            Cores::shared()
        } else {
            pin.cores()
        }
    }

    /// The flags again, for the command that repeats a run. A record names no host and no user.
    pub(super) fn as_flags(&self) -> Vec<String> {
        let flags = [
            ("--server-host", &self.server_host),
            ("--driver-host", &self.driver_host),
        ];
        let given = flags.into_iter().filter(|(_, host)| host.is_some());
        given
            .flat_map(|(flag, _)| [flag.to_owned(), "ssh://HOST".to_owned()])
            .collect()
    }
}
