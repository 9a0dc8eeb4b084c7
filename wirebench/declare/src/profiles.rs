//! `profiles = ["comparisons"]` of a scenario, a server or a driver: in which profiles it takes part.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::project::Profile;
use crate::read::{DeclareError, Place};

/// The profiles a declaration takes part in; every one when the key is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Profiles(Option<Vec<String>>);

impl Profiles {
    /// Every profile, whatever its name.
    #[must_use]
    pub const fn all() -> Self {
        Self(None)
    }

    /// Whether a profile of this name is among them.
    #[must_use]
    pub fn have(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|names| names.iter().any(|one| one == name))
    }

    /// The listed names; `None` without the key.
    #[must_use]
    pub fn named(&self) -> Option<&[String]> {
        self.0.as_deref()
    }

    /// Whether each name is that of a profile.
    ///
    /// # Errors
    /// When the list is empty or names a profile there is not; the message names the place and the key.
    pub(super) fn check(&self, place: &Place, known: &BTreeMap<String, Profile>) -> Result<(), DeclareError> {
        let names = self.0.as_deref();
        if names.is_some_and(<[String]>::is_empty) {
            let message = "expected at least one profile; leave the key out to take part in every one";
            return Err(place.wrong("profiles", message));
        }
        let Some(unknown) = names.into_iter().flatten().find(|name| !known.contains_key(*name)) else {
            return Ok(());
        };
        let known: Vec<&str> = known.keys().map(String::as_str).collect();
        let known = known.join(", ");
        Err(place.wrong(
            "profiles",
            format!("no profile \"{unknown}\" in wirebench.toml; there are {known}"),
        ))
    }
}
