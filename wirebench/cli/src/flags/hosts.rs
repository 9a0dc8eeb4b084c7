//! Flags for the machines and cores of a run: the servers on one host, the load from another; separate cores or shared ones.

use clap::ValueEnum;

use crate::flags::with_flag;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::remote::Address;

/// Which machines take part besides this one.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "On several hosts")]
pub(crate) struct HostArgs {
    /// Run the servers on this host, ssh://USER@HOST:PORT, and load them from here. Latency then includes the network.
    #[arg(long, value_name = "URL", conflicts_with = "cluster")]
    pub(crate) server_host: Option<Address>,

    /// Run the load generators on this host, and the servers here (or on --server-host). Servers then listen to the network
    #[arg(long, value_name = "URL", conflicts_with = "cluster")]
    pub(crate) driver_host: Option<Address>,
}

/// Whether server and driver get separate cores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pin {
    /// A quarter of the cores for the server, the rest for the driver, where there are two or more.
    #[default]
    Auto,
    /// Server and driver share all cores.
    Off,
}

impl HostArgs {
    /// The cores of this machine: of one side alone when the other runs elsewhere.
    pub(crate) fn cores(&self, pin: Pin) -> Cores {
        match pin {
            Pin::Auto if self.server_host.is_none() && self.driver_host.is_none() => Cores::split(),
            Pin::Auto | Pin::Off => Cores::shared(),
        }
    }

    /// The flags again, for the command that repeats a run. A record names no host and no user.
    pub(crate) fn as_flags(&self) -> Vec<String> {
        let server_host = with_flag("--server-host", self.server_host.as_ref().map(|_| "ssh://HOST"));
        let driver_host = with_flag("--driver-host", self.driver_host.as_ref().map(|_| "ssh://HOST"));
        server_host.chain(driver_host).collect()
    }
}
