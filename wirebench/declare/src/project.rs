//! The project file `wirebench.toml`: its profiles, how variants are compared, and the servers and scenarios it declares.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use globset::Glob;
use serde::Deserialize;

use crate::compare::{Compare, MarginRule, Margins};
use crate::count::Count;
pub use crate::profiles::Profile;
use crate::profiles::{names_of, usual_profiles};
use crate::read::{DeclareError, Place, toml_file};
use crate::{builtin, scenario, server};
use wirebench_record::names::is_profile;

/// The contents of `wirebench.toml`.
#[derive(Debug, Clone)]
pub struct Config {
    /// The folder of a project above this one, whose servers, scenarios, drivers and profiles this one has too, and in which
    /// programs are built and started; relative to this project's folder.
    pub extends: Option<PathBuf>,
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
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ConfigFile {
    extends: Option<PathBuf>,
    builtin_drivers: Option<Vec<String>>,
    default_profile: Option<String>,
    profiles: BTreeMap<String, Profile>,
    compare: Compare,
    count: Count,
    margins: Vec<MarginRule>,
    servers: BTreeMap<String, server::Table>,
    scenarios: BTreeMap<String, scenario::Table>,
}

/// The servers and scenarios in `wirebench.toml`, not checked yet.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) servers: BTreeMap<String, server::Table>,
    pub(super) scenarios: BTreeMap<String, scenario::Table>,
}

/// Only the servers in a `wirebench.toml`; other keys may be of another version.
#[derive(Debug, Deserialize)]
pub(super) struct ServerTables {
    pub(super) extends: Option<PathBuf>,
    #[serde(default)]
    pub(super) servers: BTreeMap<String, server::Table>,
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
        let place = Place::file(file);
        let mut written: ConfigFile = toml_file(file)?;
        if written.profiles.is_empty() {
            written.profiles = usual_profiles();
            // Many short rounds give more precision than few long ones.
            written.compare.profile.get_or_insert_with(|| "quick".into());
        }
        for (name, profile) in &mut written.profiles {
            let message =
                "a profile's name may hold letters, digits, blanks and . _ - + only, 100 at most and no hyphen first";
            place.refuse_if(!is_profile(name), &format!("profiles.{name}"), message)?;
            profile.name.clone_from(name);
        }
        let tables = Tables {
            servers: written.servers,
            scenarios: written.scenarios,
        };
        let builtin = written.builtin_drivers;
        let config = Self {
            extends: written.extends,
            builtin_drivers: builtin.unwrap_or_else(|| builtin::USUAL.map(str::to_owned).to_vec()),
            default_profile: default_profile(file, written.default_profile, &written.profiles)?,
            profiles: written.profiles,
            compare: written.compare,
            count: written.count,
            margins: Margins::new(file, written.margins)?,
        };
        config.check(&place)?;
        Ok((config, tables))
    }

    /// Adds the profiles of the project in `root`, which this one extends, under names that are free, and returns its servers
    /// and scenarios.
    ///
    /// # Errors
    /// When its `wirebench.toml` cannot be read or is wrong.
    pub(super) fn add_extended(&mut self, root: &Path) -> Result<Tables, DeclareError> {
        let (above, tables) = Self::with_tables(&root.join("wirebench.toml"))?;
        for (name, profile) in above.profiles {
            self.profiles.entry(name).or_insert(profile);
        }
        Ok(tables)
    }

    fn check(&self, place: &Place) -> Result<(), DeclareError> {
        let unknown = |name: &&String| !builtin::NAMES.contains(&name.as_str());
        if let Some(name) = self.builtin_drivers.iter().find(unknown) {
            let known = builtin::NAMES.join(", ");
            let message = format!("no driver \"{name}\" comes with wirebench; there are {known}");
            return Err(place.wrong("builtin_drivers", message));
        }
        let rounds = self.compare.rounds;
        let message = format!("expected 8 to 1,000, found {rounds}");
        place.refuse_if(!(8..=1000).contains(&rounds), "compare.rounds", message)?;
        self.count.check(&place.below("count"))?;
        for (name, Profile { rounds, series, .. }) in &self.profiles {
            let key = format!("profiles.{name}.rounds");
            let message = format!("expected 1 to 1,000, found {rounds}");
            place.refuse_if(!(1..=1000).contains(rounds), &key, message)?;
            if let Some(error) = series.iter().find_map(|text| Glob::new(text).err()) {
                return Err(place.wrong(&format!("profiles.{name}.series"), format!("not a glob: {error}")));
            }
        }
        let named = [
            ("default_profile", Some(&self.default_profile)),
            ("compare.profile", self.compare.profile.as_ref()),
        ];
        for (key, name) in named.into_iter().filter_map(|(key, name)| Some((key, name?))) {
            let message = format!("no profile \"{name}\"; there are {}", names_of(&self.profiles));
            place.refuse_if(!self.profiles.contains_key(name), key, message)?;
        }
        Ok(())
    }
}

/// The folder that a project extends, given the value of `extends`; the project's own folder without one.
///
/// # Errors
/// When it is not above the project's folder, or holds no project.
pub(super) fn extended(folder: &Path, extends: Option<&Path>) -> Result<PathBuf, DeclareError> {
    let Some(extends) = extends else {
        return Ok(folder.to_path_buf());
    };
    let up = extends.components().count();
    let only_up = extends.components().all(|part| part == Component::ParentDir);
    let above = folder.ancestors().nth(up).filter(|_| only_up && up > 0);
    match above {
        Some(root) if root.join("wirebench.toml").is_file() => Ok(root.to_path_buf()),
        _ => Err(DeclareError::key(
            &folder.join("wirebench.toml"),
            "extends",
            format!(
                "expected the way up to a folder with a wirebench.toml, such as \"..\", found \"{}\"",
                extends.display()
            ),
        )),
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
