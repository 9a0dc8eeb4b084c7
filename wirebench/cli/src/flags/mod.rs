//! Groups of flags that several verbs have, and the values that they take.

mod selection;
mod sides;

use clap::ValueEnum;

pub(crate) use self::selection::SelectionArgs;
pub(crate) use self::sides::SideArgs;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::remote::Address;
use wirebench_record::comparison::Verdict;
use wirebench_record::metric::Metric;

/// A flag before each of these values, for the command line of another run.
pub(crate) fn with_flag<T: ToString>(flag: &str, values: impl IntoIterator<Item = T>) -> impl Iterator<Item = String> {
    values
        .into_iter()
        .flat_map(move |value| [flag.to_owned(), value.to_string()])
}

/// Whether a measurement keeps others away.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct LockArgs {
    /// Do not wait for the end of another measurement on this machine; the record notes it.
    #[arg(long)]
    pub(crate) no_lock: bool,
}

/// The value of --only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    /// Counts only; as `wirebench count`.
    Counts,
    /// Rounds of load.
    Timings,
}

/// The metric of that name.
pub(crate) fn metric(name: &str) -> Result<Metric, String> {
    Metric::known().find(|metric| metric.name() == name).ok_or_else(|| {
        let names: Vec<&str> = Metric::known().map(Metric::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// A value of --fail-on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A gating metric got worse by more than its margin.
    Regressed,
    /// A relevant worsening can be neither shown nor excluded.
    Inconclusive,
    /// A gating metric cannot be judged.
    Invalid,
    /// No gating metric is on both sides: a renamed server, or everything skipped.
    NotJudged,
}

impl FailOn {
    pub(crate) const fn verdict(self) -> Verdict {
        match self {
            Self::Regressed => Verdict::Regressed,
            Self::Inconclusive => Verdict::Inconclusive,
            Self::Invalid => Verdict::Invalid,
            Self::NotJudged => Verdict::NotJudged,
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_named_as_in_every_file() {
        assert_eq!(metric("latency_p50"), Ok(Metric::LatencyP50));
        assert_eq!(metric("wire_bytes_sent"), Ok(Metric::WireBytesSent));
        assert!(metric("cpu").unwrap_err().contains("server_cpu"));
    }
}
