//! `wirebench backfill`: measures past commits together with a reference and adds their runs to a history, so that
//! there is a trend on the first day.
//!
//! Every commit is measured by a process of its own. Commits that the history already has are skipped, so that a
//! backfill that was stopped can be continued.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use anyhow::Context as _;

use crate::flags::with_flag;
use crate::folders::{Root, results};
use crate::histories;
use crate::outcome::{Outcome, UsageError};
use crate::runs;
use wirebench_declare::Project;
use wirebench_declare::span::Span;
use wirebench_engine::git;
use wirebench_history::append::Admit;
use wirebench_history::newest_run;
use wirebench_record::run::{RunStatus, short_commit};

/// Measures past commits together with a reference, and adds their runs to a history.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench backfill v1..main --to history --every 10   every tenth commit, counted back from main
  wirebench backfill v1..main --to history --tags       only commits that are tagged as versions
  wirebench backfill v1..main --to history --path api   only commits that changed something in api
  wirebench backfill v1..main --to history --reference v1 --profile quick

After an interruption, the same command continues. Exit code 1: a commit could not be measured; the other runs are kept.")]
pub(crate) struct Args {
    /// OLD..NEW: the commits after OLD up to NEW, along first parents.
    range: String,
    /// The history's folder, made when missing.
    #[arg(long, value_name = "DIR", value_parser = crate::histories::local_folder)]
    to: PathBuf,
    /// Only every Nth commit, counted back from NEW.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Only commits with a tag that looks like a version.
    #[arg(long, conflicts_with = "every")]
    tags: bool,
    /// Only commits that changed something at or below this path, such as a server's folder (may be given several times).
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,
    /// The revision measured together with each commit, so that a machine that is slower for an hour cancels out;
    /// without it, `compare.reference` of wirebench.toml, and without that NEW.
    #[arg(long, value_name = "REV")]
    reference: Option<String>,
    /// Profile of every run; without it, the default profile of wirebench.toml.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Only scenarios that match (may be given several times).
    #[arg(long, value_name = "GLOB")]
    scenario: Vec<String>,
    /// Wall time for measuring each commit, such as 5m; without it, `compare.budget` of wirebench.toml.
    #[arg(long, value_name = "TIME")]
    budget: Option<Span>,
    /// Print which commits would be measured, and measure none.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let project = &root.project()?;
    let chosen = commits_in(&project.root, args)?;
    let reference = reference(project, args, &chosen)?;
    let missing = missing_commits(&args.to, &chosen)?;
    let (all, left) = (chosen.len(), missing.len());
    let (known, history, short) = (all - left, args.to.display(), short_commit(&reference));
    log::info!("{all} commits, {known} of them in {history} already; reference {short}");
    if args.dry_run {
        for commit in &missing {
            println!("{commit}");
        }
        return Ok(Outcome::Done);
    }
    let mut failed = 0;
    for (number, commit) in missing.iter().enumerate() {
        let short = short_commit(commit);
        log::info!("{} of {left}: {short}", number + 1);
        if let Err(error) = measure(project, args, commit, &reference) {
            log::error!("{short}: {error:#}");
            failed += 1;
        }
    }
    if failed == 0 {
        return Ok(Outcome::Done);
    }
    log::info!("{failed} of {left} commits are not in the history; give the command again to try them again");
    Ok(Outcome::Failed)
}

/// The commits that the history has no run of.
fn missing_commits<'a>(history: &Path, commits: &'a [String]) -> anyhow::Result<Vec<&'a str>> {
    let mut missing = Vec::new();
    for commit in commits {
        if newest_run(history, commit)?.is_none() {
            missing.push(commit.as_str());
        }
    }
    Ok(missing)
}

/// The reference: one commit for all runs, otherwise their ratios would not form one trend.
fn reference(project: &Project, args: &Args, chosen: &[String]) -> anyhow::Result<String> {
    let named = args.reference.as_ref().or(project.config.compare.reference.as_ref());
    match (named, chosen.last()) {
        (Some(revision), _) => Ok(resolve(&project.root, revision)?),
        (None, Some(newest)) => Ok(newest.clone()),
        (None, None) => Err(UsageError("there is no commit to measure".into()).into()),
    }
}

