//! The word and the symbol of each status: the same wherever a comparison is shown.

use wirebench_judge::summary::comparison::RowStatus;

/// The status in one or two words.
#[must_use]
pub const fn word(status: RowStatus) -> &'static str {
    match status {
        RowStatus::Regressed => "regressed",
        RowStatus::Invalid => "invalid",
        RowStatus::Inconclusive => "inconclusive",
        RowStatus::Accepted => "accepted",
        RowStatus::Improved => "improved",
        RowStatus::Unchanged => "unchanged",
        RowStatus::NotJudged => "not judged",
    }
}

/// A symbol that needs no colour. Not an arrow: falling throughput and rising CPU time are both worse.
#[must_use]
pub const fn symbol(status: RowStatus) -> &'static str {
    match status {
        RowStatus::Regressed => "✗",
        RowStatus::Invalid => "!",
        RowStatus::Inconclusive => "?",
        RowStatus::Accepted => "~",
        RowStatus::Improved => "✓",
        RowStatus::Unchanged => "=",
        RowStatus::NotJudged => "–",
    }
}
