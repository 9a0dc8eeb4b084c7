//! A load: how much is asked, over what, and what decides when the next request starts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::percent::Percent;
use crate::span::Span;

/// The most requests one driver run may send: beyond it hey and ghz stop keeping latencies.
pub const MOST_REQUESTS: u64 = 1_000_000;

/// How much work is offered, and over what.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Load {
    /// Connections opened; of stages, the most of any.
    pub connections: u32,
    /// Requests in flight at once on each connection.
    pub streams: u32,
    /// When the load ends.
    #[serde(flatten)]
    pub amount: Amount,
    /// What is offered whatever the answers do (open loop); none means each worker waits for its answer.
    pub rate: Option<Rate>,
    /// The same load for this long first, thrown away.
    pub warmup: Option<Span>,
    /// How long one driver run may take before it is stopped; derived from the load when none is given.
    pub timeout: Option<Span>,
    /// How long a worker waits after each answer before it asks again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<Span>,
    /// Which rate is looked for: the highest at which an objective holds.
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
    /// Not timed at all: the server is run several times, for few and for many requests, and what they cost is counted.
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

/// One stage of a load: the connections go from where they stand to this number in this time.
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
    /// This share of what the same connections achieve in a closed loop just before.
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
    #[must_use]
    pub const fn workers(&self) -> u32 {
        self.connections * self.streams
    }

    /// A closed loop of one request at a time on each connection, without a warm-up.
    #[must_use]
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

    /// Whether its cost is counted instead of timed.
    #[must_use]
    pub const fn is_counted(&self) -> bool {
        matches!(self.amount, Amount::Counted { .. })
    }

    /// Whether drivers do without a server that runs meanwhile: process starts and benchmarks.
    #[must_use]
    pub const fn is_without_server(&self) -> bool {
        matches!(self.amount, Amount::Starts(_) | Amount::Samples(_))
    }

    /// Whether requests start at a rate of their own, whatever the answers do.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.rate.is_some() || self.search.is_some()
    }

    /// Whether connections or workers do something else than ask all the time.
    #[must_use]
    pub const fn has_stages(&self) -> bool {
        matches!(self.amount, Amount::Stages(_))
    }

    /// The same at a fixed rate for as long, as a step of a search and a rate of a share of the capacity ask it.
    #[must_use]
    pub fn at(&self, per_second: u32) -> Self {
        Self {
            rate: Some(Rate::PerSecond(per_second)),
            search: None,
            ..self.clone()
        }
    }

    /// The closed loop over the same connections whose throughput is the capacity.
    #[must_use]
    pub fn for_capacity(&self) -> Self {
        /// Long enough for the mean of a server that is warm.
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

/// How long all stages of a load take.
#[must_use]
pub fn total(stages: &[LoadStage]) -> Duration {
    stages.iter().map(|stage| stage.duration.0).sum()
}

/// Stages as drivers are told them: `30s:100,60s:500`.
#[must_use]
pub fn as_flag(stages: &[LoadStage]) -> String {
    let one = |stage: &LoadStage| format!("{}:{}", stage.duration.as_flag(), stage.connections);
    stages.iter().map(one).collect::<Vec<_>>().join(",")
}

/// Stages cut so that they take no longer than this in all: each by the same share, and 1 ms at least.
#[must_use]
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
