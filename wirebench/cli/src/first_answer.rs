//! `wirebench first-answer FILE`: the command that a driver of protocol `process` times: start, first good response,
//! stop.

use std::path::PathBuf;

use crate::Outcome;
use wirebench_engine::measure::startup;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The JSON file that describes the server and the expected response.
    file: PathBuf,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<Outcome> {
    startup::first_answer(&args.file)?;
    Ok(Outcome::Done)
}
