//! The `load` table of a scenario: checks which keys go together, and expands lists of numbers to several loads.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::load::{Amount, Load, LoadStage, MOST_REQUESTS, Rate, Search};
use crate::read::{DeclareError, Place};
use crate::span::Span;

/// The most connections × streams.
const MOST_WORKERS: u32 = 100_000;
/// The most loads that one table may make.
const MOST_POINTS: usize = 100;
/// The message for a load that does not have exactly one end.
const ONE_END: &str = "expected exactly one of requests, duration, starts, samples and stages";
/// The highest rate that a search may try.
const HIGHEST_RATE: u32 = 10_000_000;

/// A load as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoadTable {
    connections: Option<Listed>,
    streams: Option<Listed>,
    requests: Option<u64>,
    duration: Option<Span>,
    starts: Option<u32>,
    samples: Option<u32>,
    stages: Option<Vec<LoadStage>>,
    rate: Option<Rate>,
    pause: Option<Span>,
    search: Option<Search>,
    warmup: Option<Span>,
    timeout: Option<Span>,
}

/// One number, or a list to be expanded.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a whole number from 1, or a list of such numbers")]
enum Listed {
    One(u32),
    Each(Vec<u32>),
}

/// One load of a table.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) load: Load,
    /// Those of its numbers that the table lists, by key.
    listed: Vec<(&'static str, u32)>,
}

impl Point {
    /// What its scenario's name ends with: the numbers that were listed, as in `-c100-s10`.
    pub(super) fn suffix(&self) -> String {
        let parts = self.listed.iter();
        parts.map(|(key, number)| format!("-{}{number}", &key[..1])).collect()
    }

    /// The same as text; empty if no number was listed.
    pub(super) fn in_words(&self) -> String {
        let parts = self.listed.iter().map(|(key, number)| format!("{key}: {number}"));
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() {
            return String::new();
        }
        format!(" ({})", parts.join(", "))
    }
}

impl Listed {
    /// Its numbers, or the fault in them.
    fn numbers(&self) -> Result<&[u32], &'static str> {
        let numbers = match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Each(list) => list,
        };
        if numbers.is_empty() {
            return Err("expected at least one number");
        }
        if numbers.contains(&0) {
            return Err("expected numbers from 1");
        }
        if numbers.iter().collect::<BTreeSet<_>>().len() < numbers.len() {
            return Err("expected every number once");
        }
        Ok(numbers)
    }
}

impl LoadTable {
    /// The loads of the table: one for each combination of the numbers it lists.
    pub(super) fn check(self, place: &Place) -> Result<Vec<Point>, DeclareError> {
        let amount = self.amount().ok_or_else(|| place.wrong("load", ONE_END))?;
        self.check_keys(&amount, place)?;
        let most = match &amount {
            Amount::Stages(stages) => stages.iter().map(|stage| stage.connections).max(),
            Amount::Starts(_) | Amount::Samples(_) => Some(1),
            _ => None,
        };
        let numbers = |key: &str, listed: Option<Listed>| -> Result<Vec<u32>, DeclareError> {
            let key = format!("load.{key}");
            let listed =
                listed.ok_or_else(|| place.wrong(&key, "expected the number of connections to open, found nothing"))?;
            Ok(listed.numbers().map_err(|why| place.wrong(&key, why))?.to_vec())
        };
        let each_connections = numbers("connections", self.connections.clone().or(most.map(Listed::One)))?;
        let each_streams = numbers("streams", self.streams.clone().or(Some(Listed::One(1))))?;
        if each_connections.len() * each_streams.len() > MOST_POINTS {
            let message = format!("connections × streams list more than {MOST_POINTS} combinations");
            return Err(place.wrong("load", message));
        }
        let mut points = Vec::new();
        for connections in each_connections {
            for streams in each_streams.iter().copied() {
                let load = Load {
                    connections,
                    streams,
                    amount: amount.clone(),
                    rate: self.rate,
                    warmup: self.warmup,
                    timeout: self.timeout,
                    pause: self.pause,
                    search: self.search,
                };
                check_workers(&load, place)?;
                let keys = [
                    ("connections", connections, &self.connections),
                    ("streams", streams, &self.streams),
                ];
                let listed = keys.into_iter().filter(|key| matches!(key.2, Some(Listed::Each(_))));
                let listed = listed.map(|(key, number, _)| (key, number)).collect();
                points.push(Point { load, listed });
            }
        }
        Ok(points)
    }

