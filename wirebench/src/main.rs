//! argv → command; the only place where an error becomes text and an exit code.

use std::process::ExitCode;

use clap::Parser;
use wirebench::command::{Cli, Outcome, is_usage, printable};

fn main() -> ExitCode {
    match Cli::parse().execute() {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Ok(Outcome::Regressed) => ExitCode::from(3),
        Ok(Outcome::NotJudged) => ExitCode::from(4),
        Err(error) => {
            eprintln!("error: {}", printable(&format!("{error:#}")));
            ExitCode::from(if is_usage(&error) { 2 } else { 1 })
        }
    }
}
