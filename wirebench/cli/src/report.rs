//! `wirebench report`: shows a stored run again; with `--write` it writes the run's reports and charts anew.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap_complete::ArgValueCandidates;

use crate::folders::Root;
use crate::outcome::Outcome;
use crate::{candidates, comparisons, reports, runs};
use wirebench_declare::prices::Prices;
use wirebench_judge::summary::cost::{Rates, costs};
use wirebench_present::report::cost;
use wirebench_record::run::Run;

/// Shows a stored run again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A run's folder or its run.json; without it, the newest run under results/.
    #[arg(add = ArgValueCandidates::new(candidates::runs))]
    run: Option<PathBuf>,
    /// Instead estimate what a month would cost, with the prices in this file (examples/cost/prices.toml is one).
    #[arg(long, value_name = "FILE")]
    cost: Option<PathBuf>,
    /// Also writes report.md, report.html and the charts beside run.json, as a run does, and comparison.md if there is a
    /// comparison; with --cost only cost.md. Without it nothing is written.
    #[arg(long)]
    write: bool,
    /// Prints the run's record as one line of JSON instead of a table.
    #[arg(long, conflicts_with_all = ["cost", "write"])]
    json: bool,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let root = root.folder()?;
    let prices = args.cost.as_deref().map(Prices::read).transpose()?;
    let folder = runs::folder_of(&root, args.run.as_deref())?;
    let run = runs::read(&folder.join("run.json"))?;
    if let Some(prices) = prices {
        return estimate(&run, &prices, args.write.then_some(&folder));
    }
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

/// Prints the monthly cost, and writes it to cost.md in `folder` if one is given.
fn estimate(run: &Run, prices: &Prices, folder: Option<&PathBuf>) -> anyhow::Result<Outcome> {
    let rates = Rates {
        requests_per_day: prices.requests_per_day,
        cpu_core_hour: prices.cpu_core_hour,
        memory_gib_hour: prices.memory_gib_hour,
        network_gb: prices.network_gb,
    };
    let costs = costs(run, &rates);
    anyhow::ensure!(
        !costs.is_empty(),
        "run {}: no series has CPU time and memory of its server; only Linux measures them",
        run.id
    );
    let text = cost::render(&costs, &rates, &prices.about, &prices.currency);
    print!("{text}");
    if let Some(folder) = folder {
        let file = folder.join("cost.md");
        fs::write(&file, &text).with_context(|| format!("{}: cannot be written", file.display()))?;
        log::info!("\ncost     {}", file.display());
    }
    Ok(Outcome::Done)
}
