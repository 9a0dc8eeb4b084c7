//! The selection that a plan is made for, and the errors when it cannot be made.

/// Which series are selected: globs by scenario, server and driver; empty means all.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Globs over scenario names.
    pub scenarios: Vec<String>,
    /// Globs over server names.
    pub servers: Vec<String>,
    /// Globs over driver names.
    pub drivers: Vec<String>,
    /// Globs over `scenario@server@driver`.
    pub series: Vec<String>,
}

impl Selection {
    /// True if nothing is named, so that the profile alone selects.
    #[must_use]
    pub const fn is_everything(&self) -> bool {
        self.scenarios.is_empty() && self.servers.is_empty() && self.drivers.is_empty() && self.series.is_empty()
    }
}

/// Why no plan can be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A pattern that is not a glob.
    #[error("--{kind} {pattern}: not a glob: {source}")]
    Pattern {
        /// `scenario`, `server` or `driver`.
        kind: &'static str,
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        source: globset::Error,
    },
    /// A pattern that matches nothing.
    #[error("--{kind} {pattern}: matches no {kind}; there are {}", known.join(", "))]
    NoMatch {
        /// `scenario`, `server` or `driver`.
        kind: &'static str,
        /// The pattern.
        pattern: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A pattern that matches only declarations that take no part in the profile.
    #[error(
        "--{kind} {pattern}: matches no {kind} of profile {profile}; name one in full to bring it in, or give --profile: {}",
        found.join(", ")
    )]
    Elsewhere {
        /// `scenario`, `server` or `driver`.
        kind: &'static str,
        /// The pattern.
        pattern: String,
        /// The profile.
        profile: String,
        /// What it matches, each with its profiles.
        found: Vec<String>,
    },
    /// A glob of the command line that matches no series.
    #[error("--series {pattern}: matches no series; `wirebench list` shows them")]
    UnknownSeries {
        /// The pattern.
        pattern: String,
    },
    /// A glob of a profile's `series` that matches no series.
    #[error(
        "wirebench.toml: profiles.{profile}.series: \"{pattern}\" matches no series that the profile could have; `wirebench list --scenario … --server … --driver …` shows them"
    )]
    NoSeries {
        /// The profile.
        profile: String,
        /// The glob.
        pattern: String,
    },
    /// Nothing is left to measure.
    #[error(
        "nothing to measure: no chosen scenario, server and driver share a protocol that fits the load; `wirebench list` shows the series there are"
    )]
    Empty,
}
