//! The arguments of a tier: which one it is, whom it asks, and whom it answers.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};
use server_runtime::Own;

use crate::source::Source;
use crate::store::{Kind, Store};
use crate::upstream::{Address, Connections, Upstream};

/// What a tier is told on its command line.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Tier")]
pub struct Tier {
    /// Which tier this is
    #[arg(long, value_enum)]
    role: Role,

    /// The next tier: http://ADDRESS, grpc://ADDRESS or grpcs://ADDRESS, where ADDRESS is such as 127.0.0.1:8080
    #[arg(long, value_name = "URL")]
    upstream: Option<Address>,

    /// The certificates that the next tier's is verified with, for grpcs:// (PEM)
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// What a service or a repository answers; a controller and a gateway answer HTTP
    #[arg(long, value_enum, default_value_t = Protocol::Http)]
    serve: Protocol,

    /// Where a repository keeps its users [default: sqlite]
    #[arg(long, value_enum)]
    store: Option<Kind>,

    /// Time the next tier has for its whole answer, in ms
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = value_parser!(u32).range(1..=600_000))]
    deadline_ms: u32,

    /// What becomes of a connection to the next tier when a question is answered; over gRPC it is always kept
    #[arg(long, value_enum, default_value_t = Connections::Kept)]
    connections: Connections,

    /// What `--ca` names, read.
    #[arg(skip)]
    authority: Option<Vec<u8>>,

    /// The repository's users, opened.
    #[arg(skip)]
    opened: Option<Arc<Store>>,
}

/// Which tier a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Role {
    /// The first of three: answers HTTP, asks the service
    Controller,
    /// The second of three: asks the repository
    Service,
    /// The last of three: asks its own store
    Repository,
    /// The first of two: answers HTTP, asks any server that answers the same questions
    Gateway,
}

/// What a tier answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// HTTP/1.1 and HTTP/2 with JSON
    Http,
    /// gRPC
    Grpc,
}

impl Tier {
    /// What this tier answers.
    pub(crate) fn protocol(&self) -> Protocol {
        self.serve
    }

    /// Whom this tier asks; to be called on the runtime that will do so.
    pub(crate) fn source(&self) -> Result<Source, String> {
        match (&self.upstream, &self.opened) {
            (Some(address), _) => Upstream::new(address, self.authority.as_deref(), self.deadline(), self.connections)
                .map(|upstream| Source::Upstream(Box::new(upstream))),
            (None, Some(store)) => Ok(Source::Store(Arc::clone(store))),
            (None, None) => Err("nobody to ask: give --upstream".to_owned()),
        }
    }

    fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms.into())
    }
}

impl Own for Tier {
    fn alpn(&self) -> &'static [&'static str] {
        match self.serve {
            Protocol::Http => &["h2", "http/1.1"],
            Protocol::Grpc => &["h2"],
        }
    }

    fn patience(&self) -> Duration {
        if self.upstream.is_some() {
            self.deadline()
        } else {
            Duration::ZERO
        }
    }

    fn flaw(&self) -> Option<String> {
        let in_front = matches!(self.role, Role::Controller | Role::Gateway);
        let last = self.role == Role::Repository;
        let secure = self.upstream.as_ref().is_some_and(Address::is_secure);
        let over_http = self.upstream.as_ref().is_some_and(Address::is_http);
        let flaw = if last && self.upstream.is_some() {
            "a repository asks its own store: leave out --upstream"
        } else if !last && self.upstream.is_none() {
            "this role asks another tier: name it with --upstream, such as --upstream http://127.0.0.1:8080"
        } else if !last && self.store.is_some() {
            "only a repository has a store: leave out --store, or choose --role repository"
        } else if in_front && self.serve == Protocol::Grpc {
            "this role answers HTTP: leave out --serve, or choose --role service"
        } else if !over_http && self.connections != Connections::Kept {
            "only connections over http:// can be closed after each question: leave out --connections"
        } else if secure && self.ca.is_none() {
            "grpcs:// needs the certificates to verify with: name their file with --ca"
        } else if !secure && self.ca.is_some() {
            "--ca is for grpcs:// only: leave it out, or change --upstream"
        } else {
            return None;
        };
        Some(flaw.to_owned())
    }

    fn prepare(&mut self, threads: usize) -> Result<(), String> {
        if let Some(file) = &self.ca {
            let read = fs::read(file).map_err(|error| format!("{}: {error}; --ca takes a PEM file", file.display()))?;
            self.authority = Some(read);
        }
        if self.role == Role::Repository {
            let kind = self.store.unwrap_or(Kind::Sqlite);
            let store = Store::open(kind, threads);
            let store =
                store.map_err(|error| format!("cannot make the store: {error}; --store memory needs no file"))?;
            self.opened = Some(Arc::new(store));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};
    use server_runtime::Own;

    use super::Tier;

    fn tier(line: &str) -> Tier {
        let command = Tier::augment_args(Command::new("gateway").no_binary_name(true));
        Tier::from_arg_matches(&command.get_matches_from(line.split_whitespace())).unwrap()
    }

    #[test]
    fn arguments_that_belong_together_are_taken() {
        for line in [
            "--role controller --upstream http://127.0.0.1:1",
            "--role controller --upstream http://127.0.0.1:1 --connections one-per-question",
            "--role service --serve grpc --upstream grpc://[::1]:1",
            "--role repository",
            "--role repository --serve grpc --store memory",
            "--role gateway --upstream grpcs://127.0.0.1:1 --ca ca.pem",
        ] {
            assert_eq!(tier(line).flaw(), None, "{line}");
        }
    }

    #[test]
    fn arguments_that_do_not_are_refused_by_name() {
        for (line, named) in [
            ("--role controller", "--upstream"),
            ("--role repository --upstream http://127.0.0.1:1", "--upstream"),
            ("--role service --upstream http://127.0.0.1:1 --store memory", "--store"),
            ("--role gateway --serve grpc --upstream http://127.0.0.1:1", "--serve"),
            (
                "--role gateway --upstream grpc://127.0.0.1:1 --connections one-per-question",
                "--connections",
            ),
            ("--role gateway --upstream grpcs://127.0.0.1:1", "--ca"),
            ("--role gateway --upstream grpc://127.0.0.1:1 --ca ca.pem", "--ca"),
        ] {
            let flaw = tier(line).flaw().unwrap_or_else(|| panic!("{line}"));
            assert!(flaw.contains(named), "{line}: {flaw}");
        }
    }
}
