//! The project file `wirebench.toml`: its profiles, how variants are compared, and the servers and scenarios it declares.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use globset::Glob;
use serde::Deserialize;

use crate::claims::PublicComparison;
use crate::compare::{Compare, MarginRule, Margins};
use crate::count::Count;
pub use crate::profiles::Profile;
use crate::profiles::{names_of, usual_profiles};
use crate::read::{DeclareError, toml_file};
use crate::{builtin, scenario, server_table};
use wirebench_record::names::is_profile;

/// The contents of `wirebench.toml`.
#[derive(Debug, Clone)]
pub struct Config {
    /// The built-in drivers that the project uses in addition to its own.
    pub builtin_drivers: Vec<String>,
    /// The profile that is used if the command line names no profile.
    pub default_profile: String,
    /// Profiles by name.
    pub profiles: BTreeMap<String, Profile>,
    /// How variants are compared.
    pub compare: Compare,
    /// What is counted, and how.
    pub count: Count,
    /// The margin of each metric, and whether it gates.
    pub margins: Margins,
}

/// `wirebench.toml` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    builtin_drivers: Option<Vec<String>>,
    default_profile: Option<String>,
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
    #[serde(default)]
    compare: Compare,
    #[serde(default)]
    count: Count,
    #[serde(default)]
    margins: Vec<MarginRule>,
    #[serde(default)]
    servers: BTreeMap<String, server_table::Table>,
    #[serde(default)]
    scenarios: BTreeMap<String, scenario::Table>,
}

/// The servers and scenarios in `wirebench.toml`, not checked yet.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) servers: BTreeMap<String, server_table::Table>,
    pub(super) scenarios: BTreeMap<String, scenario::Table>,
}

/// Only the servers in a `wirebench.toml`; other keys may be of another version.
#[derive(Debug, Deserialize)]
pub(super) struct ServerTables {
    #[serde(default)]
    pub(super) servers: BTreeMap<String, server_table::Table>,
}

impl Config {
    /// Reads the `wirebench.toml` of a project.
    ///
    /// # Errors
    /// When the file cannot be read or a value is impossible.
    pub fn read(file: &Path) -> Result<Self, DeclareError> {
        Ok(Self::with_tables(file)?.0)
    }

    /// The same, and the servers and scenarios declared there.
    ///
    /// # Errors
    /// When the file cannot be read, a profile has no rounds, a built-in driver is unknown, or the default profile does not
    /// exist.
    pub(super) fn with_tables(file: &Path) -> Result<(Self, Tables), DeclareError> {
        let mut written: ConfigFile = toml_file(file)?;
        if written.profiles.is_empty() {
            written.profiles = usual_profiles();
            // Many short rounds give more precision than few long ones.
            written.compare.profile.get_or_insert_with(|| "quick".into());
        }
        for (name, profile) in &mut written.profiles {
            if !is_profile(name) {
                let message = "a profile's name may hold letters, digits, blanks and . _ - + only, 100 at most and no hyphen first";
                return Err(DeclareError::key(file, &format!("profiles.{name}"), message));
            }
            profile.name.clone_from(name);
        }
        let tables = Tables {
            servers: written.servers,
            scenarios: written.scenarios,
        };
        let builtin = written.builtin_drivers;
        let config = Self {
            builtin_drivers: builtin.unwrap_or_else(|| builtin::USUAL.map(str::to_owned).to_vec()),
            default_profile: default_profile(file, written.default_profile, &written.profiles)?,
            profiles: written.profiles,
            compare: written.compare,
            count: written.count,
            margins: Margins::new(file, written.margins)?,
        };
        config.check(file)?;
        Ok((config, tables))
    }

    /// Gives the profiles that say `claims = true` the series that public comparisons need.
    ///
    /// # Errors
    /// When one says so and there are no public comparisons.
    pub(super) fn add_claims(&mut self, file: &Path, claims: &[PublicComparison]) -> Result<(), DeclareError> {
        let series: BTreeSet<&str> = claims.iter().flat_map(PublicComparison::series).collect();
        for profile in self.profiles.values_mut().filter(|profile| profile.claims) {
            if series.is_empty() {
                let key = format!("profiles.{}.claims", profile.name);
                let message = "there are no claims/*.toml; lab/docs/ADDING.md says how one is written";
                return Err(DeclareError::key(file, &key, message));
            }
            profile.series.extend(series.iter().map(|id| (*id).to_owned()));
        }
        Ok(())
    }

    fn check(&self, file: &Path) -> Result<(), DeclareError> {
        let wrong = |key: &str, message: String| Err(DeclareError::key(file, key, message));
        let unknown = |name: &&String| !builtin::NAMES.contains(&name.as_str());
        if let Some(name) = self.builtin_drivers.iter().find(unknown) {
            let known = builtin::NAMES.join(", ");
            return wrong(
                "builtin_drivers",
                format!("no driver \"{name}\" comes with wirebench; there are {known}"),
            );
        }
        if !(8..=1000).contains(&self.compare.rounds) {
            let message = format!("expected 8 to 1,000, found {}", self.compare.rounds);
            return wrong("compare.rounds", message);
        }
        if let Some((key, message)) = self.count.fault() {
            return wrong(&format!("count.{key}"), message);
        }
        for (name, profile) in &self.profiles {
            if profile.rounds == 0 || profile.rounds > 1000 {
                let message = format!("expected 1 to 1,000, found {}", profile.rounds);
                return wrong(&format!("profiles.{name}.rounds"), message);
            }
            let mut bad = profile.series.iter().filter_map(|text| Glob::new(text).err());
            if let Some(error) = bad.next() {
                return wrong(&format!("profiles.{name}.series"), format!("not a glob: {error}"));
            }
        }
        let named = [
            ("default_profile", Some(&self.default_profile)),
            ("compare.profile", self.compare.profile.as_ref()),
        ];
        for (key, name) in named {
            let Some(name) = name.filter(|name| !self.profiles.contains_key(*name)) else {
                continue;
            };
            return wrong(
                key,
                format!("no profile \"{name}\"; there are {}", names_of(&self.profiles)),
            );
        }
        Ok(())
    }
}

/// The default profile: `default_profile`, or `full`, or the only one.
fn default_profile(
    file: &Path,
    declared: Option<String>,
    profiles: &BTreeMap<String, Profile>,
) -> Result<String, DeclareError> {
    if let Some(name) = declared {
        return Ok(name);
    }
    let mut names = profiles.keys();
    match (profiles.contains_key("full"), names.next(), names.next()) {
        (true, ..) => Ok("full".into()),
        (false, Some(only), None) => Ok(only.clone()),
        _ => Err(DeclareError::key(
            file,
            "default_profile",
            format!("expected one of the profiles {}, found nothing", names_of(profiles)),
        )),
    }
}
