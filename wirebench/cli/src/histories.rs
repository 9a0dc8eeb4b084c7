//! What verbs that read a history share: acceptances, and files that cannot be read.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::folders::Root;
use crate::outcome::Outcome;
use wirebench_declare::accepted;
use wirebench_record::accepted::{Acceptance, Accepted};

/// Logs which files were skipped. The command then fails, after reading all others.
pub(crate) fn report_skipped(skipped: impl IntoIterator<Item = String>) -> Outcome {
    let mut outcome = Outcome::Done;
    for one in skipped {
        log::error!("error: skipped: {one}");
        outcome = Outcome::Failed;
    }
    outcome
}

/// The acceptances of the project; empty outside a project.
pub(crate) fn acceptances(root: &Root) -> anyhow::Result<Vec<Acceptance>> {
    let Some(folder) = root.folder_if_any()? else {
        return Ok(Vec::new());
    };
    let compiled = accepted::read(&folder)?.into_iter().map(Accepted::compile);
    Ok(compiled.collect::<Result<_, _>>()?)
}

/// The text of a history of github-action-benchmark.
pub(crate) fn read_text(file: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow::anyhow!("{}: byte {at}: is not UTF-8 text", file.display())
    })
}
