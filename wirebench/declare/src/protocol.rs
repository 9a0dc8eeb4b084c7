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

/// Every protocol, most preferred first, in the order of the enum: the word in declarations and records, the usual name, and the
/// protocol that a driver without knowledge of gRPC or TLS reports, if it differs.
const TABLE: [(Protocol, &str, &str, Option<&str>); 7] = [
    (Protocol::Http, "http", "HTTP/1.1", None),
    (Protocol::H2c, "h2c", "h2c", None),
    (Protocol::Grpc, "grpc", "gRPC", Some("h2c")),
    (Protocol::Https, "https", "HTTPS", Some("http")),
    (Protocol::Grpcs, "grpcs", "gRPC over TLS", Some("h2")),
    (Protocol::GrpcWeb, "grpc-web", "gRPC-web", Some("http")),
    (Protocol::Process, "process", "start-up", None),
];

impl Protocol {
    /// Every protocol, most preferred first.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.into_iter().map(|row| row.0)
    }

    /// The word used in declarations and records.
    pub const fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Its usual name.
    pub const fn label(self) -> &'static str {
        TABLE[self as usize].2
    }

    /// The protocol that a driver without knowledge of gRPC or TLS reports; `None` if it can only report this one.
    pub const fn carrier(self) -> Option<&'static str> {
        TABLE[self as usize].3
    }

    /// True for gRPC in any form.
    pub const fn is_grpc(self) -> bool {
        matches!(self, Self::Grpc | Self::Grpcs | Self::GrpcWeb)
    }

    /// Whether it is encrypted.
    pub const fn has_tls(self) -> bool {
        matches!(self, Self::Https | Self::Grpcs)
    }

    /// The start of its addresses: `http` or `https`.
    pub const fn scheme(self) -> &'static str {
        if self.has_tls() { "https" } else { "http" }
    }
}

#[cfg(test)]
mod tests {
    use super::Protocol;

    #[test]
    fn its_name_is_what_a_declaration_says() {
        for protocol in Protocol::all() {
            let written = serde_json::to_value(protocol).unwrap();
            assert_eq!(written, protocol.name());
        }
        assert!(Protocol::all().enumerate().all(|(place, one)| one as usize == place));
    }
}
