//! Completions of arguments: the names of the project around, and its runs.

use clap_complete::engine::CompletionCandidate;

use crate::folders::{Root, results};
use crate::runs;
use wirebench_declare::Project;

/// Names of the project of the current folder, each with its description; empty outside a project.
fn of_project(names: impl Fn(&Project) -> Vec<(String, String)>) -> Vec<CompletionCandidate> {
    let names = Root::default().project().map(|project| names(&project));
    let candidate = |(name, about): (String, String)| CompletionCandidate::new(name).help(Some(about.into()));
    names.unwrap_or_default().into_iter().map(candidate).collect()
}

/// The project's scenarios.
pub(crate) fn scenarios() -> Vec<CompletionCandidate> {
    of_project(|project| {
        let all = project.scenarios.iter();
        all.map(|one| (one.name.clone(), one.about.clone())).collect()
    })
}

/// The project's servers.
pub(crate) fn servers() -> Vec<CompletionCandidate> {
    of_project(|project| {
        let all = project.servers.iter();
        all.map(|one| (one.name.clone(), one.about.clone())).collect()
    })
}

/// The project's drivers.
pub(crate) fn drivers() -> Vec<CompletionCandidate> {
    of_project(|project| {
        let all = project.drivers.iter();
        all.map(|one| (one.name.clone(), one.about.clone())).collect()
    })
}

/// The project's profiles.
pub(crate) fn profiles() -> Vec<CompletionCandidate> {
    of_project(|project| {
        let all = project.config.profiles.iter();
        all.map(|(name, one)| (name.clone(), one.about.clone())).collect()
    })
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
