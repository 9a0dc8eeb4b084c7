//! `wirebench history import`: a history that github-action-benchmark kept.

use std::path::PathBuf;

use crate::histories::{import, log_written};
use crate::outcome::{Outcome, UsageError};
use wirebench_history::import::{is_name, keep, name_of};
use wirebench_present::report::imported;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A data.js with window.BENCHMARK_DATA, or the same as JSON.
    file: PathBuf,
    /// The history's folder, made when missing.
    #[arg(long, value_name = "DIR", value_parser = crate::histories::local_folder)]
    to: PathBuf,
    /// Its name in the history: lower-case letters, digits, hyphens; without it, the file's name.
    #[arg(long)]
    name: Option<String>,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<Outcome> {
    let name = args.name.clone().unwrap_or_else(|| name_of(&args.file));
    if !is_name(&name) {
        let message = format!("--name {name}: expected lower-case letters, digits and hyphens");
        return Err(UsageError(message).into());
    }
    let imported = import(&args.file)?;
    let (file, written) = keep(&args.to, &name, &imported)?;
    print!("{}", imported::render(&imported));
    log::info!("{}", file.display());
    log_written(written);
    Ok(Outcome::Done)
}
