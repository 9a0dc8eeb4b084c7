//! What timed and counted series share: on which sides they are, their verdict, and their remarks.

use wirebench_declare::compare::Margin;
use wirebench_record::comparison::{ComparedMetric, ComparedSeries, Presence, Verdict};
use wirebench_record::metric::Metric;
use wirebench_record::reason::{MetricReason, SeriesReason};
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

/// The remark on a series whose load the baseline declares differently.
pub(super) fn declared_differently(series: &Series) -> Option<SeriesReason> {
    let differs = series.baseline_digest.is_some();
    differs.then_some(SeriesReason::DeclaredDifferently)
}

/// A series without verdict, reason and metrics.
pub(super) fn unjudged_series(series: &Series, presence: Presence) -> ComparedSeries {
    ComparedSeries {
        id: series.id.clone(),
        scenario: series.scenario.clone(),
        presence,
        verdict: None,
        reason: None,
        same_program: false,
        metrics: Vec::new(),
        functions: Vec::new(),
        work: None,
    }
}

/// A metric without figures: invalid until it is judged.
pub(super) fn unjudged_metric(metric: Metric, margin: Margin) -> ComparedMetric {
    ComparedMetric {
        metric,
        unit: metric.unit().into(),
        better: metric.better(),
        primary: margin.gate,
        verdict: Verdict::Invalid,
        reason: MetricReason::Elsewhere,
        accepted: None,
        baseline: None,
        candidate: None,
        effect_percent: None,
        effect_low_percent: None,
        effect_high_percent: None,
        worse_at_most_percent: None,
        margin_percent: margin.margin.percent(),
        resolvable_percent: None,
        spread_percent: None,
        p_worse: None,
        p_better: None,
        stage: 1,
        pairs: 0,
        kept: 0,
        dropped_baseline: 0,
        dropped_candidate: 0,
        null_percent: None,
        null_pairs: 0,
        flame_graph: None,
    }
}
