//! What timed and counted series share: on which sides they are, their verdict, and their remarks.

use crate::compare::unjudged::unjudged_series;
use wirebench_record::comparison::{ComparedMetric, ComparedSeries, Presence, Verdict};
use wirebench_record::reason::SeriesReason;
use wirebench_record::run::{Series, Variant};

/// On which sides a series of one run is.
pub(super) const fn presence(series: &Series) -> Presence {
    match series.missing_in {
        None | Some(Variant::Reference | Variant::Null) => Presence::Both,
        Some(Variant::Baseline) => Presence::Added,
        Some(Variant::Candidate) => Presence::Removed,
    }
}

/// The result for a series whose server is the same program on both sides.
pub(super) fn same_program(series: &Series) -> ComparedSeries {
    ComparedSeries {
        verdict: Some(Verdict::Unchanged),
        reason: Some(SeriesReason::SameProgram),
        same_program: true,
        ..unjudged_series(series, Presence::Both)
    }
}

/// The verdict of a series, over its gating metrics that are not accepted.
pub(super) fn over_gating(metrics: &[ComparedMetric]) -> Option<Verdict> {
    (metrics.iter())
        .filter(|metric| metric.primary && metric.accepted.is_none())
        .map(|metric| metric.verdict)
        .min()
}

/// The remark on a series whose load the baseline declares differently.
pub(super) fn declared_differently(series: &Series) -> Option<SeriesReason> {
    let differs = series.baseline_digest.is_some();
    differs.then_some(SeriesReason::DeclaredDifferently)
}
