//! Where a program listens, which is not known on systems without /proc.

use std::net::SocketAddr;

/// Unknown.
pub fn of(_group: i32) -> Vec<SocketAddr> {
    Vec::new()
}

/// Unknown.
pub fn backlog(_port: u16) -> Option<u32> {
    None
}

/// Unknown.
pub fn only_unix(_group: i32) -> Option<String> {
    None
}

/// No processes.
#[derive(Debug)]
pub struct Tree;

impl Tree {
    /// Finds nothing.
    pub fn of(_group: i32) -> Self {
        Self
    }

    /// Kills nothing.
    pub fn kill(self) {}
}
