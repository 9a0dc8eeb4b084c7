//! The ready line: the only line a server prints on standard output.

use std::io::{self, Write};
use std::net::SocketAddr;

use crate::error::ServerError;

/// Prints that the server accepts connections, and its address.
pub(crate) fn announce(address: SocketAddr) -> Result<(), ServerError> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "ready {address}")
        .and_then(|()| stdout.flush())
        .map_err(ServerError::Ready)
}
