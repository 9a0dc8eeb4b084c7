//! The histories that a site is made of: the project's own, imported ones, and runs that are in no history.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::pages::Local;
use crate::folders::Root;
use crate::histories::{acceptances, read_text};
use crate::opened_history::Opened;
use wirebench_history::follow::{FollowedHistory, follow};
use wirebench_history::import::{is_name, keep, name_of, parse};
use wirebench_history::trend::{NEWEST, TrendQuery};
use wirebench_record::run::Run;

/// The trends of the history, of the imported files and of the runs that are in no history.
pub(super) fn all(
    root: &Root,
    from: &[PathBuf],
    opened: Option<&Opened>,
    below: &[Local],
) -> anyhow::Result<FollowedHistory> {
    let imports = imported(from)?;
    let local: Vec<Run> = below.iter().map(|local| local.run.clone()).collect();
    let question = TrendQuery {
        series: None,
        metric: None,
        accepted: acceptances(root)?,
        newest: NEWEST,
    };
    let mut followed = match (&imports, opened.map(Opened::path)) {
        (Some(folder), None) => follow(Some(folder.path()), &local, &question)?,
        (Some(folder), Some(history)) => with_imports(history, folder.path(), &local, &question)?,
        (None, history) => follow(history, &local, &question)?,
    };
    if let Some(opened) = opened {
        let skipped = &mut followed.trend.skipped;
        skipped.iter_mut().for_each(|one| *one = opened.with_address(one));
    }
    Ok(followed)
}

/// The files of `--from` as a history in a temporary folder.
fn imported(files: &[PathBuf]) -> anyhow::Result<Option<tempfile::TempDir>> {
    if files.is_empty() {
        return Ok(None);
    }
    let history = tempfile::tempdir()?;
    for file in files {
        let imported = parse(&read_text(file)?).with_context(|| file.display().to_string())?;
        let name = Some(name_of(file))
            .filter(|name| is_name(name))
            .unwrap_or_else(|| "imported".into());
        keep(history.path(), &name, &imported)?;
    }
    Ok(Some(history))
}

/// A history, and imported files after it.
fn with_imports(
    history: &Path,
    imports: &Path,
    local: &[Run],
    question: &TrendQuery,
) -> anyhow::Result<FollowedHistory> {
    let mut followed = follow(Some(history), local, question)?;
    let more = follow(Some(imports), &[], question)?;
    let before = followed.timelines.len();
    followed.timelines.extend(more.timelines);
    followed.trend.traces.extend(more.trend.traces);
    followed.trend.skipped.extend(more.trend.skipped);
    followed.values.extend(more.values.into_iter().map(|mut values| {
        values.timeline += before;
        values
    }));
    Ok(followed)
}
