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
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Program {
    /// A package of this Cargo workspace, built with the release profile.
    Package(String),
    /// Any command; the first word is the program, looked up on PATH or relative to the project.
    Command(Vec<String>),
}

impl Program {
    /// Where a program comes from: either a package, or a command, which may have a `build`.
    ///
    /// # Errors
    /// When other keys are set; `prefix` is put before the key.
    pub(super) fn check(
        place: &Place,
        prefix: &str,
        package: Option<String>,
        command: Option<Vec<String>>,
        build: Option<&Vec<String>>,
    ) -> Result<Self, DeclareError> {
        let wrong = |key: &str, message: &str| Err(place.wrong(&format!("{prefix}{key}"), message));
        let program = match (package, command) {
            (Some(package), None) => Self::Package(package),
            (None, Some(command)) if !command.is_empty() => Self::Command(command),
            _ => return wrong("package", "expected exactly one of package and command"),
        };
        match build {
            Some(_) if matches!(program, Self::Package(_)) => wrong(
                "build",
                "a package is built by cargo; expected build only beside command",
            ),
            Some(words) if words.first().is_none_or(String::is_empty) => wrong(
                "build",
                "expected a program and its arguments, such as [\"npm\", \"ci\"]",
            ),
            _ => Ok(program),
        }
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
    /// The port takes connections.
    Tcp(bool),
    /// No sign: benchmarks have no server.
    #[serde(skip_deserializing)]
    AtOnce,
}

impl Ready {
    /// Checks that it is not `tcp = false`, which `key` names.
    ///
    /// # Errors
    /// When it is.
    pub(super) fn check(&self, place: &Place, key: &str) -> Result<(), DeclareError> {
        match self {
            Self::Tcp(false) => Err(place.wrong(key, "expected true")),
            _ => Ok(()),
        }
    }
}