    /// The end of the load; `None` without exactly one.
    fn amount(&self) -> Option<Amount> {
        let ends = [
            self.requests.map(Amount::Requests),
            self.duration.map(Amount::Duration),
            self.starts.map(Amount::Starts),
            self.samples.map(Amount::Samples),
            self.stages.clone().map(Amount::Stages),
        ];
        let mut ends = ends.into_iter().flatten();
        ends.next().filter(|_| ends.next().is_none())
    }

    /// Impossible ends, and keys that do not go together.
    fn check_keys(&self, amount: &Amount, place: &Place) -> Result<(), DeclareError> {
        let open = self.rate.is_some() || self.search.is_some();
        let over = self.connections.is_some() || self.streams.is_some();
        let loads = over || open || self.pause.is_some();
        let (key, message) = match amount {
            Amount::Requests(requests) if *requests > MOST_REQUESTS => (
                "load.requests",
                "expected 1,000,000 at most: load generators keep no more latencies",
            ),
            Amount::Starts(starts) if !(2..=1000).contains(starts) => {
                ("load.starts", "expected 2 to 1,000 process starts")
            }
            Amount::Samples(samples) if !(10..=1000).contains(samples) => {
                ("load.samples", "expected 10 to 1,000 samples")
            }
            Amount::Stages(stages) if stages.iter().all(|stage| stage.connections == 0) => (
                "load.stages",
                "expected at least one stage that ends with connections, such as { connections = 100, duration = \"30s\" }",
            ),
            Amount::Starts(_) if loads => (
                "load",
                "starts counts process starts; connections, streams, rate, search and pause do not go with it",
            ),
            Amount::Samples(_) if loads || self.warmup.is_some() => (
                "load",
                "samples counts those of a benchmark; connections, streams, rate, search, pause and warmup do not go with it",
            ),
            Amount::Stages(_) if over || open => (
                "load",
                "each stage says its connections; connections, streams, rate and search do not go with stages",
            ),
            _ if self.pause.is_some() && open => (
                "load.pause",
                "with rate or search the rate says when requests start; leave pause out",
            ),
            _ => match (self.rate, self.search) {
                (Some(_), Some(_)) => ("load", "search finds the rate; expected only one of rate and search"),
                (Some(Rate::PerSecond(0)), _) => ("load.rate", "expected a rate from 1 request per second"),
                (Some(Rate::OfCapacity(share)), _) if !(share.percent() > 0.0 && share.percent() <= 100.0) => {
                    ("load.rate", "expected a share above 0% and up to 100% of the capacity")
                }
                (_, Some(_)) if self.duration.is_none() => (
                    "load.search",
                    "expected duration beside it: how long each step of the search lasts",
                ),
                (_, Some(Search { from, to, .. })) if from == 0 || from >= to || to > HIGHEST_RATE => {
                    ("load.search", "expected 1 ≤ from < to ≤ 10,000,000 requests per second")
                }
                _ => return Ok(()),
            },
        };
        Err(place.wrong(key, message))
    }
}

