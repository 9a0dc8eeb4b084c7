//! `wirebench site`: the dashboard.

mod build;
mod pages;
mod serve;

use crate::folders::Root;
use crate::outcome::Outcome;

/// Builds the dashboard, and serves it on this machine.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Builds the dashboard of a history as a static site.
    Build(build::Args),
    /// Shows a built dashboard on this machine.
    Serve(serve::Args),
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    match &args.verb {
        Verb::Build(args) => build::execute(root, args),
        Verb::Serve(args) => serve::execute(args),
    }
}
