//! `wirebench history index`: the monthly summaries.

use crate::folders::check_exists;
use crate::histories::report_skipped;
use crate::location::{Location, MAKE_ONE};
use crate::outcome::Outcome;
use wirebench_history::index::{Months, index};
use wirebench_store::Bucket;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The history's folder, or s3://BUCKET/PREFIX.
    #[arg(value_parser = Location::parser())]
    history: Location,
    /// Every month, not only those whose files changed.
    #[arg(long)]
    rebuild: bool,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<Outcome> {
    let which = if args.rebuild { Months::All } else { Months::Changed };
    let done = match &args.history {
        Location::Folder(folder) => {
            check_exists(folder, "HISTORY", MAKE_ONE)?;
            index(folder, which)?
        }
        Location::Store(address) => Bucket::open(address)?.index(which)?,
    };
    for (month, runs) in &done.written {
        println!("{month} {runs} runs");
    }
    log::info!("{} months written, {} were current", done.written.len(), done.current);
    for month in &done.orphans {
        log::warn!("warning: months/{month}.json has no run files any more and is left as it is");
    }
    Ok(report_skipped(done.skipped))
}
