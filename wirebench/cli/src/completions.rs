//! `wirebench completions SHELL`.

use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::cli::COMPLETE;
use crate::folders::Root;
use crate::outcome::{Outcome, UsageError};

/// Prints a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  source <(wirebench completions bash)         in ~/.bashrc
  wirebench completions fish | source          in ~/.config/fish/config.fish

The script completes the names of scenarios, servers, drivers, profiles and runs of the current project.")]
pub(crate) struct Args {
    /// The shell.
    shell: Shell,
}

pub(crate) fn execute(_: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let shells = Shells::builtins();
    let name = args.shell.to_string();
    let completer = shells
        .completer(&name)
        .ok_or_else(|| UsageError(format!("{name}: no completions for this shell")))?;
    let mut script = Vec::new();
    completer.write_registration(COMPLETE, "wirebench", "wirebench", "wirebench", &mut script)?;
    print!("{}", String::from_utf8_lossy(&script));
    Ok(Outcome::Done)
}
