//! `--only WHAT`: the part of a plan that is measured.

/// The value of --only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Only {
    /// Counts only; as `wirebench count`.
    Counts,
    /// Rounds of load.
    Timings,
}
