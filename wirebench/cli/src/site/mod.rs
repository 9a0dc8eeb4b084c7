//! `wirebench site`: the dashboard.

mod build;
mod histories;
mod pages;
mod project;
mod serve;

use std::path::PathBuf;

use crate::Outcome;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Verb {
    /// Builds the dashboard of a history as a static site.
    Build(build::Args),
    /// Shows a built dashboard on this machine.
    Serve(serve::Args),
}

pub(super) fn execute(root: Option<PathBuf>, verb: &Verb) -> anyhow::Result<Outcome> {
    match verb {
        Verb::Build(args) => build::execute(root, args),
        Verb::Serve(args) => serve::execute(args),
    }
}
