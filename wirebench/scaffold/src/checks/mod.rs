//! Checks of the declarations, this machine and its programs, without a build and without load.

mod project;
mod system;

use std::collections::BTreeSet;

use serde::Serialize;

use wirebench_declare::Project;
use wirebench_declare::plan::PlannedSeries;
use wirebench_engine::install;

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Present and usable.
    Ok,
    /// A run works, but without some results, or less precisely.
    Warning,
    /// A run cannot work.
    Failed,
}

/// One check, as `--json` prints it.
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
    /// Something that is present and usable.
    pub fn ok(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            state: State::Ok,
            found: found.into(),
            how: None,
        }
    }

    /// Something that does not work; what was found says why.
    pub fn failed(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            state: State::Failed,
            ..Self::ok(name, found)
        }
    }

    fn warning(name: impl Into<String>, found: impl Into<String>, how: impl Into<String>) -> Self {
        Self {
            state: State::Warning,
            how: Some(how.into()),
            ..Self::ok(name, found)
        }
    }

    /// Something without which a run cannot work.
    fn missing(name: impl Into<String>, found: impl Into<String>, how: impl Into<String>) -> Self {
        Self {
            state: State::Failed,
            ..Self::warning(name, found, how)
        }
    }
}

/// The checks of a project, its repository, and this machine, for these series; `compared` are those that a run with a baseline
/// has instead.
pub fn tools(project: &Project, series: &[PlannedSeries], compared: &[PlannedSeries]) -> Vec<Check> {
    [
        project::declared(project, series),
        project::sources(project),
        system::tools(project, &[series, compared].concat()),
        system::machine(),
        project::repository(&project.root),
    ]
    .concat()
}

/// The packages that install the missing programs that a run needs, each once.
pub fn packages(checks: &[Check]) -> BTreeSet<&str> {
    let is_lacking = |check: &&Check| check.state != State::Ok && check.name != system::CHARTS;
    let lacking = checks.iter().filter(is_lacking);
    let how = lacking.filter_map(|check| check.how.as_deref());
    how.filter_map(install::package).collect()
}

/// A number of things in words: `1 server`, `2 servers`.
pub(crate) fn counted(number: usize, word: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {word}{plural}")
}
