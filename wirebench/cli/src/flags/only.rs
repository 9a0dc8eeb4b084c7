//! `--only WHAT`: the part of a plan that is measured.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::outcome::UsageError;
use wirebench_declare::Project;

/// The value of --only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Only {
    /// Counts only; as `wirebench count`.
    Counts,
    /// Rounds of load.
    Timings,
    /// Only the series of a public comparison: its letter or name.
    Claims(String),
}

impl FromStr for Only {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<Self, Infallible> {
        Ok(match word {
            "counts" => Self::Counts,
            "timings" => Self::Timings,
            other => Self::Claims(other.to_owned()),
        })
    }
}

impl Display for Only {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counts => "counts",
            Self::Timings => "timings",
            Self::Claims(name) => name,
        })
    }
}

/// The series that --only leaves.
#[derive(Debug)]
pub(crate) enum Chosen {
    /// Every counted series, or every timed one.
    Counted(bool),
    /// These.
    Ids(BTreeSet<String>),
}

impl Chosen {
    /// True if the series is selected.
    pub(crate) fn has(&self, id: &str, counted: bool) -> bool {
        match self {
            Self::Counted(wanted) => counted == *wanted,
            Self::Ids(ids) => ids.contains(id),
        }
    }
}

impl Only {
    /// The selected series of a profile.
    ///
    /// # Errors
    /// When the project has no such public comparison, or the profile has none of its series.
    pub(crate) fn chosen(&self, project: &Project, profile: &str) -> Result<Chosen, UsageError> {
        let word = match self {
            Self::Counts => return Ok(Chosen::Counted(true)),
            Self::Timings => return Ok(Chosen::Counted(false)),
            Self::Claims(word) => word,
        };
        let Some(comparison) = project.claims.iter().find(|one| one.is_called(word)) else {
            let known: Vec<String> = (project.claims.iter())
                .map(|one| format!("{} ({})", one.letter, one.name))
                .collect();
            let known = if known.is_empty() {
                "the project has no claims/".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            return Err(UsageError(format!(
                "--only {word}: expected counts, timings or a public comparison; {known}"
            )));
        };
        if !project
            .config
            .profiles
            .get(profile)
            .is_some_and(|profile| profile.claims)
        {
            return Err(UsageError(format!(
                "--only {word}: profile {profile} has no series for claims; name one whose table in wirebench.toml says claims = true"
            )));
        }
        Ok(Chosen::Ids(
            comparison.series().into_iter().map(str::to_owned).collect(),
        ))
    }
}
