//! The histories that a site is made of: the project's own, imported ones, and runs that are in no history.

use std::path::PathBuf;

use super::pages::Local;
use crate::folders::Root;
use crate::histories::{acceptances, import};
use crate::opened_history::Opened;
use wirebench_history::follow::{Beside, FollowedHistory, follow};
use wirebench_history::trend::{NEWEST, TrendQuery};

/// The trends of the history, of the imported files and of the runs that are in no history.
pub(super) fn all(
    root: &Root,
    from: &[PathBuf],
    opened: Option<&Opened>,
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
    let mut followed = follow(opened.map(Opened::path), beside, &question)?;
    if let Some(opened) = opened {
        let skipped = &mut followed.trend.skipped;
        skipped.iter_mut().for_each(|one| *one = opened.with_address(one));
    }
    Ok(followed)
}
