//! `wirebench report`: shows a stored run again, and writes its reports and charts.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap_complete::ArgValueCandidates;

use crate::folders::Root;
use crate::outcome::Outcome;
use crate::{candidates, comparisons, reports, runs};
use wirebench_declare::prices::Prices;
use wirebench_judge::summary::cost::{Rates, costs};
use wirebench_present::report::cost;
use wirebench_record::run::Run;

/// Shows a stored run again, and draws its report and charts anew.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A run's folder or its run.json; without it, the newest run under results/.
    #[arg(add = ArgValueCandidates::new(candidates::runs))]
    run: Option<PathBuf>,
    /// Estimate the cost of a month instead, with the prices in this file (such as examples/cost/prices.toml); printed, and
    /// written to cost.md next to run.json.
    #[arg(long, value_name = "FILE")]
    cost: Option<PathBuf>,
    /// Prints the run's record as one line of JSON instead of a table, and writes nothing.
    #[arg(long, conflicts_with = "cost")]
    json: bool,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let root = root.folder()?;
    let prices = args.cost.as_deref().map(Prices::read).transpose()?;
    let folder = runs::folder_of(&root, args.run.as_deref())?;
    let run = runs::read(&folder.join("run.json"))?;
    if let Some(prices) = prices {
        return estimate(&run, &prices, &folder);
    }
    if args.json {
        println!("{}", serde_json::to_string(&run)?);
        return Ok(Outcome::Done);
    }
    reports::write(&root, &run, &folder)?;
    reports::print(&run, &folder);
    if let Some(comparison) = comparisons::read_if_any(&folder)? {
        reports::write_comparison(&run, &comparison, &folder)?;
        reports::print_comparison_of_run(&comparison, &folder);
    }
    Ok(Outcome::Done)
}

/// Prints the monthly cost and writes cost.md next to run.json.
fn estimate(run: &Run, prices: &Prices, folder: &Path) -> anyhow::Result<Outcome> {
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
    let file = folder.join("cost.md");
    fs::write(&file, &text).with_context(|| format!("{}: cannot be written", file.display()))?;
    print!("{text}");
    log::info!("\ncost     {}", file.display());
    Ok(Outcome::Done)
}
