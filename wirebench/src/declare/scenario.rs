//! A scenario: what is asked, how much of it, and over how many connections.

use serde::{Deserialize, Serialize};

use crate::declare::profiles::Profiles;
use crate::declare::protocol::Protocol;
use crate::declare::read::{DeclareError, Place};
use crate::declare::span::Span;

/// The most requests one driver run may send: beyond it hey and ghz stop keeping latencies.
pub const MOST_REQUESTS: u64 = 1_000_000;

/// Work offered to a server, as one file under `scenarios/` or `[scenarios.<name>]` of `wirebench.toml` declares it.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The file's name without its ending, or the table's.
    pub name: String,
    /// One line for people.
    pub about: String,
    /// The profiles it takes part in.
    pub profiles: Profiles,
    /// The operation asked for; each server says how it is asked.
    pub operation: String,
    /// How much is asked, and how.
    pub load: Load,
    /// The protocols it is meant for; none named means every one that fits the load.
    pub protocols: Option<Vec<Protocol>>,
}

/// How much work is offered, and over what.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Load {
    /// Connections opened.
    pub connections: u32,
    /// Requests in flight at once on each connection.
    pub streams: u32,
    /// When the load ends.
    #[serde(flatten)]
    pub amount: Amount,
    /// Requests per second offered whatever the answers do (open loop); none means each worker waits for its answer.
    pub rate: Option<u32>,
    /// The same load for this long first, thrown away.
    pub warmup: Option<Span>,
    /// How long one driver run may take before it is stopped; derived from the load when none is given.
    pub timeout: Option<Span>,
}

/// When a load ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Amount {
    /// After this many requests.
    Requests(u64),
    /// After this much time.
    Duration(Span),
    /// After this many process starts.
    Starts(u32),
    /// Not timed at all: the server is run several times, for few and for many requests, and what they cost is counted.
    Counted {
        /// Requests of the shorter runs.
        few: u64,
        /// Requests of the longer runs.
        many: u64,
    },
}

impl Load {
    /// Requests in flight at once over all connections.
    #[must_use]
    pub const fn workers(&self) -> u32 {
        self.connections * self.streams
    }

    /// Whether its cost is counted instead of timed.
    #[must_use]
    pub const fn is_counted(&self) -> bool {
        matches!(self.amount, Amount::Counted { .. })
    }
}

/// A scenario as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    about: String,
    #[serde(default)]
    profiles: Profiles,
    operation: String,
    load: LoadTable,
    protocols: Option<Vec<Protocol>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadTable {
    connections: Option<u32>,
    streams: Option<u32>,
    requests: Option<u64>,
    duration: Option<Span>,
    starts: Option<u32>,
    rate: Option<u32>,
    warmup: Option<Span>,
    timeout: Option<Span>,
}

impl Scenario {
    /// Checks what is written at a place.
    ///
    /// # Errors
    /// When it says something impossible.
    pub(super) fn check(table: Table, place: &Place, name: String) -> Result<Self, DeclareError> {
        let Table {
            about,
            profiles,
            operation,
            load,
            protocols,
        } = table;
        Ok(Self {
            name,
            about,
            profiles,
            operation,
            load: load.check(place)?,
            protocols,
        })
    }
}

impl LoadTable {
    fn check(self, place: &Place) -> Result<Load, DeclareError> {
        let wrong = |key: &str, message: &str| Err(place.wrong(key, message));
        let amount = match (self.requests, self.duration, self.starts) {
            (Some(requests), None, None) => Amount::Requests(requests),
            (None, Some(duration), None) => Amount::Duration(duration),
            (None, None, Some(starts)) => Amount::Starts(starts),
            _ => return wrong("load", "expected exactly one of requests, duration and starts"),
        };
        if let Amount::Starts(starts) = amount {
            if self.connections.is_some() || self.streams.is_some() || self.rate.is_some() {
                return wrong(
                    "load",
                    "starts counts process starts; connections, streams and rate do not go with it",
                );
            }
            if !(2..=1000).contains(&starts) {
                return wrong("load.starts", "expected 2 to 1,000 process starts");
            }
        } else if self.connections.is_none() {
            return wrong(
                "load.connections",
                "expected the number of connections to open, found nothing",
            );
        }
        let load = Load {
            connections: self.connections.unwrap_or(1),
            streams: self.streams.unwrap_or(1),
            amount,
            rate: self.rate,
            warmup: self.warmup,
            timeout: self.timeout,
        };
        if load.connections == 0 || load.streams == 0 || self.rate == Some(0) {
            return wrong("load", "connections, streams and rate start at 1");
        }
        let Some(workers) = load
            .connections
            .checked_mul(load.streams)
            .filter(|count| *count <= 100_000)
        else {
            return wrong("load", "connections × streams may be 100,000 at most");
        };
        if let Amount::Requests(requests) = amount {
            if requests > MOST_REQUESTS {
                return wrong(
                    "load.requests",
                    "expected 1,000,000 at most: load generators keep no more latencies",
                );
            }
            if requests == 0 || !requests.is_multiple_of(u64::from(workers)) {
                let hint = "expected a multiple of connections × streams, so that every worker sends the same number";
                return wrong("load.requests", hint);
            }
        }
        Ok(load)
    }
}
