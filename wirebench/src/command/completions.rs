//! `wirebench completions SHELL`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::command::{Cli, Outcome};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell.
    shell: Shell,
}

pub(super) fn execute(args: &Args) -> Outcome {
    clap_complete::generate(args.shell, &mut Cli::command(), "wirebench", &mut std::io::stdout());
    Outcome::Done
}
