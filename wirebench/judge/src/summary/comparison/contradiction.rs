//! Checks that the verdicts of a comparison agree with each other.

use wirebench_record::comparison::{Comparison, Verdict};

/// A verdict that contradicts the comparison's rows, in one sentence: the overall verdict must be as alarming as that of the
/// most alarming series, and the verdict of a series as alarming as that of its most alarming gating metric. `None` if all
/// agree.
pub fn contradiction(comparison: &Comparison) -> Option<String> {
    for series in &comparison.series {
        let gating = series
            .metrics
            .iter()
            .filter(|metric| metric.primary && metric.accepted.is_none());
        let worst = gating.map(|metric| metric.verdict).min();
        if worst.is_some_and(|worst| series.verdict.is_none_or(|verdict| verdict > worst)) {
            return Some(format!("{} is less alarming than its own metrics", series.id));
        }
        if series.verdict.is_some_and(|verdict| comparison.verdict > verdict) {
            return Some(format!(
                "the overall verdict is less alarming than that of {}",
                series.id
            ));
        }
    }
    if comparison.paired && comparison.verdict != Verdict::over(&comparison.series) {
        return Some("the overall verdict is not that of its series".into());
    }
    None
}
