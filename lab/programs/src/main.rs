//! `lab`: the truth table of verdicts, and published comparisons put to the test.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use wirebench_lab::{claims, truth};

/// Tries wirebench on changes whose right verdict is known, and on comparisons that others published.
#[derive(Debug, Parser)]
#[command(name = "lab")]
struct Args {
    /// The laboratory's folder, which holds truth/ and claims/.
    #[arg(long, global = true, value_name = "DIR", default_value = "lab")]
    root: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Truth(truth::command::Args),
    Claims(claims::command::Args),
}

fn main() -> ExitCode {
    if log::set_logger(&Stderr).is_ok() {
        log::set_max_level(log::LevelFilter::Info);
    }
    let args = Args::parse();
    let root = std::path::absolute(&args.root).unwrap_or_else(|_| args.root.clone());
    match execute(&root, &args.command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything was found right.
fn execute(root: &Path, command: &Command) -> anyhow::Result<bool> {
    match command {
        Command::Truth(args) => truth::command::execute(root, args),
        Command::Claims(args) => claims::command::execute(root, args).map(|()| true),
    }
}

/// Writes wirebench's log lines to standard error.
struct Stderr;

impl log::Log for Stderr {
    fn enabled(&self, metadata: &log::Metadata) -> bool {
        metadata.target().starts_with("wirebench")
    }

    fn log(&self, record: &log::Record) {
        if self.enabled(record.metadata()) {
            eprintln!("{}", record.args());
        }
    }

    fn flush(&self) {}
}
