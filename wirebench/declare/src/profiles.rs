//! Profiles, and `profiles = ["comparisons"]` of a scenario, a server or a driver: in which of them it takes part.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::read::{DeclareError, Place};
use crate::span::Span;

/// A named way to run the same scenarios: how many rounds, and caps on each load.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The table's name, which `profiles` of scenarios, servers and drivers refer to.
    #[serde(skip)]
    pub name: String,
    /// A description of one line.
    pub about: String,
    /// Rounds of each series.
    pub rounds: u32,
    /// The most requests a round sends; a scenario that asks for more is cut to it.
    pub requests_at_most: Option<u64>,
    /// The longest a round's load lasts; a scenario that asks for more is cut to it.
    pub duration_at_most: Option<Span>,
    /// The most process starts in a round.
    pub starts_at_most: Option<u32>,
    /// The warm-up of every scenario that does not set its own.
    pub warmup: Option<Span>,
    /// Globs over scenarios, if the command line names no scenario; empty means all.
    #[serde(default)]
    pub scenarios: Vec<String>,
    /// The same of servers.
    #[serde(default)]
    pub servers: Vec<String>,
    /// The same of drivers.
    #[serde(default)]
    pub drivers: Vec<String>,
    /// Globs over `scenario@server@driver`: if there are any, only series that match one, independent of the command
    /// line.
    #[serde(default)]
    pub series: Vec<String>,
}

/// The profiles of a project that declares no profile: `full` as the scenarios say, `quick` for many short rounds.
pub(super) fn usual_profiles() -> BTreeMap<String, Profile> {
    let full = Profile {
        about: "every scenario on every server, as the scenarios say".into(),
        rounds: 3,
        warmup: Some(Span(Duration::from_millis(500))),
        ..Profile::default()
    };
    let quick = Profile {
        about: "the same scenarios cut short".into(),
        rounds: 3,
        requests_at_most: Some(30_000),
        duration_at_most: Some(Span(Duration::from_secs(1))),
        starts_at_most: Some(10),
        warmup: Some(Span(Duration::from_millis(200))),
        ..Profile::default()
    };
    BTreeMap::from([("full".to_owned(), full), ("quick".to_owned(), quick)])
}

/// The profiles a declaration takes part in; every one when the key is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Profiles(Option<Vec<String>>);

impl Profiles {
    /// Whether a profile of this name is among them.
    pub fn have(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|names| names.iter().any(|one| one == name))
    }

    /// The listed names; `None` without the key.
    pub fn named(&self) -> Option<&[String]> {
        self.0.as_deref()
    }

    /// Whether each name is that of a profile.
    ///
    /// # Errors
    /// When the list is empty or names a profile there is not; the message names the place and the key.
    pub(super) fn check(&self, place: &Place, known: &BTreeMap<String, Profile>) -> Result<(), DeclareError> {
        let names = self.0.as_deref();
        let message = "expected at least one profile; leave the key out to take part in every one";
        place.refuse_if(names.is_some_and(<[String]>::is_empty), "profiles", message)?;
        let Some(unknown) = names.into_iter().flatten().find(|name| !known.contains_key(*name)) else {
            return Ok(());
        };
        let known = names_of(known);
        let message = format!("no profile \"{unknown}\" in wirebench.toml; there are {known}");
        Err(place.wrong("profiles", message))
    }
}

/// The names of profiles, for messages: `full, quick`.
pub fn names_of(profiles: &BTreeMap<String, Profile>) -> String {
    profiles.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}
