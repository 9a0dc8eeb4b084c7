//! Counting: `[count]` of `wirebench.toml`, and the scenarios made from it.

use std::collections::BTreeSet;

use globset::Glob;
use serde::Deserialize;
use wirebench_record::limit::Limit;

use crate::percent::Percent;
use crate::plan::only;
use crate::profiles::Profiles;
use crate::read::{DeclareError, Place};
use crate::scenario::{Amount, Load, Scenario};
use crate::server::Server;

/// The prefix of the name of every counted scenario; the operation's name follows.
pub const PREFIX: &str = "count-";

/// `[count]` of `wirebench.toml`; every key has a default.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Count {
    /// Whether a run counts at all.
    pub enabled: bool,
    /// Globs over the names of drivers that may drive a counted server; each gives series of its own.
    pub drivers: Vec<String>,
    /// Globs over the names of operations that are counted.
    pub operations: Vec<String>,
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
            operations: vec!["*".into()],
            requests: (100, 400),
            spread_at_most: Percent::of(0.5),
        }
    }
}

impl Count {
    /// Checks the table at a place.
    pub(super) fn check(&self, place: &Place) -> Result<(), DeclareError> {
        let (few, many) = self.requests;
        let message = format!("expected two numbers from 10 to 100000, at least 100 apart, found [{few}, {many}]");
        place.refuse_if(few < 10 || many < few + 100 || many > 100_000, "requests", message)?;
        for (key, globs) in [("drivers", &self.drivers), ("operations", &self.operations)] {
            place.refuse_if(globs.is_empty(), key, "expected at least one glob, such as \"*\"")?;
            for text in globs {
                let wrong = |error| place.wrong(key, format!("\"{text}\" is not a glob: {error}"));
                Glob::new(text).map_err(wrong)?;
            }
        }
        Ok(())
    }

    /// The message for a glob that matches no declared operation; `None` if each matches one.
    pub fn names_no_operation(&self, servers: &[Server]) -> Option<String> {
        let operations = operations(servers);
        let empty = |text: &&String| {
            let fits = only(std::slice::from_ref(*text));
            text.as_str() != "*" && !operations.iter().any(|operation| fits.is_match(operation))
        };
        let text = self.operations.iter().find(empty)?;
        let known: Vec<&str> = operations.into_iter().map(String::as_str).collect();
        let known = known.join(", ");
        Some(format!(
            "\"{text}\" matches no operation of a server; there are {known}"
        ))
    }

    /// One scenario for each declared operation that is counted, with the limits on counts that `scenarios` set for it;
    /// empty if counting is off.
    pub fn scenarios(&self, servers: &[Server], scenarios: &[Scenario]) -> Vec<Scenario> {
        let wanted = only(&self.operations);
        let counted = |operation: &&&String| self.enabled && wanted.is_match(operation);
        let (few, many) = self.requests;
        let scenario = |operation: &&String| Scenario {
            name: format!("{PREFIX}{operation}"),
            about: format!("what one {operation} request costs, counted"),
            profiles: Profiles::default(),
            whole: true,
            operation: (*operation).clone(),
            load: Load::closed(1, Amount::Counted { few, many }),
            protocols: None,
            drivers: None,
            limits: limits_on_counts(scenarios, operation),
        };
        operations(servers).iter().filter(counted).map(scenario).collect()
    }
}

/// The limits on counts that scenarios set for an operation, each once.
fn limits_on_counts(scenarios: &[Scenario], operation: &str) -> Vec<Limit> {
    let mut found: Vec<Limit> = Vec::new();
    let of = scenarios.iter().filter(|one| one.operation == operation);
    for limit in of.flat_map(|one| &one.limits).filter(|limit| limit.metric.is_counted()) {
        if !found.contains(limit) {
            found.push(*limit);
        }
    }
    found
}

/// Every operation of any server, by name.
fn operations(servers: &[Server]) -> BTreeSet<&String> {
    servers.iter().flat_map(|server| server.operations.keys()).collect()
}
