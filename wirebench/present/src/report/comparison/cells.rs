//! The figures of a compared metric as text, the same in every table and sentence.

use crate::report::format::number;
use crate::report::percent::{change, interval, size};
use crate::report::values::figure;
use wirebench_record::comparison::ComparedMetric;

/// The change with its interval: `+11.8 % (+9.9 to +13.6 %)`; without one if a count is exact; a dash if it is unknown.
pub fn effect(metric: &ComparedMetric) -> String {
    let is_counted = metric.metric.is_counted();
    let Some(percent) = metric.effect_percent else {
        return match metric.baseline.zip(metric.candidate) {
            Some((from, to)) if is_counted => format!("from {} to {}", number(from), number(to)),
            _ => "–".into(),
        };
    };
    match metric.effect_low_percent.zip(metric.effect_high_percent) {
        Some((low, high)) if !(is_counted && change(low) == change(high)) => {
            format!("{} ({})", change(percent), interval(low, high))
        }
        _ => change(percent),
    }
}

/// The changes that an interval allows, and the smallest worsening that could have been seen; `None` without an interval.
pub(super) fn bounds(metric: &ComparedMetric) -> Option<String> {
    let (low, high) = (metric.effect_low_percent?, metric.effect_high_percent?);
    let between = format!("between {} and {}", change(low), change(high));
    Some(match metric.resolvable_percent {
        Some(percent) => format!("{between}; smaller than {} cannot be seen here", size(percent)),
        None => between,
    })
}

/// Baseline and candidate, each with its unit.
pub fn values(metric: &ComparedMetric) -> [String; 2] {
    [metric.baseline, metric.candidate]
        .map(|value| value.map_or_else(|| "–".into(), |value| figure(metric.metric, value)))
}

/// The smallest worsening that would have been seen; `any` for a count without spread.
pub fn resolvable(metric: &ComparedMetric) -> String {
    match metric.resolvable_percent {
        Some(percent) if metric.metric.is_counted() && percent < 1e-6 => "any".into(),
        percent => percent.map_or("–".into(), size),
    }
}
