//! `wirebench normalise DRIVER --stdout FILE`: one recorded output in the common shape.

use std::path::PathBuf;

use crate::folders::Root;
use crate::outcome::{Outcome, UsageError};
use wirebench_engine::normalise;
use wirebench_engine::session::prepare;

/// Converts recorded output of a driver to the common shape; for writing a driver.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The driver's name.
    driver: String,
    /// What the driver printed.
    #[arg(long, value_name = "FILE")]
    stdout: PathBuf,
    /// The file that the driver wrote to {raw}, if it has one.
    #[arg(long, value_name = "FILE")]
    raw: Option<PathBuf>,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let project = &root.project()?;
    let name = &args.driver;
    let unknown = || UsageError(format!("no driver \"{name}\", neither under drivers/ nor built in"));
    let mut drivers = project.drivers.iter();
    let driver = drivers.find(|driver| driver.name == *name).ok_or_else(unknown)?;
    prepare::filters(project)?;
    let (jq, _) = prepare::jq(project)?;
    let raw = args.raw.clone().unwrap_or_default();
    let shape = normalise::read(&jq, driver, &args.stdout, &raw).map_err(anyhow::Error::msg)?;
    let sent: usize = shape.answers.values().map(Vec::len).sum();
    let elapsed = shape.elapsed_ns.map_or("null".into(), |ns| ns.to_string());
    println!("elapsed_ns {elapsed}\nanswers {sent}");
    for (status, latencies) in &shape.answers {
        println!("  {status}: {}", latencies.len());
    }
    for (reason, count) in &shape.errors {
        println!("error {reason}: {count}");
    }
    Ok(Outcome::Done)
}
