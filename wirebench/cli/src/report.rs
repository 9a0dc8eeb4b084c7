//! `wirebench report`: shows a stored run again, and writes its reports and charts.

use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap_complete::ArgValueCandidates;

use crate::{Outcome, completions, runs, stored};
use wirebench_declare::prices::Prices;
use wirebench_engine::install;
use wirebench_engine::session::prepare;
use wirebench_judge::summary::cost::{Rates, costs};
use wirebench_present::report::{charts, comparison, cost, markdown, terminal};
use wirebench_present::site;
use wirebench_record::comparison::Comparison;
use wirebench_record::run::Run;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A run's folder or its run.json; without it, the newest run under results/.
    #[arg(add = ArgValueCandidates::new(completions::runs))]
    run: Option<PathBuf>,
    /// Instead estimate what a month would cost, with the prices in this file (examples/cost/prices.toml is one); printed,
    /// and written to cost.md beside the run.
    #[arg(long, value_name = "FILE")]
    cost: Option<PathBuf>,
    /// Prints the run's record as one line of JSON instead of a table, and writes nothing.
    #[arg(long, conflicts_with = "cost")]
    json: bool,
}

pub(super) fn execute(root: &Path, args: &Args) -> anyhow::Result<Outcome> {
    let prices = args.cost.as_deref().map(Prices::read).transpose()?;
    let folder = runs::folder_of(root, args.run.as_deref())?;
    let run = runs::read(&folder.join("run.json"))?;
    if let Some(prices) = prices {
        return estimate(&run, &prices, &folder);
    }
    if args.json {
        println!("{}", serde_json::to_string(&run)?);
        return Ok(Outcome::Done);
    }
    write(root, &run, &folder)?;
    print(&run, &folder);
    let comparison = folder.join(stored::FILE);
    if comparison.is_file() {
        let comparison = stored::read(&comparison)?;
        write_comparison(&comparison, &folder)?;
        write_page(&run, Some(&comparison), &folder)?;
        print_comparison(&comparison, &folder);
    }
    Ok(Outcome::Done)
}

/// Prints the monthly cost and writes cost.md beside run.json.
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
    fs::write(&file, &text).with_context(|| unwritable(&file))?;
    print!("{text}");
    log::info!("\ncost     {}", file.display());
    Ok(Outcome::Done)
}

/// Writes report.md, report.html and the charts beside run.json.
pub(super) fn write(root: &Path, run: &Run, folder: &Path) -> anyhow::Result<()> {
    let charts = match prepare::gnuplot(root) {
        Some((gnuplot, _)) => charts::draw(run, &gnuplot, &folder.join("charts"))?,
        None => {
            log::warn!(
                "warning: gnuplot is not installed: the report has no charts; run: {}",
                install::of("gnuplot")
            );
            Vec::new()
        }
    };
    let file = folder.join("report.md");
    fs::write(&file, markdown::render(run, &charts)).with_context(|| unwritable(&file))?;
    write_page(run, None, folder)
}

/// Writes report.html into the run's folder: the comparison, if there is one, then the run.
pub(super) fn write_page(run: &Run, comparison: Option<&Comparison>, folder: &Path) -> anyhow::Result<()> {
    let file = folder.join("report.html");
    fs::write(&file, site::report(run, comparison)?).with_context(|| unwritable(&file))
}

fn unwritable(file: &Path) -> String {
    format!("{}: cannot be written", file.display())
}

/// Prints the table on stdout and the paths of the files on stderr.
pub(super) fn print(run: &Run, folder: &Path) {
    print!("{}", terminal::render(run, terminal_width()));
    log::info!("\nrecord   {}", folder.join("run.json").display());
    log::info!("report   {}", folder.join("report.md").display());
    log::info!("page     {}", folder.join("report.html").display());
}

/// Writes comparison.md beside comparison.json.
pub(super) fn write_comparison(comparison: &Comparison, folder: &Path) -> anyhow::Result<()> {
    let file = folder.join("comparison.md");
    fs::write(&file, comparison::markdown::render(comparison)).with_context(|| unwritable(&file))
}

/// Prints a comparison on stdout.
pub(super) fn show_comparison(comparison: &Comparison) {
    print!("{}", comparison::terminal::render(comparison, terminal_width()));
}

/// Prints a comparison on stdout, after other text, and its path on stderr.
pub(super) fn print_comparison(comparison: &Comparison, folder: &Path) {
    println!();
    show_comparison(comparison);
    log::info!("\ncomparison  {}", folder.join(stored::FILE).display());
    log::info!("comment     {}", folder.join("comparison.md").display());
}

/// The width of the terminal on stdout; `None` if stdout is no terminal.
pub(super) fn terminal_width() -> Option<u16> {
    std::io::stdout()
        .is_terminal()
        .then(|| comfy_table::Table::new().width())
        .flatten()
}
