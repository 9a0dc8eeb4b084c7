//! Prints what large runs and long histories cost: 100 shards joined, run files in git, 1,000 series judged in a trend, and object
//! storage. docs/SCALE.md has the figures and what follows from them.
//!
//! Usage: `scripts/scale.sh`, which builds what is called here, or `scale RUN.JSON` with a run that has a baseline.
#![expect(clippy::cast_precision_loss, reason = "counts")]

mod child;
mod gits;
mod made;
mod shards;
mod stores;

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Parser;
use serde_json::Value;

/// Prints what large runs and long histories cost.
#[derive(Debug, Parser)]
struct Args {
    /// A stored run with a baseline, of which all others are made.
    run: PathBuf,
    /// Shards that are joined.
    #[arg(long, default_value_t = 100)]
    shards: usize,
    /// Series of all shards together, and of each run of a history.
    #[arg(long, default_value_t = 1_000)]
    series: usize,
    /// Runs whose files are put into git and into object storage.
    #[arg(long, default_value_t = 500)]
    runs: usize,
    /// Files on the branch to which one more is published.
    #[arg(long, default_value_t = 10_000)]
    files: usize,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let text = fs::read(&args.run).with_context(|| args.run.display().to_string())?;
    let run: Value = serde_json::from_slice(&text)?;
    let folder = tempfile::tempdir()?;
    made::sizes(&run)?;
    shards::joined(&run, args.shards, args.series, folder.path())?;
    gits::packed(&run, args.runs, folder.path())?;
    gits::published(&run, args.files, folder.path())?;
    stores::published(&run, args.runs, folder.path())
}
