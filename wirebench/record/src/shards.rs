//! One measurement on several machines at once: `wirebench.shards/v1`, the plan that assigns series to machines, and
//! the facts kept of each part after they are joined into one run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::run::{Host, Pinning, RunStatus, Spent, ToolVersion};

/// The schema's name, the value of [`ShardPlan::schema`].
pub const SCHEMA: &str = "wirebench.shards/v1";

/// Which shard measures which series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShardPlan {
    /// Always `wirebench.shards/v1`.
    pub schema: String,
    /// The profile it was made for.
    #[serde(deserialize_with = "names::profile")]
    pub profile: String,
    /// The shards, numbered from 1 in this order. Each series is in exactly one.
    pub shards: Vec<PlannedShard>,
}

/// What one machine measures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlannedShard {
    /// From 1.
    pub number: u32,
    /// How long measuring and counting is expected to take, ns; builds and a second stage are not in it.
    pub expected_ns: u64,
    /// Ids of its series, in the order of a whole run.
    #[serde(deserialize_with = "names::all_series")]
    pub series: Vec<String>,
}

/// A run that was joined with others into one: what may differ between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Id of the run as it was measured.
    #[serde(deserialize_with = "names::run")]
    pub run: String,
    /// Whether it ran to its end.
    pub status: RunStatus,
    /// Why it is not complete, in one sentence.
    pub reason: Option<String>,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC.
    pub finished_at: String,
    /// Wall time, ns, by part of the run.
    pub spent: Spent,
    /// The seed of the order of rounds.
    pub seed: u64,
    /// The machine.
    pub host: Host,
    /// Which cores the server and the driver ran on.
    pub pinning: Pinning,
    /// Every program used, with its version.
    pub tools: Vec<ToolVersion>,
    /// Ids of the series measured there, in the order of the run.
    #[serde(deserialize_with = "names::all_series")]
    pub series: Vec<String>,
}

impl ShardPlan {
    /// The number of the shard that measures a series.
    #[must_use]
    pub fn shard_of(&self, series: &str) -> Option<u32> {
        let mut shards = self.shards.iter();
        let found = shards.find(|shard| shard.series.iter().any(|id| id == series));
        found.map(|shard| shard.number)
    }

    /// Every series of it.
    pub fn series(&self) -> impl Iterator<Item = &str> {
        self.shards.iter().flat_map(|shard| &shard.series).map(String::as_str)
    }
}
