//! `wirebench history`: runs kept over time, and the steps in them.

mod append;
mod copies;
mod import;
mod index;
mod location;
mod trend;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

pub(super) use self::location::{Location, Opened};
use crate::{Outcome, folder};
use wirebench_declare::accepted;
use wirebench_history::append::Written;
use wirebench_record::accepted::{Acceptance, Accepted};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Verb {
    /// Adds one run as a file of its own; reads no other file.
    Append(append::Args),
    /// Brings the monthly summaries up to date, so that trends are quick to read.
    Index(index::Args),
    /// Shows where each series stepped, by how much, and whether that was meant.
    Trend(trend::Args),
    /// Imports a history that github-action-benchmark kept.
    Import(import::Args),
    /// Adds all runs of a folder to a history in object storage.
    Publish(copies::PublishArgs),
    /// Copies a history from object storage into a folder.
    Fetch(copies::FetchArgs),
}

/// What object storage takes.
const STORAGE: &str = "Histories in S3-compatible object storage (s3://BUCKET/PREFIX) take AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, \
AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL from the environment, and AWS_ALLOW_HTTP=true for a server without TLS.";

/// Advice for when there is no history.
pub(super) const MAKE_ONE: &str = "make one with: wirebench history append --to DIR";

pub(super) fn execute(root: Option<PathBuf>, verb: &Verb) -> anyhow::Result<Outcome> {
    match verb {
        Verb::Append(args) => append::execute(root, args),
        Verb::Index(args) => index::execute(args),
        Verb::Trend(args) => trend::execute(root, args),
        Verb::Import(args) => import::execute(args),
        Verb::Publish(args) => copies::publish(args),
        Verb::Fetch(args) => copies::fetch(args),
    }
}

fn say(written: Written) {
    match written {
        Written::New => log::info!("added"),
        Written::AlreadyThere => log::info!("already there, nothing to do"),
    }
}

/// Prints which files were skipped. The command then fails, after reading all others.
pub(super) fn named(skipped: impl IntoIterator<Item = String>) -> Outcome {
    let mut outcome = Outcome::Done;
    for one in skipped {
        log::error!("error: skipped: {one}");
        outcome = Outcome::Failed;
    }
    outcome
}

/// The acceptances of the project of the current folder, if there is one.
pub(super) fn acceptances(root: Option<PathBuf>) -> anyhow::Result<Vec<Acceptance>> {
    let wanted = root.is_some();
    let folder = match folder(root) {
        Err(_) if !wanted => return Ok(Vec::new()),
        other => other?,
    };
    let entries = accepted::read(&folder)?;
    let compiled = entries.into_iter().map(Accepted::compile);
    Ok(compiled.collect::<Result<Vec<_>, _>>()?)
}

pub(super) fn text_of(file: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow::anyhow!("{}: byte {at}: is not UTF-8 text", file.display())
    })
}
