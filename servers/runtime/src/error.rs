//! Errors that end a server; each message says what to do.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// An error that ends a server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerError {
    #[error(
        "cannot listen on {address}: the address is already in use; stop the program that listens there, \
         or choose another port with --listen (port 0 takes a free one)"
    )]
    AddressTaken { address: SocketAddr },

    #[error("cannot listen on {address}: {source}; choose an address of this machine with --listen")]
    Listen { address: SocketAddr, source: io::Error },

    #[error("cannot show metrics at {address}: {source}; choose another address with --metrics-listen")]
    Metrics { address: SocketAddr, source: io::Error },

    #[error("cannot start a thread or its runtime: {0}; try fewer with --threads")]
    Runtime(io::Error),

    #[error("cannot watch for SIGTERM and SIGINT: {0}")]
    Signals(io::Error),

    #[error("cannot print the ready line: {0}; keep standard output open")]
    Ready(io::Error),

    #[error("{}: {reason}; --tls-cert and --tls-key take PEM files that belong together", file.display())]
    Tls { file: PathBuf, reason: String },

    /// An error of this server's own preparation.
    #[error("{0}")]
    Own(String),

    #[error("stopped serving: {0}")]
    Serve(io::Error),
}

impl ServerError {
    pub(crate) fn tls(file: &Path, reason: impl Display) -> Self {
        Self::Tls {
            file: file.to_owned(),
            reason: reason.to_string(),
        }
    }

    pub(crate) fn listen(address: SocketAddr, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::AddrInUse {
            Self::AddressTaken { address }
        } else {
            Self::Listen { address, source }
        }
    }
}
