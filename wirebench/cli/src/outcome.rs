//! How a command ends: its outcome or its error, which become the exit code.

use wirebench_declare::read::DeclareError;
use wirebench_engine::session::NothingToMeasure;
use wirebench_record::run::{Run, RunStatus};

/// How a command ended without an error; becomes the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// 0: done.
    Done,
    /// 1: something failed, and a message was printed.
    Failed,
    /// 3: a gating metric regressed, or the verdict is one that --fail-on names.
    Regressed,
    /// 4: no gating metric was judged.
    NotJudged,
    /// 125, which `git bisect run` skips: with --bisect, it cannot be told whether the commit is worse.
    CannotTell,
}

impl Outcome {
    /// [`Self::Done`] if everything succeeded, [`Self::Failed`] otherwise.
    pub(crate) const fn of(succeeded: bool) -> Self {
        if succeeded { Self::Done } else { Self::Failed }
    }

    /// [`Self::Failed`] if something of a run failed or is missing.
    pub(crate) fn of_run(run: &Run) -> Self {
        Self::of(run.status == RunStatus::Complete)
    }
}

/// Wrong usage: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// True if an error is wrong usage or a wrong declaration, so that the exit code is 2.
pub fn is_usage(error: &anyhow::Error) -> bool {
    error.is::<UsageError>() || error.is::<NothingToMeasure>() || error.is::<DeclareError>()
}

/// An error with its causes, each once.
pub fn describe_error(error: &anyhow::Error) -> String {
    let mut words: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if words.iter().all(|earlier| !earlier.contains(&cause)) {
            words.push(cause);
        }
    }
    words.join(": ")
}
