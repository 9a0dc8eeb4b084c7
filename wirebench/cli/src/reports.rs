//! Writes the reports of runs and comparisons next to their records, and prints them.

use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::comparisons;
use wirebench_engine::install;
use wirebench_engine::session::prepare;
use wirebench_present::report::{charts, comparison, markdown, terminal};
use wirebench_present::site;
use wirebench_record::comparison::Comparison;
use wirebench_record::run::Run;

/// Writes report.md, report.html and the charts next to run.json.
pub(crate) fn write(root: &Path, run: &Run, folder: &Path) -> anyhow::Result<()> {
    let charts = match gnuplot(root, "the report has no charts") {
        Some(gnuplot) => charts::draw(run, &gnuplot, &folder.join("charts"))?,
        None => Vec::new(),
    };
    write_file(&folder.join("report.md"), markdown::render(run, &charts))?;
    write_page(run, None, folder)
}

/// The path of gnuplot. If gnuplot is not installed, a warning names the output that is missing, which is `lack`.
pub(crate) fn gnuplot(root: &Path, lack: &str) -> Option<PathBuf> {
    let found = prepare::gnuplot(root);
    if found.is_none() {
        let install = install::of("gnuplot");
        log::warn!("warning: gnuplot is not installed: {lack}; run: {install}");
    }
    Some(found?.0)
}

/// Writes comparison.md, and report.html with the comparison, next to comparison.json.
pub(crate) fn write_comparison(run: &Run, comparison: &Comparison, folder: &Path) -> anyhow::Result<()> {
    write_file(&folder.join("comparison.md"), comparison::markdown::render(comparison))?;
    write_page(run, Some(comparison), folder)
}

/// Writes report.html: the comparison, if there is one, then the run.
fn write_page(run: &Run, comparison: Option<&Comparison>, folder: &Path) -> anyhow::Result<()> {
    write_file(&folder.join("report.html"), site::report(run, comparison)?)
}

/// Writes a file; an error names it.
pub(crate) fn write_file(file: &Path, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
    fs::write(file, content).with_context(|| format!("{}: cannot be written", file.display()))
}

/// Prints the table of a run on stdout and the paths of its files on stderr, as far as they are there.
pub(crate) fn print(run: &Run, folder: &Path) {
    print!("{}", terminal::render(run, terminal_width()));
    log::info!("\nrecord   {}", folder.join("run.json").display());
    log_if_there("report   ", &folder.join("report.md"));
    log_if_there("page     ", &folder.join("report.html"));
}

fn log_if_there(what: &str, file: &Path) {
    if file.is_file() {
        log::info!("{what}{}", file.display());
    }
}

/// Prints a comparison on stdout.
pub(crate) fn print_comparison(comparison: &Comparison) {
    print!("{}", comparison::terminal::render(comparison, terminal_width()));
}

/// Prints the comparison of a run on stdout, after the run's table, and the paths of its files on stderr, as far
/// as they are there.
pub(crate) fn print_comparison_of_run(comparison: &Comparison, folder: &Path) {
    println!();
    print_comparison(comparison);
    log::info!("\ncomparison  {}", folder.join(comparisons::FILE).display());
    log_if_there("comment     ", &folder.join("comparison.md"));
}

/// The width of the terminal on stdout; `None` if stdout is no terminal.
pub(crate) fn terminal_width() -> Option<u16> {
    std::io::stdout()
        .is_terminal()
        .then(|| comfy_table::Table::new().width())
        .flatten()
}
