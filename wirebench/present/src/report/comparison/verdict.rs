//! The word and the symbol of each standing: the same wherever a comparison is shown.

use wirebench_judge::summary::comparison::Standing;

/// The standing in one or two words.
#[must_use]
pub const fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Regressed => "regressed",
        Standing::Invalid => "invalid",
        Standing::Inconclusive => "inconclusive",
        Standing::Accepted => "accepted",
        Standing::Improved => "improved",
        Standing::Unchanged => "unchanged",
        Standing::NotJudged => "not judged",
    }
}

/// A symbol that needs no colour. Not an arrow: falling throughput and rising CPU time are both worse.
#[must_use]
pub const fn symbol(standing: Standing) -> &'static str {
    match standing {
        Standing::Regressed => "✗",
        Standing::Invalid => "!",
        Standing::Inconclusive => "?",
        Standing::Accepted => "~",
        Standing::Improved => "✓",
        Standing::Unchanged => "=",
        Standing::NotJudged => "–",
    }
}
