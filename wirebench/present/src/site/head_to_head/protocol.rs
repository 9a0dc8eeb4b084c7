//! The protocols of servers, as the page names them.

use crate::site::shown::name;

/// Whether a protocol is one of gRPC's.
pub(super) fn is_grpc(protocol: &str) -> bool {
    protocol.starts_with("grpc")
}

/// The protocol as people know it.
pub(super) fn label(protocol: &str) -> String {
    match protocol {
        "http" => "HTTP/1.1".into(),
        "h2c" => "HTTP/2".into(),
        "grpc" => "gRPC".into(),
        "https" => "HTTPS".into(),
        "grpcs" => "gRPC over TLS".into(),
        "grpc-web" => "gRPC-web".into(),
        other => name(other),
    }
}
