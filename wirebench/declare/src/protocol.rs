//! The protocols between drivers and servers.

use serde::{Deserialize, Serialize};

/// A protocol on the wire, in the order wirebench prefers them when several would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// HTTP/1.1 without TLS.
    Http,
    /// HTTP/2 without TLS, with prior knowledge.
    H2c,
    /// gRPC over HTTP/2 without TLS.
    Grpc,
    /// HTTP/1.1 over TLS.
    Https,
    /// gRPC over HTTP/2 over TLS.
    Grpcs,
    /// gRPC-web over HTTP/1.1 without TLS, content type `application/grpc-web+proto`.
    GrpcWeb,
    /// No connection: the driver starts the server's process itself and waits for its first good response.
    Process,
}

impl Protocol {
    /// Every protocol, most preferred first.
    pub const ALL: [Self; 7] = [
        Self::Http,
        Self::H2c,
        Self::Grpc,
        Self::Https,
        Self::Grpcs,
        Self::GrpcWeb,
        Self::Process,
    ];

    /// The word used in declarations and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::H2c => "h2c",
            Self::Grpc => "grpc",
            Self::Https => "https",
            Self::Grpcs => "grpcs",
            Self::GrpcWeb => "grpc-web",
            Self::Process => "process",
        }
    }

    /// Its usual name.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Http => "HTTP/1.1",
            Self::H2c => "h2c",
            Self::Grpc => "gRPC",
            Self::Https => "HTTPS",
            Self::Grpcs => "gRPC over TLS",
            Self::GrpcWeb => "gRPC-web",
            Self::Process => "start-up",
        }
    }

    /// The protocol that a driver without knowledge of gRPC or TLS reports; `None` if it can only report this one.
    #[must_use]
    pub const fn carrier(self) -> Option<&'static str> {
        match self {
            Self::Grpc => Some("h2c"),
            Self::Grpcs => Some("h2"),
            Self::Https | Self::GrpcWeb => Some("http"),
            Self::Http | Self::H2c | Self::Process => None,
        }
    }

    /// True for gRPC in any form.
    #[must_use]
    pub const fn is_grpc(self) -> bool {
        matches!(self, Self::Grpc | Self::Grpcs | Self::GrpcWeb)
    }

    /// Whether it is encrypted.
    #[must_use]
    pub const fn has_tls(self) -> bool {
        matches!(self, Self::Https | Self::Grpcs)
    }

    /// The start of its addresses: `http` or `https`.
    #[must_use]
    pub const fn scheme(self) -> &'static str {
        if self.has_tls() { "https" } else { "http" }
    }
}

#[cfg(test)]
mod tests {
    use super::Protocol;

    #[test]
    fn its_name_is_what_a_declaration_says() {
        for protocol in Protocol::ALL {
            let written = serde_json::to_value(protocol).unwrap();
            assert_eq!(written, protocol.name());
        }
        assert!(Protocol::ALL.is_sorted());
    }
}
