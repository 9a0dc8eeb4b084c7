//! The arguments every server takes.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches, Parser, ValueEnum, value_parser};

use crate::tls::Tls;
use crate::waste::Waste;

const AFTER_HELP: &str = "\
Once it accepts connections the server prints one line, such as `ready 127.0.0.1:8080`, and nothing more.
SIGTERM or SIGINT stops it: requests under way are answered, and within 2 seconds it exits with 0.
It exits with 1 when it cannot start, and with 2 when the arguments are wrong.";

/// The arguments of a server program.
#[derive(Debug, Parser)]
#[command(version, after_help = AFTER_HELP)]
pub(crate) struct Options<O: Own> {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", value_parser = address)]
    pub(crate) listen: SocketAddr,

    /// Threads that answer requests [default: one for each available core]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// How requests are spread over the threads
    #[arg(long, value_enum, default_value_t = Runtime::PerCore)]
    pub(crate) runtime: Runtime,

    /// Shows metrics of its requests at http://ADDRESS/metrics; standard error says where
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) metrics_listen: Option<SocketAddr>,

    /// Time a client has for its handshake and for the head of each request, in ms
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = value_parser!(u32).range(1..))]
    head_timeout_ms: u32,

    #[command(flatten)]
    pub(crate) tls: Tls,

    #[command(flatten)]
    pub(crate) own: O,

    #[command(flatten)]
    pub(crate) waste: Waste,
}

/// Arguments of one server alone.
pub trait Own: Args + Clone + Send + 'static {
    /// The protocols offered in a TLS handshake (ALPN), in order of preference.
    fn alpn(&self) -> &'static [&'static str] {
        &["h2", "http/1.1"]
    }

    /// Additional time for clients, because the server itself waits for an upstream.
    fn patience(&self) -> Duration {
        Duration::ZERO
    }

    /// The error of a combination of arguments that are each valid.
    fn flaw(&self) -> Option<String> {
        None
    }

    /// Prepares the server before it listens, for this many serving threads; called once.
    ///
    /// # Errors
    /// If the server cannot start.
    fn prepare(&mut self, _threads: usize) -> Result<(), String> {
        Ok(())
    }
}

/// For a server without arguments of its own.
#[derive(Args, Clone, Copy, Debug)]
pub struct NoMore {}

impl Own for NoMore {}

/// How requests are spread over the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Runtime {
    /// One runtime whose threads share all connections and steal work from each other
    Multi,
    /// One single-threaded runtime on each thread, with a listener and connections of its own
    PerCore,
}

impl<O: Own> Options<O> {
    /// Reads the process's arguments; wrong ones, and `--help`, end the process here.
    pub(crate) fn from_command_line(name: &'static str, about: &'static str) -> Self {
        let mut command = Self::command().name(name).about(about);
        let matches = command.get_matches_mut();
        let options = Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        if let Some(flaw) = options.own.flaw() {
            command.error(ErrorKind::ArgumentConflict, flaw).exit();
        }
        options
    }

    /// Time a client has for its handshake and for the head of each request.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_millis(self.head_timeout_ms.into())
    }

    /// Number of serving threads: as given, or one for each core this process may use.
    pub(crate) fn threads(&self) -> usize {
        match self.threads {
            Some(threads) => usize::from(threads),
            None => thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "expected an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{NoMore, Runtime};

    type Options = super::Options<NoMore>;

    #[test]
    fn the_arguments_are_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn without_arguments_a_free_local_port_and_every_core_are_taken() {
        let options = Options::parse_from(["server"]);
        assert_eq!(options.listen.to_string(), "127.0.0.1:0");
        assert_eq!(options.runtime, Runtime::PerCore);
        assert!(options.threads() >= 1);
        assert_eq!(options.waste.or_none(), None);
    }

    #[test]
    fn every_kind_of_waste_can_be_asked_for() {
        for kind in [
            "burn-ns",
            "waste-instructions",
            "waste-allocations",
            "waste-syscalls",
            "waste-header-bytes",
        ] {
            let options = Options::parse_from(["server", &format!("--{kind}"), "7"]);
            assert!(options.waste.or_none().is_some(), "--{kind}");
        }
    }

    #[test]
    fn a_header_longer_than_clients_take_is_refused() {
        let error = Options::try_parse_from(["server", "--waste-header-bytes", "8193"]).unwrap_err();
        assert!(error.to_string().contains("8193 is not in 0..=8192"), "{error}");
    }

    #[test]
    fn a_host_name_is_refused_with_an_example() {
        let error = Options::try_parse_from(["server", "--listen", "localhost:80"]).unwrap_err();
        assert!(error.to_string().contains("such as 127.0.0.1:8080"), "{error}");
    }

    #[test]
    fn no_threads_are_refused() {
        let error = Options::try_parse_from(["server", "--threads", "0"]).unwrap_err();
        assert!(error.to_string().contains("0 is not in 1..=1024"), "{error}");
    }
}
