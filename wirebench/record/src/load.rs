//! The load of a series in the record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::round::Bound;

/// The load of a series, after the profile's caps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadRecord {
    /// Connections opened, of stages the most of any; null for process starts and benchmarks.
    pub connections: Option<u32>,
    /// Requests in flight at once on each connection; null for process starts and benchmarks.
    pub streams: Option<u32>,
    /// Requests in a round, when counted.
    pub requests: Option<u64>,
    /// Length of a round, when timed; of each step, where a rate is searched.
    pub duration_ns: Option<u64>,
    /// Process starts in a round.
    pub starts: Option<u32>,
    /// Samples of a benchmark in a round, each the mean time of many iterations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// Requests of the longest counted server run; null for timed series.
    #[serde(default)]
    pub counted: Option<u64>,
    /// Requests per second offered (open loop); null in a closed loop, where a rate is searched, and for a share of a
    /// capacity that could not be measured.
    pub rate_per_s: Option<u32>,
    /// Warm-up before each round, thrown away.
    pub warmup_ns: Option<u64>,
    /// Requests that each fresh server gets after `warmup_ns` and before the round, until CPU time per request no longer falls:
    /// measured before the first round, and the same on all sides; null where `warmup_ns` is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_requests: Option<u64>,
    /// Length of the later rounds where earlier ones of `duration_ns` had too few good answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengthened_to_ns: Option<u64>,
    /// The share of the capacity that the rate is, in thousandths; null for a rate that was declared as a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_permille: Option<u32>,
    /// Good answers per second that the same connections achieved in a closed loop just before the first round; of several
    /// variants the fewest, so that all are offered the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_per_s: Option<u32>,
    /// Which side held that throughput back; only `server` makes it the server's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bound: Option<Bound>,
    /// Stages of a round, one after the other; empty where the connections do not change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageRecord>,
    /// How long a worker waits after each answer before it asks again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_ns: Option<u64>,
    /// The objective of a search for a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRecord>,
}

/// One stage of a load: the connections go from where they stand to this number in this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageRecord {
    /// Connections at its end.
    pub connections: u32,
    /// How long it takes.
    pub duration_ns: u64,
}

/// What a search looked for: the highest rate whose p99 stays within a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRecord {
    /// The p99 latency that must not be exceeded.
    pub p99_ns: u64,
    /// The lowest rate tried.
    pub from_per_s: u32,
    /// The highest rate tried.
    pub to_per_s: u32,
}

impl LoadRecord {
    /// The load as declared, without measured values: the same on every server and machine.
    pub fn as_declared(&self) -> Self {
        Self {
            rate_per_s: self.rate_per_s.filter(|_| self.rate_permille.is_none()),
            capacity_per_s: None,
            capacity_bound: None,
            warmup_requests: None,
            lengthened_to_ns: None,
            ..self.clone()
        }
    }
}
