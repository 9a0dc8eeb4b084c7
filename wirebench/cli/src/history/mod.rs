//! `wirebench history`: runs kept over time, and the steps in them.

mod append;
mod import;
mod index;
mod trend;

use crate::folders::Root;
use crate::outcome::Outcome;

/// Keeps runs over time and shows where a metric stepped to a new level.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Adds one run as a file of its own; reads no other file.
    Append(append::Args),
    /// Brings the monthly summaries up to date, so that trends are quick to read.
    Index(index::Args),
    /// Shows where each series stepped, by how much, and whether that was meant.
    Trend(trend::Args),
    /// Imports a history that github-action-benchmark kept.
    Import(import::Args),
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    match &args.verb {
        Verb::Append(args) => append::execute(root, args),
        Verb::Index(args) => index::execute(args),
        Verb::Trend(args) => trend::execute(root, args),
        Verb::Import(args) => import::execute(args),
    }
}
