//! `wirebench doctor`: checks whether a run can work here, without a build and without load.

mod project;
mod sources;
mod system;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::{Outcome, folder};
use wirebench_declare::Project;
use wirebench_engine::install;

#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 a run can work, 1 something that a run needs is missing.")]
pub(super) struct Args {
    /// One JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// Only the names of missing packages that this system can install and a run needs, one a line; packages for charts
    /// are left out.
    #[arg(long, conflicts_with = "json")]
    packages: bool,
}

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// Present and usable.
    Ok,
    /// A run works, but without some results, or less precisely.
    Warning,
    /// A run cannot work.
    Missing,
}

/// One check.
#[derive(Debug, Clone, Serialize)]
struct Check {
    /// What was checked.
    name: String,
    state: State,
    /// What was found.
    found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    how: Option<String>,
}

impl Check {
    fn ok(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            state: State::Ok,
            found: found.into(),
            how: None,
        }
    }

    fn warning(name: impl Into<String>, found: impl Into<String>, how: impl Into<String>) -> Self {
        Self {
            state: State::Warning,
            how: Some(how.into()),
            ..Self::ok(name, found)
        }
    }

    fn missing(name: impl Into<String>, found: impl Into<String>, how: impl Into<String>) -> Self {
        Self {
            state: State::Missing,
            ..Self::warning(name, found, how)
        }
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    /// Whether a run can work.
    ok: bool,
    checks: &'a [Check],
}

pub(super) fn execute(root: Option<PathBuf>, args: &Args) -> anyhow::Result<Outcome> {
    let checks = match folder(root) {
        Ok(root) => match Project::read(&root) {
            Ok(project) => [
                project::declared(&project),
                sources::sources(&project),
                system::tools(&project),
                system::machine(),
                project::repository(&root),
            ]
            .concat(),
            Err(error) => {
                let how = "mend it, and ask again: what else is needed depends on it";
                let wrong = Check::missing("declarations", error.to_string(), how);
                [vec![wrong], system::machine(), project::repository(&root)].concat()
            }
        },
        Err(error) => {
            let none = Check::missing("wirebench.toml", error.to_string(), "wirebench init writes one");
            [vec![none], system::machine()].concat()
        }
    };
    if args.packages {
        for package in packages(&checks) {
            println!("{package}");
        }
        return Ok(Outcome::Done);
    }
    let ok = checks.iter().all(|check| check.state != State::Missing);
    if args.json {
        println!("{}", serde_json::to_string_pretty(&Report { ok, checks: &checks })?);
    } else {
        print(&checks);
    }
    Ok(if ok { Outcome::Done } else { Outcome::Failed })
}

/// The packages that install what is missing, each once.
fn packages(checks: &[Check]) -> BTreeSet<&str> {
    let lacking = checks
        .iter()
        .filter(|check| check.state != State::Ok && check.name != system::CHARTS);
    let how = lacking.filter_map(|check| check.how.as_deref());
    how.filter_map(install::package).collect()
}

fn print(checks: &[Check]) {
    let width = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    for check in checks {
        let word = match check.state {
            State::Ok => "ok     ",
            State::Warning => "warning",
            State::Missing => "MISSING",
        };
        let how = check.how.as_ref().map(|how| format!("; {how}")).unwrap_or_default();
        println!("{word}  {:width$}  {}{how}", check.name, check.found);
    }
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    match (count(State::Missing), count(State::Warning)) {
        (0, 0) => println!("\nNothing is missing."),
        (0, warnings) => println!("\nA run can work; warnings: {warnings}."),
        (missing, warnings) => println!("\nMissing: {missing}; warnings: {warnings}."),
    }
}
