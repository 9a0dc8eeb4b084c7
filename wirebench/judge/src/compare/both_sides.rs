//! The counts of both sides of a series, or the reason why they are missing.

use wirebench_record::counts::{CountStatus, Counts};
use wirebench_record::reason::SeriesReason;
use wirebench_record::run::{Run, RunStatus, Series, SeriesStatus, Variant};

/// Stands for a reason that the record does not give.
pub(super) const NO_REASON: &str = "no reason recorded";

/// Why a series has no counts to compare.
pub(super) enum Missing {
    /// Counting was not tried, so there is no verdict.
    NotTried(SeriesReason),
    /// Counting failed.
    Failed(SeriesReason),
}

/// The counts of baseline and candidate.
pub(super) fn sides<'a>(run: &Run, series: &'a Series) -> Result<(&'a Counts, &'a Counts), Missing> {
    let or_none = |reason: Option<&String>| reason.map_or(NO_REASON, String::as_str).to_owned();
    let not_tried = |reason| Missing::NotTried(SeriesReason::Text { text: or_none(reason) });
    let status_of = |side| series.counts_of(side).map(|counts| counts.status);
    // The change made it impossible to count, for example because its server closes every connection.
    let is_lost = matches!(
        (status_of(Variant::Baseline), status_of(Variant::Candidate)),
        (Some(CountStatus::Ok | CountStatus::Partial), Some(CountStatus::Skipped))
    );
    if series.status == SeriesStatus::Skipped && !is_lost {
        return Err(not_tried(series.reason.as_ref()));
    }
    let side = |side: Variant| {
        let failed = |reason| {
            let why = or_none(reason);
            Missing::Failed(SeriesReason::NotCounted { side, why })
        };
        match series.counts_of(side) {
            Some(counts) if counts.status == CountStatus::Failed || (is_lost && side == Variant::Candidate) => {
                Err(failed(counts.reason.as_ref()))
            }
            Some(counts) if counts.status == CountStatus::Skipped => Err(not_tried(counts.reason.as_ref())),
            Some(counts) => Ok(counts),
            None if run.status == RunStatus::Incomplete => {
                Err(Missing::NotTried(SeriesReason::InterruptedBeforeCounting))
            }
            None => Err(failed(series.reason.as_ref())),
        }
    };
    match (side(Variant::Baseline), side(Variant::Candidate)) {
        (Ok(baseline), Ok(candidate)) => Ok((baseline, candidate)),
        // A side that was not counted takes precedence over a side whose counting failed: the series cannot be compared.
        (Err(not_tried @ Missing::NotTried(_)), _) | (_, Err(not_tried @ Missing::NotTried(_))) => Err(not_tried),
        // If counting fails on both sides, the cause is the server or the driver, not the change.
        (Err(Missing::Failed(SeriesReason::NotCounted { why, .. })), Err(Missing::Failed(_))) => {
            let text = format!("nothing was counted on either side: {why}");
            Err(Missing::NotTried(SeriesReason::Text { text }))
        }
        (Err(failed), _) | (_, Err(failed)) => Err(failed),
    }
}
