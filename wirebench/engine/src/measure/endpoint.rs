//! Where a server accepts requests.

use std::path::Path;

use wirebench_declare::protocol::Protocol;

/// A server's address and how to connect to it.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint<'a> {
    /// `127.0.0.1:8080`.
    pub address: &'a str,
    /// The protocol of the requests.
    pub protocol: Protocol,
    /// Over TLS: the file with the certificate that the server must show.
    pub ca: &'a Path,
}
