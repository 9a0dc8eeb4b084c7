//! The word and the symbol of each status: the same wherever a comparison is shown.

use crate::report::percent::declared;
use wirebench_judge::summary::comparison::{Row, RowStatus};
use wirebench_record::reason::MetricReason;

/// The status in one or two words.
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

/// The word of an unchanged row that is certainly worse, for numbers of rows.
pub const WITHIN_MARGIN: &str = "worse within the margin";

/// The margin of an unchanged row whose whole interval is worse, percent: "unchanged" alone would deny what was measured.
pub fn worse_within(row: &Row) -> Option<f64> {
    match row.metric?.reason {
        MetricReason::WorseWithinMargin { margin, .. } if row.status == RowStatus::Unchanged => Some(margin),
        _ => None,
    }
}

/// Symbol and words of a row: `✗ regressed`, `= worse, within the margin of 5 %`.
pub fn of_row(row: &Row) -> String {
    let symbol = symbol(row.status);
    match worse_within(row) {
        Some(margin) => format!("{symbol} worse, within the margin of {}", declared(margin)),
        None => format!("{symbol} {}", word(row.status)),
    }
}
