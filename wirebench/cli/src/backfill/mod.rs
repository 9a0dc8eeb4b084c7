//! `wirebench backfill`: measures past commits together with a reference and adds their runs to a history, so that
//! there is a trend on the first day.
//!
//! Every commit is measured by a process of its own. Commits that the history already has are skipped, so that a
//! backfill that was stopped can be continued.

mod commits;

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::folders::{Root, results};
use crate::histories;
use crate::outcome::{Outcome, UsageError};
use crate::runs;
use crate::separate_run::{self, profile_and_budget, resolve};
use wirebench_declare::Project;
use wirebench_declare::span::Span;
use wirebench_history::append::Admit;
use wirebench_history::newest_run;
use wirebench_record::run::{RunStatus, short_commit};

/// Measures past commits together with a reference, and adds their runs to a history.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench backfill v1..main --to history --every 10   every tenth commit, counted back from main
  wirebench backfill v1..main --to history --tags       only commits that are tagged as versions
  wirebench backfill v1..main --to history --reference v1 --profile quick

After an interruption, the same command continues. Exit code 1: a commit could not be measured; the other runs are kept.")]
pub(crate) struct Args {
    /// OLD..NEW: the commits after OLD up to NEW, along first parents.
    range: String,
    /// The history's folder, made when missing.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Only every Nth commit, counted back from NEW.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Only commits with a tag that looks like a version.
    #[arg(long, conflicts_with = "every")]
    tags: bool,
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
    let chosen = commits::in_range(&project.root, &args.range, args.tags, args.every)?;
    let reference = reference(project, args, &chosen)?;
    let missing = missing_commits(&args.to, &chosen)?;
    log::info!(
        "{} commits, {} of them in {} already; reference {}",
        chosen.len(),
        chosen.len() - missing.len(),
        args.to.display(),
        short_commit(&reference)
    );
    if args.dry_run {
        for commit in &missing {
            println!("{commit}");
        }
        return Ok(Outcome::Done);
    }
    let mut failed = 0;
    for (number, commit) in missing.iter().enumerate() {
        log::info!("{} of {}: {}", number + 1, missing.len(), short_commit(commit));
        if let Err(error) = measure(project, args, commit, &reference) {
            log::error!("{}: {error:#}", short_commit(commit));
            failed += 1;
        }
    }
    if failed == 0 {
        return Ok(Outcome::Done);
    }
    log::info!(
        "{failed} of {} commits are not in the history; give the command again to try them again",
        missing.len()
    );
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
    let mut flags = ["--candidate", commit, "--reference", reference]
        .map(str::to_owned)
        .to_vec();
    flags.extend(profile_and_budget(args.profile.as_deref(), args.budget));
    flags.extend(
        args.scenario
            .iter()
            .flat_map(|glob| ["--scenario".to_owned(), glob.clone()]),
    );
    let status = separate_run::run(&project.folder, &flags, &out)?;
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
