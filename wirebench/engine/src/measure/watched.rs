//! What processes use, on this machine or on another host.

use std::collections::HashSet;

use crate::measure::remote::process::Readings;
use crate::measure::usage::{self, CpuUsed};

/// The processes of one or more groups on one machine.
#[derive(Debug)]
pub enum Watched {
    /// On this machine.
    Here(usage::Watched),
    /// On another host.
    There(Readings),
}

impl Watched {
    /// No processes.
    #[must_use]
    pub fn nothing() -> Self {
        Self::Here(usage::Watched::groups(&[]))
    }

    /// Whether they are on this machine, so that its kernel knows their connections.
    #[must_use]
    pub const fn is_here(&self) -> bool {
        matches!(self, Self::Here(_))
    }

    /// CPU time so far of the processes that were found at the beginning; `None` if it cannot be read. Threads that have
    /// ended are included.
    #[must_use]
    pub fn cpu(&self) -> Option<CpuUsed> {
        match self {
            Self::Here(watched) => watched.cpu(),
            Self::There(readings) => readings.cpu(),
        }
    }

    /// The same, with processes that joined the groups since.
    #[must_use]
    pub fn cpu_with_new_processes(&self) -> Option<CpuUsed> {
        match self {
            Self::Here(watched) => watched.cpu_with_new_processes(),
            Self::There(readings) => readings.cpu_with_new_processes(),
        }
    }

    /// Inodes of the open sockets; `None` if they cannot be read.
    #[must_use]
    pub fn sockets(&self) -> Option<HashSet<u64>> {
        match self {
            Self::Here(watched) => watched.sockets(),
            Self::There(readings) => readings.sockets(),
        }
    }

    /// Largest resident memory so far, bytes, summed over the processes.
    #[must_use]
    pub fn peak_rss_bytes(&self) -> Option<u64> {
        match self {
            Self::Here(watched) => watched.peak_rss_bytes(),
            Self::There(readings) => readings.peak_rss_bytes(),
        }
    }

    /// Resident memory now, bytes, summed over the processes.
    #[must_use]
    pub fn rss_bytes(&self) -> Option<u64> {
        match self {
            Self::Here(watched) => watched.rss_bytes(),
            Self::There(readings) => readings.rss_bytes(),
        }
    }
}