/// Measures a commit together with the reference, in a process of its own, and adds its run to the history.
fn measure(project: &Project, args: &Args, commit: &str, reference: &str) -> anyhow::Result<()> {
    let out = results(&project.folder).join("backfill").join(short_commit(commit));
    let commits = ["--candidate", commit, "--reference", reference];
    let mut flags = commits.map(str::to_owned).to_vec();
    flags.extend(with_flag("--profile", &args.profile));
    flags.extend(with_flag("--budget", args.budget.map(Span::as_flag)));
    flags.extend(with_flag("--scenario", &args.scenario));
    let status = run_separately(&project.folder, &flags, &out)?;
    // Runs are named by their start time: the last one is the newest.
    let folder = runs::below(&out, "run.json").max();
    let folder = folder.with_context(|| format!("{}: its run left no record ({status})", out.display()))?;
    let file = folder.join("run.json");
    let run = runs::read(&file)?;
    if run.status != RunStatus::Complete && run.series.iter().all(|series| series.rounds.is_empty()) {
        anyhow::bail!("{}: nothing was measured ({status})", file.display());
    }
    histories::append(&args.to, &run, Admit::Committed)
}

/// Runs `wirebench run` with these flags; the run's folder is made below `out`. Its output is dropped, its log lines are
/// shown.
///
/// # Errors
/// When the process cannot be started.
fn run_separately(root: &Path, flags: &[String], out: &Path) -> anyhow::Result<ExitStatus> {
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

/// The full commit of a revision on the command line.
///
/// # Errors
/// When there is no such revision.
fn resolve(root: &Path, revision: &str) -> Result<String, UsageError> {
    git::resolve(root, revision).map_err(|why| UsageError(format!("{revision:?} is no revision: {why}")))
}

/// The commits of a range OLD..NEW along first parents that touched the paths, oldest first: only those tagged as versions, or every Nth.
///
/// # Errors
/// When the range is malformed, or has no such commit.
fn commits_in(root: &Path, args: &Args) -> anyhow::Result<Vec<String>> {
    let range = args.range.as_str();
    let Some((old, new)) = range
        .split_once("..")
        .filter(|(old, new)| !old.is_empty() && !new.is_empty())
    else {
        return Err(UsageError(format!("{range:?}: expected OLD..NEW, two revisions")).into());
    };
    let commits = git::first_parents(root, &resolve(root, old)?, &resolve(root, new)?, &args.path)?;
    if commits.is_empty() {
        let paths = args.path.join(" or ");
        let message = if args.path.is_empty() {
            format!("{new} does not come after {old} along first parents")
        } else {
            format!("no commit of {range} along first parents changed {paths}")
        };
        return Err(UsageError(message).into());
    }
    if !args.tags {
        return Ok(every(&commits, usize::try_from(args.every).unwrap_or(usize::MAX)));
    }
    let tagged: HashSet<String> = git::versions(root).into_iter().map(|(_, commit)| commit).collect();
    let chosen: Vec<String> = commits.into_iter().filter(|commit| tagged.contains(commit)).collect();
    if chosen.is_empty() {
        let message = format!("no commit of {range} has a tag that looks like a version");
        return Err(UsageError(message).into());
    }
    Ok(chosen)
}

/// Every `step`th commit, counted back from the last one.
fn every(commits: &[String], step: usize) -> Vec<String> {
    let mut chosen: Vec<String> = commits.iter().rev().step_by(step).cloned().collect();
    chosen.reverse();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nth_is_counted_back_from_the_newest() {
        let commits: Vec<String> = (1..=7).map(|number| number.to_string()).collect();
        assert_eq!(every(&commits, 3), ["1", "4", "7"]);
        assert_eq!(every(&commits, 5), ["2", "7"]);
        assert_eq!(every(&commits, 1), commits);
        assert_eq!(every(&commits, 100), ["7"]);
    }
}
