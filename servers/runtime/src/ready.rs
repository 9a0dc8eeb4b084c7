//! The ready line: the one thing a server says on standard output.

use std::io::{self, Write};
use std::net::SocketAddr;

use crate::error::ServerError;

/// Tells whoever started the server that it accepts connections, and where.
pub(crate) fn announce(address: SocketAddr) -> Result<(), ServerError> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "ready {address}")
        .and_then(|()| stdout.flush())
        .map_err(ServerError::Ready)
}
