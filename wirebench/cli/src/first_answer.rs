//! `wirebench first-answer FILE`: what a driver of protocol `process` times.

use std::path::PathBuf;

use crate::Outcome;
use wirebench_engine::measure::startup;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The file that describes server and answer.
    file: PathBuf,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<Outcome> {
    startup::first_answer(&args.file)?;
    Ok(Outcome::Done)
}
