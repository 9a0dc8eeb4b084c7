//! The protocols of servers, as the page names them.

use crate::site::shown::name;

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
