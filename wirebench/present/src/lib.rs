//! What wirebench shows: tables and comments, the dashboard, pictures, and documents made from a run. Computes nothing that
//! `wirebench_judge` could.

use std::io;
use std::path::Path;

pub mod report;
pub mod site;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Why something could not be shown: the file or program, the cause, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PresentError(String);

impl PresentError {
    fn unwritable(file: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |source| Self(format!("{}: cannot be written: {source}", file.display()))
    }
}
