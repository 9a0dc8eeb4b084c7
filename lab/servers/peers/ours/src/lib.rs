//! Shared by the programs for large files.

// The codec of our gRPC server; the contract does not export it.
#[path = "../../../../../servers/contract/src/codec.rs"]
mod codec;

/// `lab/servers/peers/proto/wirebench/files/v1/files.proto`.
#[allow(clippy::all, missing_docs)]
pub mod files {
    tonic::include_proto!("wirebench.files.v1");
}

/// The file that the peers send: 1,048,576 bytes of text.
#[must_use]
pub fn file() -> axum::body::Bytes {
    b"0123456789abcde\n".repeat(65_536).into()
}
