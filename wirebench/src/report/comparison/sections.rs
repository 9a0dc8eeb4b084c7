//! The parts that comment and terminal have in common, as words without markup.

use crate::record::comparison::{ComparedMetric, Comparison};
use crate::report::comparison::words::{self, declared, size};
use crate::report::format::count;
use crate::summary::comparison::{Findings, Row, Standing};

/// How often the rows stand in each way: `3 regressed, 45 unchanged`.
pub(super) fn tally(rows: &[Row]) -> String {
    let all = [
        Standing::Regressed,
        Standing::Invalid,
        Standing::Inconclusive,
        Standing::Accepted,
        Standing::Improved,
        Standing::Unchanged,
        Standing::NotJudged,
    ];
    let each: Vec<String> = (all.into_iter())
        .map(|standing| (standing, rows.iter().filter(|row| row.standing == standing).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(standing, count)| format!("{count} {}", words::word(standing)))
        .collect();
    each.join(", ")
}

/// Baseline and candidate, each with its unit, which is the record's text.
pub(super) fn values(metric: &ComparedMetric) -> [String; 2] {
    [metric.baseline, metric.candidate].map(|value| words::value(value, &metric.unit))
}

/// The smallest worsening that would have been seen.
pub(super) fn resolvable(metric: &ComparedMetric) -> String {
    metric.resolvable_percent.map_or("–".into(), size)
}

/// How often equal code is called regressed.
pub(super) fn false_alarms(comparison: &Comparison) -> String {
    let method = &comparison.method;
    let (gating, informative) = method.tests;
    format!(
        "code that did not change is called regressed in at most {} of comparisons, by construction of the test ({gating} gating and {informative} informative tests)",
        declared(method.false_alarm_at_most_percent)
    )
}

/// The spread of every metric: `server CPU per request 6.1 % (4.2 to 9.0 %)`.
pub(super) fn spreads(findings: &Findings) -> Option<String> {
    let each: Vec<String> = (findings.spreads().iter())
        .map(|(metric, spread)| {
            let range = if spread.low < spread.high {
                format!(
                    " ({} to {})",
                    size(spread.low).trim_end_matches(" %"),
                    size(spread.high)
                )
            } else {
                String::new()
            };
            format!("{} {}{range}", metric.label(), size(spread.median))
        })
        .collect();
    (!each.is_empty()).then(|| each.join(" · "))
}

/// Pairs that were left out, by the side whose round was far from its neighbours; none when all were kept.
pub(super) fn dropped(findings: &Findings) -> Option<String> {
    let (baseline, candidate) = findings.dropped();
    (baseline + candidate > 0)
        .then(|| format!("{baseline} because of the baseline, {candidate} because of the candidate"))
}

/// What is on one side only: `1 series added, 2 removed`; none when all are on both.
pub(super) fn one_sided(findings: &Findings) -> Option<String> {
    let series = |n: usize, how: &str| (n > 0).then(|| format!("{} {how}", count_of(n)));
    let parts: Vec<String> = [
        series(findings.added.len(), "added"),
        series(findings.removed.len(), "removed"),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
fn count_of(n: usize) -> String {
    format!("{} series", count(n as f64))
}
