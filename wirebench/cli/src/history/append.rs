//! `wirebench history append`: one run more.

use std::path::PathBuf;

use crate::folders::Root;
use crate::histories;
use crate::outcome::Outcome;
use crate::runs;
use wirebench_history::append::Admit;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A run's folder or its run.json; without it, the newest run under results/.
    run: Option<PathBuf>,
    /// The history's folder, made when missing.
    #[arg(long, value_name = "DIR", value_parser = crate::histories::local_folder)]
    to: PathBuf,
    /// Accepts a run whose files differed from its commit.
    #[arg(long)]
    allow_modified: bool,
}

pub(super) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    // A run given by path needs no project.
    let root = if args.run.is_some() {
        PathBuf::new()
    } else {
        root.folder()?
    };
    let run = runs::read_at(&root, args.run.as_deref())?;
    let admit = if args.allow_modified {
        Admit::Modified
    } else {
        Admit::Committed
    };
    histories::append(&args.to, &run, admit)?;
    Ok(Outcome::Done)
}
