//! Requests and responses as the probe sends and receives them: HTTP, gRPC and gRPC-web alike.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use wirebench_declare::protocol::Protocol;

/// A request that is ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireRequest {
    /// The protocol; not `process`.
    pub protocol: Protocol,
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Header lines `name: value`.
    pub headers: Vec<String>,
    /// The body; for gRPC one length-prefixed frame.
    pub body: Vec<u8>,
    /// The file with the server's certificate; `None` without TLS.
    pub ca: Option<PathBuf>,
}

impl WireRequest {
    /// A GET of a path, over TLS with the server's certificate in the file `ca`.
    pub fn get(protocol: Protocol, path: String, ca: Option<PathBuf>) -> Self {
        Self {
            protocol,
            method: "GET".into(),
            path,
            headers: Vec::new(),
            body: Vec::new(),
            ca,
        }
    }
}

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

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireResponse {
    /// HTTP status.
    pub status: u16,
    /// The body; for gRPC the frames, of gRPC-web without the trailer frame.
    pub body: Vec<u8>,
    /// `grpc-status` and `grpc-message`, from the trailers, the trailer frame or the headers.
    pub grpc: Option<(String, String)>,
    /// Why the response is no valid gRPC-web; `None` if it is, and for other protocols.
    pub fault: Option<String>,
}

/// The header lines of a gRPC request.
pub const GRPC_HEADERS: [&str; 2] = ["content-type: application/grpc", "te: trailers"];

/// The header lines of a gRPC-web request.
pub const GRPC_WEB_HEADERS: [&str; 2] = ["content-type: application/grpc-web+proto", "x-grpc-web: 1"];

/// A unary gRPC call of `path` (`/package.Service/Method`) with one framed message, over `grpc`, `grpcs` or `grpc-web`.
pub fn grpc_request(protocol: Protocol, path: &str, body: Vec<u8>, ca: &Path) -> WireRequest {
    let headers = match protocol {
        Protocol::GrpcWeb => GRPC_WEB_HEADERS,
        _ => GRPC_HEADERS,
    };
    WireRequest {
        protocol,
        method: "POST".into(),
        path: path.into(),
        headers: headers.map(str::to_owned).to_vec(),
        body,
        ca: protocol.has_tls().then(|| ca.to_path_buf()),
    }
}
