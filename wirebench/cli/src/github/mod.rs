//! `wirebench github`: what workflows call: the summary of a run, the second stage of a pull request, and the issue.

mod alert;
mod comment;
mod rerun;
mod summary;

use std::ffi::OsString;

use crate::folders::Root;
use crate::outcome::{Outcome, UsageError};
use wirebench_github::names;

/// Reports to GitHub from a workflow: summaries, comments, checks, and an issue.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Writes a run's results into a workflow: job summary, outputs, warnings at the changed lines.
    Summary(summary::Args),
    /// The second stage of a pull request: checks its run's artifact, and writes a comment and a check.
    Comment(comment::Args),
    /// Measures a pull request's head again after a `/bench` comment, or lets its check pass after `/bench accept`.
    Rerun(rerun::Args),
    /// Keeps one GitHub issue that lists what got worse on the default branch.
    Alert(alert::Args),
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    match &args.verb {
        Verb::Summary(args) => summary::execute(root, args),
        Verb::Comment(args) => comment::execute(args),
        Verb::Rerun(args) => rerun::execute(args),
        Verb::Alert(args) => alert::execute(root, args),
    }
}

/// The value of an environment variable of the workflow, if it is not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Parses a workflow file's path from the command line.
///
/// # Errors
/// When it is not below `.github/workflows/`.
fn workflow_file(text: &str) -> Result<&str, UsageError> {
    if names::is_workflow(text) {
        return Ok(text);
    }
    Err(UsageError("--workflow: expected .github/workflows/NAME.yml".into()))
}
