//! The histories that a site is made of: the project's own, imported ones, and runs that are in no history.

use std::path::{Path, PathBuf};

use super::pages::Local;
use crate::folders::Root;
use crate::histories::{acceptances, import};
use wirebench_history::follow::{Beside, FollowedHistory, follow};
use wirebench_history::trend::{NEWEST, TrendQuery};

/// The trends of the history, of the imported files and of the runs that are in no history.
pub(super) fn all(
    root: &Root,
    from: &[PathBuf],
    history: Option<&Path>,
    below: &[Local],
) -> anyhow::Result<FollowedHistory> {
    let imported = from.iter().map(|file| Ok((file.clone(), import(file)?)));
    let beside = Beside {
        runs: below.iter().map(|local| local.run.clone()).collect(),
        imported: imported.collect::<anyhow::Result<_>>()?,
    };
    let question = TrendQuery {
        series: None,
        metric: None,
        accepted: acceptances(root)?,
        newest: NEWEST,
    };
    Ok(follow(history, beside, &question)?)
}
