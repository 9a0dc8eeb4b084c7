//! `wirebench history index`: the monthly summaries.

use std::path::PathBuf;

use crate::histories::{check_history, report_skipped};
use crate::outcome::Outcome;
use wirebench_history::index::{Months, index};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The history's folder.
    history: PathBuf,
    /// Every month, not only those whose files changed.
    #[arg(long)]
    rebuild: bool,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<Outcome> {
    let which = if args.rebuild { Months::All } else { Months::Changed };
    check_history(&args.history)?;
    let done = index(&args.history, which)?;
    for (month, runs) in &done.written {
        println!("{month} {runs} runs");
    }
    log::info!("{} months written, {} were current", done.written.len(), done.current);
    for month in &done.orphans {
        log::warn!("warning: months/{month}.json has no run files any more and is left as it is");
    }
    Ok(report_skipped(done.skipped))
}
