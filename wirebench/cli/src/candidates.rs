//! Completions of arguments: the names of the project around, and its runs.

use clap_complete::engine::CompletionCandidate;

use crate::folders::{Root, results};
use crate::runs;
use wirebench_declare::Project;

/// Names of the project of the current folder; empty outside a project.
fn of_project(names: impl Fn(&Project) -> Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let project = Root::default().project();
    project.map(|project| names(&project)).unwrap_or_default()
}

/// Names, each with its description.
fn described<'a, T: 'a>(
    all: impl IntoIterator<Item = &'a T>,
    told: fn(&T) -> (&String, &String),
) -> Vec<CompletionCandidate> {
    let candidate = |(name, about): (&String, &String)| CompletionCandidate::new(name).help(Some(about.clone().into()));
    all.into_iter().map(|one| candidate(told(one))).collect()
}

/// The project's scenarios.
pub(crate) fn scenarios() -> Vec<CompletionCandidate> {
    of_project(|project| described(&project.scenarios, |one| (&one.name, &one.about)))
}

/// The project's servers.
pub(crate) fn servers() -> Vec<CompletionCandidate> {
    of_project(|project| described(&project.servers, |one| (&one.name, &one.about)))
}

/// The project's drivers.
pub(crate) fn drivers() -> Vec<CompletionCandidate> {
    of_project(|project| described(&project.drivers, |one| (&one.name, &one.about)))
}

/// The project's profiles.
pub(crate) fn profiles() -> Vec<CompletionCandidate> {
    of_project(|project| described(project.config.profiles.values(), |one| (&one.name, &one.about)))
}

/// The folders of the project's runs, the newest first.
pub(crate) fn runs() -> Vec<CompletionCandidate> {
    let Ok(root) = Root::default().folder() else {
        return Vec::new();
    };
    let here = std::env::current_dir().unwrap_or_default();
    let relative = |run: std::path::PathBuf| run.strip_prefix(&here).map(Into::into).unwrap_or(run);
    let mut runs: Vec<_> = runs::below(&results(&root), "run.json").map(relative).collect();
    runs.sort();
    runs.into_iter().rev().map(CompletionCandidate::new).collect()
}
