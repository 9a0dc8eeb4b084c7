//! The counts of both sides of a series, or the reason why they are missing.

use wirebench_record::counts::{CountStatus, Counts};
use wirebench_record::run::{Run, RunStatus, Series, SeriesStatus, Variant};

/// Why a series has no figures to compare.
pub(super) enum Without {
    /// Nothing was tried: no verdict. Says why.
    Untried(String),
    /// Something went wrong. Says what.
    Broken(String),
}

/// The counts of both sides, when both have some.
pub(super) fn sides<'a>(run: &Run, series: &'a Series) -> Result<(&'a Counts, &'a Counts), Without> {
    let why = |reason: Option<&String>| reason.map_or_else(|| "no reason recorded".to_owned(), Clone::clone);
    if series.status == SeriesStatus::Skipped {
        return Err(Without::Untried(why(series.reason.as_ref())));
    }
    let side = |variant: Variant| {
        let name = variant.name();
        match series.counts_of(variant) {
            Some(counts) if counts.status == CountStatus::Skipped => Err(Without::Untried(why(counts.reason.as_ref()))),
            Some(counts) if counts.status == CountStatus::Failed => {
                let reason = format!("nothing was counted on the {name}: {}", why(counts.reason.as_ref()));
                Err(Without::Broken(reason))
            }
            Some(counts) => Ok(counts),
            None if run.status == RunStatus::Incomplete => {
                Err(Without::Untried("not counted: the run was interrupted".into()))
            }
            None => {
                let reason = format!("nothing was counted on the {name}: {}", why(series.reason.as_ref()));
                Err(Without::Broken(reason))
            }
        }
    };
    match (side(Variant::Baseline), side(Variant::Candidate)) {
        (Ok(base), Ok(head)) => Ok((base, head)),
        // A side that was not counted at all takes precedence over one that failed: there is nothing to compare.
        (Err(untried @ Without::Untried(_)), _) | (_, Err(untried @ Without::Untried(_))) => Err(untried),
        (Err(broken), _) | (_, Err(broken)) => Err(broken),
    }
}
