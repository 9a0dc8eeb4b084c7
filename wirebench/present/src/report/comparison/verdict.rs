//! The word and the symbol of each status: the same wherever a comparison is shown.

use crate::report::format::declared;
use wirebench_judge::summary::comparison::{Row, RowStatus};
use wirebench_record::reason::MetricReason;

/// The word of a status, its symbol, and the class that gives it its colour on a page, where word and shape stand beside it.
const fn shown(status: RowStatus) -> [&'static str; 3] {
    match status {
        RowStatus::Regressed => ["regressed", "✗", "worse"],
        RowStatus::Invalid => ["invalid", "!", "open"],
        RowStatus::Inconclusive => ["inconclusive", "?", "open"],
        RowStatus::Accepted => ["accepted", "~", "noise"],
        RowStatus::Improved => ["improved", "✓", "better"],
        RowStatus::Unchanged => ["unchanged", "=", "noise"],
        RowStatus::NotJudged => ["not judged", "–", "noise"],
    }
}

/// The status in one or two words.
pub const fn word(status: RowStatus) -> &'static str {
    shown(status)[0]
}

/// A symbol that needs no colour. Not an arrow: falling throughput and rising CPU time are both worse.
pub const fn symbol(status: RowStatus) -> &'static str {
    shown(status)[1]
}

/// The class of a status on a page.
pub(crate) const fn class(status: RowStatus) -> &'static str {
    shown(status)[2]
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
