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

/// The contents of `wirebench.toml`. The default has no profiles; it is for judging outside a project.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The folder of a project above this one, whose servers, scenarios, drivers and profiles this one has too, and in which
    /// programs are built and started; relative to this project's folder.
    pub extends: Option<PathBuf>,
    /// The built-in drivers that the project uses in addition to its own.
    #[serde(default = "usual_drivers")]
    pub builtin_drivers: Vec<String>,
    /// The profile that is used if the command line names no profile.
    pub default_profile: String,
    /// Profiles by name.
    pub profiles: BTreeMap<String, Profile>,
    /// How variants are compared.
    pub compare: Compare,
    /// What is counted, and how.
    pub count: Count,
    /// `[[margins]]` as they are written; empty once they are compiled.
    #[serde(rename = "margins")]
    rules: Vec<MarginRule>,
    /// The margin of each metric, and whether it gates.
    #[serde(skip)]
    pub margins: Margins,
    /// The servers declared there, not checked yet.
    pub(super) servers: BTreeMap<String, server::Table>,
    /// The scenarios declared there, not checked yet.
    pub(super) scenarios: BTreeMap<String, scenario::Table>,
}

fn usual_drivers() -> Vec<String> {
    builtin::USUAL.map(str::to_owned).to_vec()
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
    /// When the file cannot be read, a profile has no rounds, a built-in driver is unknown, the default profile does not exist, or
    /// another value is impossible.
    pub fn read(file: &Path) -> Result<Self, DeclareError> {
        let place = Place::file(file);
        let mut config: Self = toml_file(file)?;
        if config.profiles.is_empty() {
            config.profiles = usual_profiles();
            // Many short rounds give more precision than few long ones.
            config.compare.profile.get_or_insert_with(|| "quick".into());
        }
        for (name, profile) in &mut config.profiles {
            let message =
                "a profile's name may hold letters, digits, blanks and . _ - + only, 100 at most and no hyphen first";
            place.refuse_if(!is_profile(name), &format!("profiles.{name}"), message)?;
            profile.name.clone_from(name);
        }
        if config.default_profile.is_empty() {
            config.default_profile = default_profile(&place, &config.profiles)?;
        }
        config.margins = Margins::new(file, std::mem::take(&mut config.rules))?;
        config.check(&place)?;
        Ok(config)
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
        _ => {
            let wanted = "expected the way up to a folder with a wirebench.toml, such as \"..\"";
            let message = format!("{wanted}, found \"{}\"", extends.display());
            Err(DeclareError::key(&folder.join("wirebench.toml"), "extends", message))
        }
    }
}

/// The profile that is the default where none is named: `full`, or the only one.
fn default_profile(place: &Place, profiles: &BTreeMap<String, Profile>) -> Result<String, DeclareError> {
    let mut names = profiles.keys();
    match (profiles.contains_key("full"), names.next(), names.next()) {
        (true, ..) => Ok("full".into()),
        (false, Some(only), None) => Ok(only.clone()),
        _ => {
            let message = format!("expected one of the profiles {}, found nothing", names_of(profiles));
            Err(place.wrong("default_profile", message))
        }
    }
}
