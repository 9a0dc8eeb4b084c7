//! The project file `wirebench.toml`: its profiles, and how variants are compared.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::declare::compare::{Compare, MarginRule, Margins};
use crate::declare::count::Count;
use crate::declare::read::{DeclareError, toml_file};
use crate::declare::span::Span;

/// What `wirebench.toml` says.
#[derive(Debug, Clone)]
pub struct Config {
    /// The profile used when none is named.
    pub default_profile: String,
    /// Profiles by name.
    pub profiles: BTreeMap<String, Profile>,
    /// How variants are compared.
    pub compare: Compare,
    /// What is counted, and how.
    pub count: Count,
    /// What change of each metric is agreed to be ignored, and what gates.
    pub margins: Margins,
}

/// `wirebench.toml` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    default_profile: String,
    profiles: BTreeMap<String, Profile>,
    #[serde(default)]
    compare: Compare,
    #[serde(default)]
    count: Count,
    #[serde(default)]
    margins: Vec<MarginRule>,
}

/// A named way to run the same scenarios: how many rounds, and caps on each load.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// One line for people.
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
    /// Which scenarios, when the command line names none.
    #[serde(default)]
    pub scenarios: Vec<String>,
    /// Which servers, when the command line names none.
    #[serde(default)]
    pub servers: Vec<String>,
    /// Which drivers, when the command line names none.
    #[serde(default)]
    pub drivers: Vec<String>,
}

impl Config {
    /// Reads `wirebench.toml`.
    ///
    /// # Errors
    /// When the file cannot be read, a profile has no rounds, or the default profile does not exist.
    pub fn read(file: &Path) -> Result<Self, DeclareError> {
        let written: ConfigFile = toml_file(file)?;
        let config = Self {
            default_profile: written.default_profile,
            profiles: written.profiles,
            compare: written.compare,
            count: written.count,
            margins: Margins::new(file, written.margins)?,
        };
        if !(8..=1000).contains(&config.compare.rounds) {
            let message = format!("expected 8 to 1,000, found {}", config.compare.rounds);
            return Err(DeclareError::key(file, "compare.rounds", message));
        }
        if let Some((key, message)) = config.count.fault() {
            return Err(DeclareError::key(file, &format!("count.{key}"), message));
        }
        for (name, profile) in &config.profiles {
            if profile.rounds == 0 || profile.rounds > 1000 {
                let key = format!("profiles.{name}.rounds");
                return Err(DeclareError::key(
                    file,
                    &key,
                    format!("expected 1 to 1,000, found {}", profile.rounds),
                ));
            }
        }
        let named = [
            ("default_profile", Some(&config.default_profile)),
            ("compare.profile", config.compare.profile.as_ref()),
        ];
        for (key, name) in named {
            let Some(name) = name.filter(|name| !config.profiles.contains_key(*name)) else {
                continue;
            };
            let known: Vec<&str> = config.profiles.keys().map(String::as_str).collect();
            let message = format!("no profile \"{name}\"; there are {}", known.join(", "));
            return Err(DeclareError::key(file, key, message));
        }
        Ok(config)
    }
}
