//! Counting: what `[count]` of `wirebench.toml` says, and the scenarios that come of it.

use std::collections::BTreeSet;

use globset::Glob;
use serde::Deserialize;

use crate::declare::percent::Percent;
use crate::declare::scenario::{Amount, Load, Scenario};
use crate::declare::server::Server;

/// What the name of every counted scenario begins with; the operation's name follows.
pub const PREFIX: &str = "count-";

/// `[count]` of `wirebench.toml`; every key has a default.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Count {
    /// Whether a run counts at all.
    pub enabled: bool,
    /// Globs over the names of drivers that may drive a counted server; each gives series of its own.
    pub drivers: Vec<String>,
    /// Requests of the shorter and of the longer server run; the cost of a request is the slope between them.
    pub requests: (u64, u64),
    /// The largest spread over repetitions with which a figure is given.
    pub spread_at_most: Percent,
}

impl Default for Count {
    fn default() -> Self {
        Self {
            enabled: true,
            drivers: vec!["*".into()],
            requests: (100, 400),
            spread_at_most: Percent::of(0.5),
        }
    }
}

impl Count {
    /// What is wrong with it: the key within `[count]`, and why.
    #[must_use]
    pub fn fault(&self) -> Option<(&'static str, String)> {
        let (few, many) = self.requests;
        if few < 10 || many < few + 100 || many > 100_000 {
            let message = format!("expected two numbers from 10 to 100000, at least 100 apart, found [{few}, {many}]");
            return Some(("requests", message));
        }
        if self.drivers.is_empty() {
            return Some(("drivers", "expected at least one glob, such as \"*\"".into()));
        }
        let not_a_glob = self
            .drivers
            .iter()
            .find_map(|text| Some((text, Glob::new(text).err()?)));
        not_a_glob.map(|(text, error)| ("drivers", format!("\"{text}\" is not a glob: {error}")))
    }

    /// One scenario for each operation that a server declares; none when counting is off.
    #[must_use]
    pub fn scenarios(&self, servers: &[Server]) -> Vec<Scenario> {
        let operations: BTreeSet<&String> = servers.iter().flat_map(|server| server.operations.keys()).collect();
        let scenario = |operation: &&String| Scenario {
            name: format!("{PREFIX}{operation}"),
            about: format!("what one {operation} request costs, counted"),
            operation: (*operation).clone(),
            load: Load {
                connections: 1,
                streams: 1,
                amount: Amount::Counted {
                    few: self.requests.0,
                    many: self.requests.1,
                },
                rate: None,
                warmup: None,
                timeout: None,
            },
            protocols: None,
        };
        operations.iter().filter(|_| self.enabled).map(scenario).collect()
    }
}
