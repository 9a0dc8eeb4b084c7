//! The selection that a plan is made for, and the errors when it cannot be made.

use globset::{Glob, GlobMatcher};

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

/// Why no plan can be made, as a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub(super) String);

/// A glob of the flag `--KIND`.
pub(super) fn glob(kind: &str, pattern: &str) -> Result<GlobMatcher, PlanError> {
    let glob = Glob::new(pattern).map_err(|source| PlanError(format!("--{kind} {pattern}: not a glob: {source}")))?;
    Ok(glob.compile_matcher())
}