/// Checks connections, streams and requests against each other.
fn check_workers(load: &Load, place: &Place) -> Result<(), DeclareError> {
    let workers = load.connections.checked_mul(load.streams);
    let Some(workers) = workers.filter(|count| *count <= MOST_WORKERS) else {
        return Err(place.wrong("load", "connections × streams may be 100,000 at most"));
    };
    match load.amount {
        Amount::Requests(requests) if requests == 0 || !requests.is_multiple_of(u64::from(workers)) => {
            let hint = "expected a multiple of connections × streams, so that every worker sends the same number";
            Err(place.wrong("load.requests", format!("{hint} ({workers} workers)")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::read::toml_text;

    fn points(text: &str) -> Result<Vec<Point>, DeclareError> {
        let file = Path::new("scenarios/x.toml");
        toml_text::<LoadTable>(text, file)?.check(&Place::file(file))
    }

    #[track_caller]
    fn names(text: &str) -> Vec<String> {
        points(text).unwrap().iter().map(Point::suffix).collect()
    }

    #[test]
    fn only_numbers_that_are_listed_are_in_the_names() {
        assert_eq!(names("connections = 10\nduration = \"1s\""), [""]);
        assert_eq!(names("connections = [10, 1000]\nduration = \"1s\""), ["-c10", "-c1000"]);
        assert_eq!(names("connections = 2\nstreams = [1]\nduration = \"1s\""), ["-s1"]);
        let both = names("connections = [1, 2]\nstreams = [5, 7]\nrequests = 70");
        assert_eq!(both, ["-c1-s5", "-c1-s7", "-c2-s5", "-c2-s7"]);
    }

    #[test]
    fn the_connections_of_stages_are_the_most_of_any() {
        let found = points(
            "pause = \"100ms\"\nstages = [{ connections = 7, duration = \"1s\" }, { connections = 0, duration = \"1s\" }]",
        );
        let load = &found.unwrap()[0].load;
        assert_eq!((load.connections, load.streams, load.has_stages()), (7, 1, true));
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_key() {
        let lasting = "connections = 2\nduration = \"1s\"\n";
        let stages = "stages = [{ connections = 7, duration = \"1s\" }]\n";
        for (text, part) in [
            (format!("{lasting}requests = 2"), "load: expected exactly one of"),
            (format!("{lasting}{stages}"), "load: expected exactly one of"),
            ("stages = []".into(), "load.stages: expected at least one stage"),
            (
                "stages = [{ connections = 0, duration = \"1s\" }]".into(),
                "load.stages: expected at least one stage",
            ),
            ("stages = [{ connections = 1 }]".into(), "missing field `duration`"),
            (
                format!("{stages}connections = 3"),
                "load: each stage says its connections",
            ),
            (format!("{stages}rate = 3"), "load: each stage says its connections"),
            (format!("{lasting}rate = 0"), "load.rate: expected a rate from 1"),
            (
                format!("{lasting}rate = \"0%\""),
                "load.rate: expected a share above 0%",
            ),
            (
                format!("{lasting}rate = \"101%\""),
                "load.rate: expected a share above 0%",
            ),
            (
                format!("{lasting}rate = \"70\""),
                "a share of the capacity such as \"70%\"",
            ),
            (format!("{lasting}rate = 5\npause = \"1s\""), "load.pause"),
            (
                format!("{lasting}rate = 5\nsearch = {{ p99 = \"5ms\", from = 1, to = 2 }}"),
                "only one of rate and search",
            ),
            (
                "connections = 2\nrequests = 2\nsearch = { p99 = \"5ms\", from = 1, to = 2 }".into(),
                "load.search: expected duration",
            ),
            (
                format!("{lasting}search = {{ p99 = \"5ms\", from = 2, to = 2 }}"),
                "load.search: expected 1 ≤ from < to",
            ),
            (
                format!("{lasting}search = {{ p99 = \"5ms\", from = 0, to = 2 }}"),
                "load.search: expected 1 ≤ from < to",
            ),
            (
                format!("{lasting}search = {{ p99 = 5, from = 1, to = 2 }}"),
                "search.p99: ",
            ),
            (
                "starts = 5\npause = \"1s\"".into(),
                "load: starts counts process starts",
            ),
            ("samples = 9".into(), "load.samples: expected 10 to 1,000"),
            ("samples = 1001".into(), "load.samples: expected 10 to 1,000"),
            ("samples = 10\nstarts = 5".into(), "load: expected exactly one of"),
            (format!("{lasting}samples = 10"), "load: expected exactly one of"),
            (
                "samples = 10\nwarmup = \"1s\"".into(),
                "load: samples counts those of a benchmark",
            ),
            (
                "connections = []\nrequests = 2".into(),
                "load.connections: expected at least one number",
            ),
            (
                "connections = [2, 2]\nrequests = 2".into(),
                "load.connections: expected every number once",
            ),
            (
                "connections = [0]\nrequests = 2".into(),
                "load.connections: expected numbers from 1",
            ),
            (
                "connections = [2, 3]\nrequests = 2".into(),
                "load.requests: expected a multiple",
            ),
            (
                "connections = \"2\"\nrequests = 2".into(),
                "connections: expected a whole number from 1, or a list",
            ),
            (
                "connections = [400, 5]\nstreams = [1, 400]\nduration = \"1s\"".into(),
                "load: connections × streams may be",
            ),
        ] {
            let error = points(&text).expect_err(&text).to_string();
            assert!(error.contains(part), "{text}\n→ {error}");
        }
    }
}
