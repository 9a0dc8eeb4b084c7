//! `wirebench report`: shows a stored run again; with `--write` it writes the run's reports and charts anew.

use std::path::PathBuf;

use clap_complete::ArgValueCandidates;

use crate::folders::Root;
use crate::outcome::Outcome;
use crate::{candidates, comparisons, reports, runs};

/// Shows a stored run again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A run's folder or its run.json; without it, the newest run under results/.
    #[arg(add = ArgValueCandidates::new(candidates::runs))]
    run: Option<PathBuf>,
    /// Also writes report.md, report.html and the charts beside run.json, as a run does, and comparison.md if there is a
    /// comparison. Without it nothing is written.
    #[arg(long)]
    write: bool,
    /// Prints the run's record as one line of JSON instead of a table.
    #[arg(long, conflicts_with = "write")]
    json: bool,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let root = root.folder()?;
    let folder = runs::folder_of(&root, args.run.as_deref())?;
    let run = runs::read(&folder.join("run.json"))?;
    if args.json {
        println!("{}", serde_json::to_string(&run)?);
        return Ok(Outcome::Done);
    }
    if args.write {
        reports::write(&root, &run, &folder)?;
    }
    reports::print(&run, &folder);
    if let Some(comparison) = comparisons::read_if_any(&folder)? {
        if args.write {
            reports::write_comparison(&run, &comparison, &folder)?;
        }
        reports::print_comparison_of_run(&comparison, &folder);
    }
    Ok(Outcome::Done)
}
