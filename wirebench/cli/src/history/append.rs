//! `wirebench history append`: one run more.

use std::path::PathBuf;

use super::Location;
use crate::{Outcome, folder, runs};
use wirebench_history::append::Admit;

#[derive(Debug, clap::Args)]
#[command(after_help = super::STORAGE)]
pub(crate) struct Args {
    /// A run's folder or its run.json; without it, the newest run under results/.
    run: Option<PathBuf>,
    /// The history's folder, made when missing; or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "DIR", value_parser = Location::parser())]
    to: Location,
    /// Accepts a run whose files differed from its commit.
    #[arg(long)]
    allow_modified: bool,
}

pub(super) fn execute(root: Option<PathBuf>, args: &Args) -> anyhow::Result<Outcome> {
    // A run given by path needs no project.
    let root = if args.run.is_some() {
        PathBuf::new()
    } else {
        folder(root)?
    };
    let run = runs::read_at(&root, args.run.as_deref())?;
    let admit = if args.allow_modified {
        Admit::Modified
    } else {
        Admit::Committed
    };
    args.to.append(&run, admit)?;
    Ok(Outcome::Done)
}
