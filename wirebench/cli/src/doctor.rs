//! `wirebench doctor`: checks whether a run can work here, without a build and without load.

use serde::Serialize;

use crate::folders::Root;
use crate::outcome::Outcome;
use wirebench_scaffold::doctor::{self, Check, State};

/// Checks whether a run can work here, and says how to install what is missing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 nothing that a run needs is missing, 1 something is missing.")]
pub(crate) struct Args {
    /// One JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// Only the names of missing packages that this system can install and a run needs, one a line; packages for charts
    /// are left out.
    #[arg(long, conflicts_with = "json")]
    packages: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    /// Whether a run can work.
    ok: bool,
    checks: &'a [Check],
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let checks = match root.folder() {
        Ok(root) => doctor::project(&root),
        Err(error) => doctor::no_project(&error.to_string()),
    };
    if args.packages {
        for package in doctor::packages(&checks) {
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
    Ok(Outcome::of(ok))
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
