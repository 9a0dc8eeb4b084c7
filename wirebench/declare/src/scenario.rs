//! A scenario: an operation, the amount of load, and the number of connections.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::limits;
use crate::load_table::{LoadTable, Point};
use crate::profiles::Profiles;
use crate::protocol::Protocol;
use crate::read::{DeclareError, Place};

use wirebench_record::limit::Limit;

pub use crate::load::{Amount, Load, MOST_REQUESTS};

/// Work offered to a server, as one file under `scenarios/` or `[scenarios.<name>]` of `wirebench.toml` declares it.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The file's name without its ending, or the table's.
    pub name: String,
    /// A description of one line.
    pub about: String,
    /// The profiles it takes part in.
    pub profiles: Profiles,
    /// True if profiles do not cap its load.
    pub whole: bool,
    /// The operation; each server declares its request for it.
    pub operation: String,
    /// The load.
    pub load: Load,
    /// The protocols it is for; `None` means every one that fits the load.
    pub protocols: Option<Vec<Protocol>>,
    /// Bounds on metrics of the candidate.
    pub limits: Vec<Limit>,
    /// The drivers it is for, also if they do not take part in the profile; `None` means every driver of the profile.
    pub drivers: Option<Vec<String>>,
}

/// A scenario as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    about: String,
    #[serde(default)]
    profiles: Profiles,
    #[serde(default)]
    whole: bool,
    operation: Operations,
    load: LoadTable,
    protocols: Option<Vec<Protocol>>,
    drivers: Option<Vec<String>>,
    #[serde(default)]
    limits: Vec<String>,
}

/// One operation, or several, of which each makes a scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected the name of an operation, or a list of names")]
enum Operations {
    One(String),
    Each(Vec<String>),
}

impl Scenario {
    /// Checks the file at a place, and makes one scenario of it, or one for each combination of the operations and
    /// numbers that it lists.
    ///
    /// # Errors
    /// When a value is impossible or contradicts another one.
    pub(super) fn check(table: Table, place: &Place, name: &str) -> Result<Vec<(String, Self)>, DeclareError> {
        let limits = limits::check(&table.limits, place)?;
        let (operations, listed) = match table.operation {
            Operations::One(operation) => (vec![operation], false),
            Operations::Each(operations) => (operations, true),
        };
        let distinct: BTreeSet<&String> = operations.iter().collect();
        if operations.is_empty() || distinct.len() < operations.len() {
            return Err(place.wrong("operation", "expected at least one operation, and every one once"));
        }
        let one = |(operation, sweep): (&String, &Point)| {
            let own = |text: String| if listed { text } else { String::new() };
            let (ending, words) = (own(format!("-{operation}")), own(format!(" ({operation})")));
            let name = format!("{name}{ending}{}", sweep.suffix());
            let scenario = Self {
                name: name.clone(),
                about: format!("{}{words}{}", table.about, sweep.in_words()),
                profiles: table.profiles.clone(),
                whole: table.whole,
                operation: operation.clone(),
                load: sweep.load.clone(),
                protocols: table.protocols.clone(),
                drivers: table.drivers.clone(),
                limits: limits.clone(),
            };
            (name, scenario)
        };
        let points = table.load.check(place)?;
        let all = operations
            .iter()
            .flat_map(|operation| points.iter().map(move |point| (operation, point)));
        Ok(all.map(one).collect())
    }
}
