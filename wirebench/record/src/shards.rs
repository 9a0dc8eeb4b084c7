//! One measurement on several machines at once: `wirebench.shards/v1`, the plan that assigns series to machines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;

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

impl ShardPlan {
    /// The number of the shard that measures a series.
    #[must_use]
    pub fn shard_of(&self, series: &str) -> Option<u32> {
        let mut shards = self.shards.iter();
        let found = shards.find(|shard| shard.series.iter().any(|id| id == series));
        found.map(|shard| shard.number)
    }

    /// Its series.
    pub fn series(&self) -> impl Iterator<Item = &str> {
        self.shards.iter().flat_map(|shard| &shard.series).map(String::as_str)
    }
}
