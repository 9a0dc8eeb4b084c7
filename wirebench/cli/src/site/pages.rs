//! The runs that get a page: the newest of the history, and those of `--runs`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::{comparisons, runs};
use wirebench_history::follow::FollowedHistory;
use wirebench_history::run_file;
use wirebench_judge::compare::{Rules, paired};
use wirebench_present::site::PagedRun;
use wirebench_record::history::StoredRun;
use wirebench_record::run::{Run, Variant};

/// Where a history may keep more of a run than its record: a folder for each, named by its id, with its comparison and its
/// flame graphs as they lie in the run's own folder.
const KEPT: &str = "kept";

/// How many of the newest runs get a page of their own.
const RUN_PAGES: usize = 50;

/// A run that is in no history.
pub(super) struct Local {
    pub(super) run: Run,
    folder: PathBuf,
}

/// Every complete run of a folder of runs, by name.
pub(super) fn below(folder: &Path) -> anyhow::Result<Vec<Local>> {
    fs::read_dir(folder).with_context(|| format!("{}: cannot be read", folder.display()))?;
    let mut folders: Vec<PathBuf> = runs::below(folder, "run.json").collect();
    folders.sort();
    let mut runs = Vec::new();
    for folder in folders {
        match runs::read(&folder.join("run.json")) {
            Ok(run) => runs.push(Local { run, folder }),
            Err(error) => log::error!("warning: left out: {error:#}"),
        }
    }
    Ok(runs)
}

/// The newest runs with their comparisons, the newest last.
pub(super) fn paged(
    history: Option<&Path>,
    local: &[Local],
    followed: &FollowedHistory,
    project: Option<&Path>,
) -> anyhow::Result<Vec<PagedRun>> {
    let Some(line) = followed.timelines.first().filter(|line| !line.runs.is_empty()) else {
        return Ok(Vec::new());
    };
    let rules = project.map(|project| Rules::read(&project.join("wirebench.toml")));
    let rules = rules.transpose()?.unwrap_or_default();
    let newest: Vec<&StoredRun> = line.runs.iter().rev().take(RUN_PAGES).collect();
    let found = newest.par_iter().filter_map(|known| one(history, local, known, &rules));
    let mut found: Vec<PagedRun> = found.collect();
    found.reverse();
    Ok(found)
}

/// A run with its comparison; `None` if only the monthly summary has it.
fn one(history: Option<&Path>, local: &[Local], known: &StoredRun, rules: &Rules) -> Option<PagedRun> {
    let own = local.iter().find(|local| local.run.id == known.id);
    let run = match own {
        Some(local) => local.run.clone(),
        None => runs::read(&run_file(history?, known)).ok()?,
    };
    let kept = history.map(|history| history.join(KEPT).join(&known.id));
    let folder = own.map(|local| local.folder.clone());
    let folder = folder.or_else(|| kept.filter(|folder| folder.is_dir()));
    let file = folder.as_ref().map(|folder| folder.join(comparisons::FILE));
    let judged = file.and_then(|file| comparisons::read(&file).ok());
    let has_baseline = run.variants.iter().any(|one| one.variant == Variant::Baseline);
    let comparison = judged.or_else(|| has_baseline.then(|| paired(&run, rules).ok()).flatten());
    Some(PagedRun {
        run,
        comparison,
        folder,
    })
}
