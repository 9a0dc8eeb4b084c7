//! The counts of both sides of a series, or the reason why they are missing.

use wirebench_record::counts::{CountStatus, Counts};
use wirebench_record::reason::SeriesReason;
use wirebench_record::run::{Run, RunStatus, Series, SeriesStatus, Variant};

/// Why a series has no figures to compare.
pub(super) enum Without {
    /// Nothing was tried: no verdict. Says why.
    Untried(SeriesReason),
    /// Something went wrong. Says what.
    Broken(SeriesReason),
}

/// The counts of both sides, when both have some.
pub(super) fn sides<'a>(run: &Run, series: &'a Series) -> Result<(&'a Counts, &'a Counts), Without> {
    let why = |reason: Option<&String>| reason.map_or_else(|| "no reason recorded".to_owned(), Clone::clone);
    let text = |reason| SeriesReason::Text { text: why(reason) };
    if series.status == SeriesStatus::Skipped {
        return Err(Without::Untried(text(series.reason.as_ref())));
    }
    let side = |variant: Variant| {
        let not_counted = |reason| {
            Without::Broken(SeriesReason::NotCounted {
                side: variant,
                why: why(reason),
            })
        };
        match series.counts_of(variant) {
            Some(counts) if counts.status == CountStatus::Skipped => {
                Err(Without::Untried(text(counts.reason.as_ref())))
            }
            Some(counts) if counts.status == CountStatus::Failed => Err(not_counted(counts.reason.as_ref())),
            Some(counts) => Ok(counts),
            None if run.status == RunStatus::Incomplete => {
                Err(Without::Untried(SeriesReason::InterruptedBeforeCounting))
            }
            None => Err(not_counted(series.reason.as_ref())),
        }
    };
    match (side(Variant::Baseline), side(Variant::Candidate)) {
        (Ok(base), Ok(head)) => Ok((base, head)),
        // A side that was not counted at all takes precedence over one that failed: there is nothing to compare.
        (Err(untried @ Without::Untried(_)), _) | (_, Err(untried @ Without::Untried(_))) => Err(untried),
        // What stops counting on both sides lies in the server or the driver, not in the change.
        (Err(Without::Broken(SeriesReason::NotCounted { why, .. })), Err(Without::Broken(_))) => {
            Err(Without::Untried(SeriesReason::Text {
                text: format!("nothing was counted on either side: {why}"),
            }))
        }
        (Err(broken), _) | (_, Err(broken)) => Err(broken),
    }
}
