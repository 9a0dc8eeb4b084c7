//! Checks whether a run can work on this machine, without a build and without load.

mod check;
mod project;
mod sources;
mod system;

use std::collections::BTreeSet;
use std::path::Path;

use wirebench_declare::Project;
use wirebench_engine::install;

pub use self::check::{Check, State};

/// The checks of a project, its repository, and this machine.
#[must_use]
pub fn project(root: &Path) -> Vec<Check> {
    match Project::read(root) {
        Ok(project) => [
            project::declared(&project),
            sources::sources(&project),
            system::tools(&project),
            system::machine(),
            project::repository(root),
        ]
        .concat(),
        Err(error) => {
            let how = "fix it, and run this again: what else is needed depends on the declarations";
            let wrong = Check::missing("declarations", error.to_string(), how);
            [vec![wrong], system::machine(), project::repository(root)].concat()
        }
    }
}

/// The checks where there is no project, for this reason.
#[must_use]
pub fn no_project(reason: &str) -> Vec<Check> {
    let missing = Check::missing("wirebench.toml", reason, "wirebench init writes one");
    [vec![missing], system::machine()].concat()
}

/// The packages that install the missing programs that a run needs, each once.
#[must_use]
pub fn packages(checks: &[Check]) -> BTreeSet<&str> {
    let lacking = checks
        .iter()
        .filter(|check| check.state != State::Ok && check.name != system::CHARTS);
    let how = lacking.filter_map(|check| check.how.as_deref());
    how.filter_map(install::package).collect()
}
