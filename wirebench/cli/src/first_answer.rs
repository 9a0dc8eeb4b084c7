//! `wirebench first-answer FILE`: the command that a driver of protocol `process` times: start, first good response,
//! stop.

use std::path::PathBuf;

use crate::folders::Root;
use crate::outcome::Outcome;
use wirebench_engine::measure::startup;

/// Starts a server, waits for its first good response and stops it; drivers of protocol `process` time this.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The JSON file that describes the server and the expected response.
    file: PathBuf,
}

pub(crate) fn execute(_: &Root, args: &Args) -> anyhow::Result<Outcome> {
    startup::first_answer(&args.file)?;
    Ok(Outcome::Done)
}
