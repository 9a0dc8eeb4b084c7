//! What servers and tiers have in common: a program, its placeholders, the address it listens on and the sign that it is
//! ready.

use std::net::{IpAddr, Ipv4Addr};

use serde::{Deserialize, Serialize};

use crate::read::{DeclareError, Place};
use crate::span::Span;

/// Placeholders that a server's arguments and environment may name.
pub const PLACEHOLDERS: [&str; 6] = ["address", "host", "port", "threads", "tls_cert", "tls_key"];

/// Where servers listen unless they say otherwise.
pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// How long a program may take to get ready unless it says otherwise.
pub(super) const DEFAULT_READY_TIMEOUT: Span = Span(std::time::Duration::from_secs(10));

/// Where a server's program comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Program {
    /// A package of this Cargo workspace, built with the release profile.
    Package(String),
    /// Any command; the first word is the program, looked up on PATH or relative to the project.
    Command(Vec<String>),
}

impl Default for Program {
    fn default() -> Self {
        Self::Command(Vec::new())
    }
}

impl Program {
    /// Where a program comes from: either a package, or a command, which may have a `build`.
    ///
    /// # Errors
    /// When other keys are set.
    pub(super) fn check(
        place: &Place,
        package: Option<String>,
        command: Option<Vec<String>>,
        build: Option<&Vec<String>>,
    ) -> Result<Self, DeclareError> {
        let (key, message) = match (package, command, build) {
            (Some(_), None, Some(_)) => (
                "build",
                "a package is built by cargo; expected build only beside command",
            ),
            (Some(package), None, None) => return Ok(Self::Package(package)),
            (None, Some(command), Some(words)) if !command.is_empty() && words.first().is_none_or(String::is_empty) => {
                (
                    "build",
                    "expected a program and its arguments, such as [\"npm\", \"ci\"]",
                )
            }
            (None, Some(command), _) if !command.is_empty() => return Ok(Self::Command(command)),
            _ => ("package", "expected exactly one of package and command"),
        };
        Err(place.wrong(key, message))
    }
}

/// The sign that a server is ready for requests.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ready {
    /// A GET of this path gets a response with a 2xx status.
    Http(String),
    /// The gRPC health service returns SERVING for this service ("" = the whole server).
    GrpcHealth(String),
    /// The port takes connections, and does not close them at once.
    Tcp(bool),
    /// A database answers in its own protocol that it has started.
    Database(Database),
    /// No sign: benchmarks have no server.
    #[serde(skip_deserializing)]
    AtOnce,
}

/// A database whose protocol says whether it has started: it takes connections earlier than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    /// Postgres, and databases that speak its protocol.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// Redis and Valkey.
    Redis,
}

impl Ready {
    /// Checks that it is not `tcp = false`, which `key` names.
    ///
    /// # Errors
    /// When it is.
    pub(super) fn check(&self, place: &Place, key: &str) -> Result<(), DeclareError> {
        place.refuse_if(matches!(self, Self::Tcp(false)), key, "expected true")
    }
}
