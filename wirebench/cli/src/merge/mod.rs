//! `wirebench merge`: the shards of a run joined into one, judged as a whole.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::folders::{Root, is_inside, results};
use crate::outcome::Outcome;
use crate::{judging, reports, runs};
use wirebench_engine::session;
use wirebench_record::run::{Run, Series};

/// Joins the runs of several machines into one, and judges it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench merge shard-1 shard-2
  wirebench merge results/20261121T091544Z-00002a results/20261121T091550Z-00002b --out merged

Refuses shards of different commits, profiles, loads or rounds, a series that two shards have, and a shard that is not \
there (of runs made with --shard). The verdict is judged again over all series. If a shard was interrupted, the joined run \
is incomplete (exit code 1).")]
pub(crate) struct Args {
    /// Folders of the shards' runs.
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,
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
    let base = args.out.clone().unwrap_or_else(|| results(&project.folder));
    let folder = std::path::absolute(base)?.join(&whole.id);
    if folder.exists() {
        let remedy = "remove it or choose another folder with --out";
        let name = folder.display();
        anyhow::bail!("{name}: exists already, these shards were joined before; {remedy}");
    }
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

/// Copies the folded call stacks that a shard's record names.
fn stacks(run: &Run, from: &Path, to: &Path) -> anyhow::Result<()> {
    for relative in run.series.iter().flat_map(Series::stack_files) {
        let source = from.join(relative);
        if !is_inside(relative) || !source.is_file() {
            let name = source.display();
            log::warn!("warning: {name}: not there, there will be no flame graph of it");
            continue;
        }
        let copy = to.join(relative);
        let made = copy.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::copy(&source, &copy).map(drop))
            .with_context(|| session::unwritable(&copy))?;
    }
    Ok(())
}
