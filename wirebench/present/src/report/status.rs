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

/// The status of a series, and its check mark: the class, and the shape with a word.
pub(crate) const fn of_series(status: SeriesStatus) -> (&'static str, (&'static str, &'static str)) {
    match status {
        SeriesStatus::Ok => ("ok", ("whole", "✓ whole")),
        SeriesStatus::Partial => ("partial", ("open", "! in part")),
        SeriesStatus::Failed => ("failed", ("worse", "✗ failed")),
        SeriesStatus::Incomplete => ("incomplete", ("open", "! incomplete")),
        SeriesStatus::Skipped => ("skipped", ("noise", "– skipped")),
    }
}
