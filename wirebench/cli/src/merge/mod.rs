//! `wirebench merge`: the shards of a run joined into one, judged as a whole.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Context as _;
use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::flags::shards;
use crate::folders::{Root, results};
use crate::outcome::{Outcome, UsageError};
use crate::{judging, reports, runs};
use wirebench_engine::session;
use wirebench_record::run::Run;

/// Joins the runs of several machines into one, and judges it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench merge shard-1 shard-2 --plan .github/shards.json
  wirebench merge results/20261121T091544Z-00002a results/20261121T091550Z-00002b --out merged

Refuses shards of different commits, profiles, loads or rounds, and a series that two shards have; with --plan also a \
planned series that no shard has. The verdict is judged again over all series. If a shard was interrupted, the joined run \
is incomplete (exit code 1).")]
pub(crate) struct Args {
    /// Folders of the shards' runs.
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,
    /// The plan that the shards followed: each of its series must have been measured.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// With --plan, if the shards were run with --scenario: only scenarios that match this glob must be there.
    #[arg(long, value_name = "GLOB", requires = "plan")]
    scenario: Vec<String>,
    /// The same for servers.
    #[arg(long, value_name = "GLOB", requires = "plan")]
    server: Vec<String>,
    /// The same for drivers.
    #[arg(long, value_name = "GLOB", requires = "plan")]
    driver: Vec<String>,
    /// The folder that takes the run's folder; without it, results/ in the project.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let project = &root.project()?;
    let mut runs = Vec::new();
    for folder in &args.shards {
        runs.push((runs::read(&folder.join("run.json"))?, folder.as_path()));
    }
    let whole = session::join_shards(runs.iter().map(|(run, _)| run)).map_err(anyhow::Error::msg)?;
    if let Some(file) = &args.plan {
        gaps(args, file, &whole)?;
    }
    let base = args.out.clone().unwrap_or_else(|| results(&project.folder));
    let folder = std::path::absolute(base)?.join(&whole.id);
    anyhow::ensure!(
        !folder.exists(),
        "{}: exists already, these shards were joined before; remove it or choose another folder with --out",
        folder.display()
    );
    fs::create_dir_all(&folder).with_context(|| session::unwritable(&folder))?;
    for (run, from) in &runs {
        stacks(run, from, &folder)?;
    }
    session::save(&whole, &folder)?;
    let comparison = judging::judge_and_report(project, &whole, &folder)?;
    reports::print(&whole, &folder);
    if let Some(comparison) = comparison {
        reports::print_comparison_of_run(&comparison, &folder);
    }
    Ok(Outcome::of_run(&whole))
}

/// Checks a run against the plan that its shards followed.
///
/// # Errors
/// When a series of the plan is in no shard, or the run has another profile.
fn gaps(args: &Args, file: &Path, run: &Run) -> anyhow::Result<()> {
    let plan = shards::read(file)?;
    let name = file.display();
    anyhow::ensure!(
        plan.profile == run.profile,
        "{name}: is of profile {}, the shards are of {}",
        plan.profile,
        run.profile
    );
    let wanted = [&args.scenario, &args.server, &args.driver].map(|globs| set(globs));
    let [scenarios, servers, drivers] = wanted;
    let wanted = [scenarios?, servers?, drivers?];
    let chosen = |id: &&str| id.split('@').zip(&wanted).all(|(part, globs)| globs.is_match(part));
    let there: BTreeSet<&str> = run.series.iter().map(|series| series.id.as_str()).collect();
    let gaps: Vec<&str> = plan.series().filter(chosen).filter(|id| !there.contains(id)).collect();
    anyhow::ensure!(
        gaps.is_empty(),
        "{name}: no shard has {}; give the folder of every shard, and the globs they were narrowed with",
        gaps.join(", ")
    );
    Ok(())
}

/// One matcher for several globs; without globs it matches everything.
fn set(globs: &[String]) -> Result<GlobSet, UsageError> {
    let mut set = GlobSetBuilder::new();
    let all = ["*".to_owned()];
    for glob in if globs.is_empty() { &all[..] } else { globs } {
        set.add(Glob::new(glob).map_err(|why| UsageError(format!("{glob}: not a glob: {why}")))?);
    }
    set.build().map_err(|why| UsageError(why.to_string()))
}

/// Copies the folded call stacks that a shard's record names.
fn stacks(run: &Run, from: &Path, to: &Path) -> anyhow::Result<()> {
    let counts = run.series.iter().flat_map(|series| &series.counts);
    for relative in counts.flat_map(|counts| counts.stacks.values()) {
        let inside = Path::new(relative)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let source = from.join(relative);
        if !inside || !source.is_file() {
            log::warn!(
                "warning: {}: not there, there will be no flame graph of it",
                source.display()
            );
            continue;
        }
        let copy = to.join(relative);
        let made = copy.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::copy(&source, &copy).map(drop))
            .with_context(|| session::unwritable(&copy))?;
    }
    Ok(())
}
