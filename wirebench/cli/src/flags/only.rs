//! `--only WHAT`: the part of a plan that is measured.

use std::fmt::{self, Display, Formatter};

/// The value of --only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Only {
    /// Counts only; as `wirebench count`.
    Counts,
    /// Rounds of load.
    Timings,
}

impl Display for Only {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counts => "counts",
            Self::Timings => "timings",
        })
    }
}
