//! `wirebench completions SHELL`, and the candidates that its scripts request: names of this project and of its runs.

use clap_complete::Shell;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::Shells;

use crate::{Outcome, UsageError, folder, results, runs};
use wirebench_declare::Project;

/// The environment variable by which a shell requests completions from this program.
pub(super) const VARIABLE: &str = "COMPLETE";

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  source <(wirebench completions bash)                    in ~/.bashrc
  wirebench completions fish | source                     in ~/.config/fish/config.fish
They know the scenarios, servers, drivers and profiles of the project around, and its runs.")]
pub(super) struct Args {
    /// The shell.
    shell: Shell,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<Outcome> {
    let shells = Shells::builtins();
    let name = args.shell.to_string();
    let completer = shells
        .completer(&name)
        .ok_or_else(|| UsageError(format!("{name}: no completions for this shell")))?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "wirebench", "wirebench", "wirebench", &mut script)?;
    print!("{}", String::from_utf8_lossy(&script));
    Ok(Outcome::Done)
}

/// The project of the current folder; `None` outside a project, so that nothing is completed.
fn names(of: impl Fn(&Project) -> Vec<(String, String)>) -> Vec<CompletionCandidate> {
    let project = folder(None).ok().and_then(|root| Project::read(&root).ok());
    let named = project.map(|project| of(&project)).unwrap_or_default();
    let candidate = |(name, about): (String, String)| CompletionCandidate::new(name).help(Some(about.into()));
    named.into_iter().map(candidate).collect()
}

/// Its scenarios.
pub(super) fn scenarios() -> Vec<CompletionCandidate> {
    names(|project| {
        project
            .scenarios
            .iter()
            .map(|one| (one.name.clone(), one.about.clone()))
            .collect()
    })
}

/// Its servers.
pub(super) fn servers() -> Vec<CompletionCandidate> {
    names(|project| {
        project
            .servers
            .iter()
            .map(|one| (one.name.clone(), one.about.clone()))
            .collect()
    })
}

/// Its drivers.
pub(super) fn drivers() -> Vec<CompletionCandidate> {
    names(|project| {
        project
            .drivers
            .iter()
            .map(|one| (one.name.clone(), one.about.clone()))
            .collect()
    })
}

/// Its profiles.
pub(super) fn profiles() -> Vec<CompletionCandidate> {
    names(|project| {
        let all = project.config.profiles.iter();
        all.map(|(name, one)| (name.clone(), one.about.clone())).collect()
    })
}

/// The folders of its runs, the newest first.
pub(super) fn runs() -> Vec<CompletionCandidate> {
    let Ok(root) = folder(None) else { return Vec::new() };
    let entries = std::fs::read_dir(results(&root)).into_iter().flatten().flatten();
    let runs = entries
        .map(|entry| entry.path())
        .filter(|run| runs::is_run(run, "run.json"));
    let here = std::env::current_dir().unwrap_or_default();
    let mut runs: Vec<_> = runs
        .map(|run| run.strip_prefix(&here).map(Into::into).unwrap_or(run))
        .collect();
    runs.sort();
    runs.into_iter().rev().map(CompletionCandidate::new).collect()
}
