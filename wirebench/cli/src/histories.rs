//! What verbs that read or write a history share: adding runs, acceptances, imports, and files that cannot be read.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::folders::{Root, check_exists};
use crate::outcome::{Outcome, UsageError};
use wirebench_declare::accepted;
use wirebench_history::append::{self, Admit, Written};
use wirebench_history::import::{LARGEST_FILE, parse};
use wirebench_record::accepted::{Acceptance, Accepted};
use wirebench_record::imported::Imported;
use wirebench_record::run::Run;

/// A history's folder as an argument: an address such as `s3://bucket` would become a folder of that name.
///
/// # Errors
/// If it is an address.
pub(crate) fn local_folder(text: &str) -> Result<PathBuf, String> {
    if text.contains("://") {
        return Err("expected a folder: `aws s3 sync` or `rclone copy` shares it afterwards (docs/PLACES.md)".into());
    }
    Ok(PathBuf::from(text))
}

/// Checks that the folder of a history to be read exists.
///
/// # Errors
/// When it does not exist.
pub(crate) fn check_history(folder: &Path) -> Result<(), UsageError> {
    check_exists(folder, "HISTORY", "make one with: wirebench history append --to DIR")
}

/// Adds a run to a history, and prints where it is.
///
/// # Errors
/// When the run is refused, another run is there under its name, or the history cannot be written.
pub(crate) fn append(history: &Path, run: &Run, admit: Admit) -> anyhow::Result<()> {
    let (file, written) = append::append(history, run, admit)?;
    println!("{}", file.display());
    log_written(written);
    Ok(())
}

/// Logs whether a file is new.
pub(crate) fn log_written(written: Written) {
    match written {
        Written::New => log::info!("added"),
        Written::AlreadyThere => log::info!("already there, nothing to do"),
    }
}

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

/// Reads a history of github-action-benchmark, of which no more than [`LARGEST_FILE`] bytes are read.
pub(crate) fn import(file: &Path) -> anyhow::Result<Imported> {
    let name = file.display();
    let open = File::open(file).with_context(|| format!("{name}: cannot be read"))?;
    let mut bytes = Vec::new();
    // One byte more than allowed: a device or a pipe does not tell its length.
    let read = open.take(LARGEST_FILE + 1).read_to_end(&mut bytes);
    let length = read.with_context(|| format!("{name}: cannot be read"))?;
    if length as u64 > LARGEST_FILE {
        let most = LARGEST_FILE >> 20;
        anyhow::bail!(
            "{name}: is larger than {most} MiB; leave out old runs or benchmarks that nobody looks at, and import that"
        );
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow::anyhow!("{name}: byte {at}: is not UTF-8 text")
    })?;
    parse(&text).with_context(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_written_to_a_folder_and_not_to_an_address() {
        assert_eq!(local_folder("results/history"), Ok(PathBuf::from("results/history")));
        assert!(local_folder("s3://bucket/history").is_err_and(|said| said.starts_with("expected a folder")));
    }
}
