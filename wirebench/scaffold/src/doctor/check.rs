//! One check of the doctor, and its result.

use serde::Serialize;

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Present and usable.
    Ok,
    /// A run works, but without some results, or less precisely.
    Warning,
    /// A run cannot work.
    Missing,
}

/// One check.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// The name of what was checked.
    pub name: String,
    /// The result.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
}

impl Check {
    pub(super) fn ok(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            state: State::Ok,
            found: found.into(),
            how: None,
        }
    }

    pub(super) fn warning(name: impl Into<String>, found: impl Into<String>, how: impl Into<String>) -> Self {
        Self {
            state: State::Warning,
            how: Some(how.into()),
            ..Self::ok(name, found)
        }
    }

    pub(super) fn missing(name: impl Into<String>, found: impl Into<String>, how: impl Into<String>) -> Self {
        Self {
            state: State::Missing,
            ..Self::warning(name, found, how)
        }
    }
}
