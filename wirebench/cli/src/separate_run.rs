//! `wirebench run` in a process of its own, for verbs that measure one commit after another.

use std::path::Path;
use std::process::{ExitStatus, Stdio};

use anyhow::Context as _;

use crate::outcome::UsageError;
use wirebench_declare::span::Span;
use wirebench_engine::git;

/// The full commit of a revision on the command line.
///
/// # Errors
/// When there is no such revision.
pub(crate) fn resolve(root: &Path, revision: &str) -> Result<String, UsageError> {
    git::resolve(root, revision).map_err(|why| UsageError(format!("{revision:?} is no revision: {why}")))
}

/// The flags for profile and budget, where they are given.
pub(crate) fn profile_and_budget(profile: Option<&str>, budget: Option<Span>) -> Vec<String> {
    let profile = profile.map(|name| ["--profile".to_owned(), name.to_owned()]);
    let budget = budget.map(|time| ["--budget".to_owned(), time.as_flag()]);
    profile.into_iter().chain(budget).flatten().collect()
}

/// Runs `wirebench run` with these flags; the run's folder is made below `out`. Its output is dropped, its log lines are
/// shown.
///
/// # Errors
/// When the process cannot be started.
pub(crate) fn run(root: &Path, flags: &[String], out: &Path) -> anyhow::Result<ExitStatus> {
    let program = std::env::current_exe().context("this program cannot find itself")?;
    wirebench_spawn::command(program)
        .arg("--root")
        .arg(root)
        .arg("run")
        .args(flags)
        .arg("--out")
        .arg(out)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .context("wirebench run cannot be started")
}
