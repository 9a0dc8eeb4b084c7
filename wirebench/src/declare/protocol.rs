//! The protocols a server can answer and a driver can speak.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A protocol on the wire, in the order wirebench prefers them when several would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/1.1 without TLS.
    Http,
    /// HTTP/2 without TLS, with prior knowledge.
    H2c,
    /// gRPC over HTTP/2 without TLS.
    Grpc,
    /// No wire at all: the driver starts the server's process itself and waits for its first good answer.
    Process,
}

impl Protocol {
    /// Every protocol, most preferred first.
    pub const ALL: [Self; 4] = [Self::Http, Self::H2c, Self::Grpc, Self::Process];

    /// The word used in declarations and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::H2c => "h2c",
            Self::Grpc => "grpc",
            Self::Process => "process",
        }
    }

    /// The name people know it by.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Http => "HTTP/1.1",
            Self::H2c => "h2c",
            Self::Grpc => "gRPC",
            Self::Process => "start-up",
        }
    }
}
