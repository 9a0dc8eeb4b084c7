//! A load: the amount of requests, the connections, and what decides when the next request starts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::percent::Percent;
use crate::span::Span;

/// The most requests one driver run may send: beyond it hey and ghz stop keeping latencies.
pub const MOST_REQUESTS: u64 = 1_000_000;

/// The amount of work offered, and the connections.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Load {
    /// Connections opened; with load stages, the most of any.
    pub connections: u32,
    /// Requests in flight at once on each connection.
    pub streams: u32,
    /// When the load ends.
    #[serde(flatten)]
    pub amount: Amount,
    /// The rate offered (open loop); `None` means a closed loop.
    pub rate: Option<Rate>,
    /// The length of the warm-up: the same load, whose results are discarded.
    pub warmup: Option<Span>,
    /// How long one driver run may take before it is stopped; derived from the load if `None`.
    pub timeout: Option<Span>,
    /// How long a worker waits after each response before its next request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<Span>,
    /// The search for the highest rate that keeps an objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
}

/// When a load ends.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Amount {
    /// After this many requests.
    Requests(u64),
    /// After this much time.
    Duration(Span),
    /// After this many process starts.
    Starts(u32),
    /// Counting instead of timing: several server runs, with few and with many requests.
    Counted {
        /// Requests of the shorter runs.
        few: u64,
        /// Requests of the longer runs.
        many: u64,
    },
    /// After this many samples of a benchmark, each the mean time of many iterations.
    Samples(u32),
    /// After the last of several stages, between which the number of connections changes.
    Stages(Vec<LoadStage>),
}

/// One load stage: the number of connections changes evenly to this number in this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadStage {
    /// Connections at its end.
    pub connections: u32,
    /// How long it takes.
    pub duration: Span,
}

/// Requests offered per second over all connections.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected requests per second such as 2000, or a share of the capacity such as \"70%\""
)]
pub enum Rate {
    /// As many as this.
    PerSecond(u32),
    /// This share of the capacity: the rate that the same connections achieve in a closed loop just before.
    OfCapacity(Percent),
}

/// The objective of a search, and where it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The p99 latency that must not be exceeded.
    pub p99: Span,
    /// The lowest rate tried, requests/s.
    pub from: u32,
    /// The highest rate tried, requests/s.
    pub to: u32,
}

impl Load {
    /// Requests in flight at once over all connections.
    pub const fn workers(&self) -> u32 {
        self.connections * self.streams
    }

    /// A closed loop of one request at a time on each connection, without a warm-up.
    pub const fn closed(connections: u32, amount: Amount) -> Self {
        Self {
            connections,
            streams: 1,
            amount,
            rate: None,
            warmup: None,
            timeout: None,
            pause: None,
            search: None,
        }
    }

    /// True if the load is for counting.
    pub const fn is_counted(&self) -> bool {
        matches!(self.amount, Amount::Counted { .. })
    }

    /// True if no server runs during the load: process starts and benchmarks.
    pub const fn is_without_server(&self) -> bool {
        matches!(self.amount, Amount::Starts(_) | Amount::Samples(_))
    }

    /// True for an open loop.
    pub const fn is_open(&self) -> bool {
        self.rate.is_some() || self.search.is_some()
    }

    /// True with load stages or a pause.
    pub const fn has_stages(&self) -> bool {
        matches!(self.amount, Amount::Stages(_))
    }

    /// The same load at a fixed rate: for a search step, and for a share of the capacity.
    pub fn at(&self, per_second: u32) -> Self {
        Self {
            rate: Some(Rate::PerSecond(per_second)),
            search: None,
            ..self.clone()
        }
    }

    /// The closed loop over the same connections that measures the capacity.
    pub fn for_capacity(&self) -> Self {
        /// Long enough for a stable mean of a warm server.
        const LENGTH: Span = Span(Duration::from_secs(3));
        let length = match self.amount {
            Amount::Duration(span) => span.min(LENGTH),
            _ => LENGTH,
        };
        Self {
            amount: Amount::Duration(length),
            rate: None,
            search: None,
            ..self.clone()
        }
    }
}

/// The total length of all load stages.
pub fn total(stages: &[LoadStage]) -> Duration {
    stages.iter().map(|stage| stage.duration.0).sum()
}

/// Load stages in the form for drivers: `30s:100,60s:500`.
pub fn as_flag(stages: &[LoadStage]) -> String {
    let one = |stage: &LoadStage| format!("{}:{}", stage.duration.as_flag(), stage.connections);
    stages.iter().map(one).collect::<Vec<_>>().join(",")
}

/// Load stages shortened to this total length: each by the same share, to 1 ms at least.
pub fn cut(stages: &[LoadStage], at_most: Option<Span>) -> Vec<LoadStage> {
    let whole = total(stages);
    let Some(Span(cap)) = at_most.filter(|cap| cap.0 < whole) else {
        return stages.to_vec();
    };
    let part = |stage: &LoadStage| {
        let millis = stage.duration.0.as_millis() * cap.as_millis() / whole.as_millis().max(1);
        let millis = u64::try_from(millis).unwrap_or(u64::MAX).max(1);
        LoadStage {
            duration: Span(Duration::from_millis(millis)),
            ..*stage
        }
    };
    stages.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages() -> Vec<LoadStage> {
        let stage = |connections, seconds| LoadStage {
            connections,
            duration: Span(Duration::from_secs(seconds)),
        };
        vec![stage(100, 30), stage(500, 60), stage(0, 30)]
    }

    #[test]
    fn stages_are_told_as_time_and_connections_and_cut_by_one_share() {
        assert_eq!(as_flag(&stages()), "30s:100,60s:500,30s:0");
        let cap = |seconds| Some(Span(Duration::from_secs(seconds)));
        assert_eq!(as_flag(&cut(&stages(), cap(12))), "3s:100,6s:500,3s:0");
        assert_eq!(as_flag(&cut(&stages(), cap(1))), "250ms:100,500ms:500,250ms:0");
        assert_eq!(cut(&stages(), cap(120)), stages());
        assert_eq!(cut(&stages(), None), stages());
    }

    #[test]
    fn a_load_is_written_as_it_was_before_there_were_more_kinds() {
        let load = Load::closed(2, Amount::Requests(10)).at(5);
        let text = serde_json::to_string(&load).unwrap();
        let before = r#"{"connections":2,"streams":1,"requests":10,"rate":5,"warmup":null,"timeout":null}"#;
        assert_eq!(text, before);
        let share = Rate::OfCapacity("70%".parse().unwrap());
        assert_eq!(serde_json::to_string(&share).unwrap(), "\"70%\"");
    }
}
