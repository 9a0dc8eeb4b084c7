//! The verdicts that make `wirebench gate` fail.

use clap::ValueEnum;

use wirebench_record::comparison::Verdict;

/// A value of --fail-on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A gating metric got worse by more than its margin.
    Regressed,
    /// A relevant worsening can be neither shown nor excluded.
    Inconclusive,
    /// A gating metric cannot be judged.
    Invalid,
    /// No gating metric is on both sides: a renamed server, or everything skipped.
    NotJudged,
}

impl FailOn {
    pub(crate) const fn verdict(self) -> Verdict {
        match self {
            Self::Regressed => Verdict::Regressed,
            Self::Inconclusive => Verdict::Inconclusive,
            Self::Invalid => Verdict::Invalid,
            Self::NotJudged => Verdict::NotJudged,
        }
    }
}
