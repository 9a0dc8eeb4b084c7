//! The words for the status of runs and series.

use wirebench_record::run::{RunStatus, SeriesStatus};

/// The status of a run.
pub(crate) const fn of_run(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Complete => "complete",
        RunStatus::Incomplete => "incomplete",
        RunStatus::Failed => "failed in part",
    }
}

/// The status of a series.
pub(crate) const fn of_series(status: SeriesStatus) -> &'static str {
    match status {
        SeriesStatus::Ok => "ok",
        SeriesStatus::Partial => "partial",
        SeriesStatus::Failed => "failed",
        SeriesStatus::Incomplete => "incomplete",
        SeriesStatus::Skipped => "skipped",
    }
}

/// The check mark of a series: its class, and its shape with a word.
pub(crate) const fn check(status: SeriesStatus) -> (&'static str, &'static str) {
    match status {
        SeriesStatus::Ok => ("whole", "✓ whole"),
        SeriesStatus::Partial => ("open", "! in part"),
        SeriesStatus::Failed => ("worse", "✗ failed"),
        SeriesStatus::Incomplete => ("open", "! incomplete"),
        SeriesStatus::Skipped => ("noise", "– skipped"),
    }
}
