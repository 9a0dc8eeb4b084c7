//! The colour of a standing in a comparison.

use wirebench_judge::summary::comparison::Standing;

/// The class that gives a standing its colour; its word and shape always stand beside it.
pub(crate) const fn class(standing: Standing) -> &'static str {
    match standing {
        Standing::Regressed => "worse",
        Standing::Improved => "better",
        Standing::Invalid | Standing::Inconclusive => "open",
        Standing::Accepted | Standing::Unchanged | Standing::NotJudged => "noise",
    }
}
