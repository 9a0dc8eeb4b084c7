//! The colour of a status in a comparison.

use wirebench_judge::summary::comparison::RowStatus;

/// The class that gives a status its colour; its word and shape always stand beside it.
pub(crate) const fn class(status: RowStatus) -> &'static str {
    match status {
        RowStatus::Regressed => "worse",
        RowStatus::Improved => "better",
        RowStatus::Invalid | RowStatus::Inconclusive => "open",
        RowStatus::Accepted | RowStatus::Unchanged | RowStatus::NotJudged => "noise",
    }
}
