//! Judges a counted series: every figure that both sides have, and the reasons for missing ones.

use crate::compare::both_sides::{Without, sides};
use crate::compare::calls;
use crate::compare::exact::{self, Counted, judge};
use crate::compare::functions;
use crate::compare::gates::Gates;
use crate::compare::null;
use crate::compare::series::{declared_differently, over_gating, presence, same_program};
use crate::compare::verdict::accepted;
use wirebench_declare::compare::Margin;
use wirebench_record::comparison::{ComparedMetric, ComparedSeries, Presence, Verdict};
use wirebench_record::counts::Counts;
use wirebench_record::metric::Metric;
use wirebench_record::reason::{MetricReason, SeriesReason};
use wirebench_record::run::{Run, Series};

/// A rise from 0 has no percentage; it is accepted by an entry of this size, the largest that can be written.
/// Where a record does not say why.
const UNKNOWN: &str = "no reason recorded";
const FROM_NOTHING_PERCENT: f64 = 999.0;

/// The result for a counted series of a run with a baseline.
pub(super) fn compared(run: &Run, series: &Series, gates: &Gates) -> ComparedSeries {
    let mut found = ComparedSeries {
        id: series.id.clone(),
        scenario: series.scenario.clone(),
        presence: presence(series),
        verdict: None,
        reason: series.reason.clone().map(|text| SeriesReason::Text { text }),
        metrics: Vec::new(),
        same_program: false,
        functions: Vec::new(),
    };
    if found.presence != Presence::Both {
        return found;
    }
    if series.same_program {
        return same_program(series);
    }
    match sides(run, series) {
        Err(Without::Untried(reason)) => found.reason = Some(reason),
        Err(Without::Broken(reason)) => {
            (found.verdict, found.reason) = (Some(Verdict::Invalid), Some(reason));
        }
        Ok((base, head)) => {
            let judged = |metric| judged(run, series, (base, head), metric, gates.margin(series, metric));
            found.metrics = Metric::COUNTED.into_iter().filter_map(judged).collect();
            found.functions = functions::changes(base, head, &found.metrics);
            calls::add(base, head, &mut found.functions);
            found.verdict = over_gating(&found.metrics);
            let (refused, why) = refused(base, head);
            found.reason = match (found.metrics.is_empty(), refused.is_empty()) {
                (true, true) => Some(SeriesReason::NothingCounted),
                (true, false) => Some(SeriesReason::Counts {
                    remarks: Vec::new(),
                    refused,
                    why,
                }),
                (false, _) => declared_differently(series).or_else(|| {
                    let remarks = remarks(base, head);
                    (!remarks.is_empty() || !refused.is_empty()).then_some(SeriesReason::Counts {
                        remarks,
                        refused,
                        why,
                    })
                }),
            };
        }
    }
    found
}

/// The remarks on the figures, each once.
fn remarks(base: &Counts, head: &Counts) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for remark in base.remarks.iter().chain(&head.remarks) {
        if !all.contains(remark) {
            all.push(remark.clone());
        }
    }
    all
}

/// The figures that both sides refused, with the reasons: they are not judged.
fn refused(base: &Counts, head: &Counts) -> (Vec<Metric>, Option<String>) {
    let both = |metric: &Metric| {
        matches!(
            (figure(base, *metric), figure(head, *metric)),
            (Some(Err(_)), Some(Err(_)))
        )
    };
    let all: Vec<Metric> = Metric::COUNTED.into_iter().filter(both).collect();
    let first = all.first().and_then(|metric| base.figure(*metric));
    let why = first.and_then(|figure| figure.refused.clone());
    (all, why)
}

/// A figure of one side, or why it cannot be used; `None` if the side has no such figure.
fn figure(counts: &Counts, metric: Metric) -> Option<Result<Counted, MetricReason>> {
    let figure = counts.figure(metric)?;
    let side = counts.variant;
    Some(match figure.value {
        Some(value) if value >= 0.0 => Ok(Counted {
            value,
            spread: figure.spread.unwrap_or(0.0).max(0.0),
        }),
        Some(value) => Err(MetricReason::FigureNegative { side, value }),
        None => {
            let why = figure.refused.clone().unwrap_or_else(|| UNKNOWN.into());
            Err(MetricReason::FigureRefused { side, why })
        }
    })
}

/// A figure at each start layout.
fn by_layout(counts: &Counts, metric: Metric) -> &[f64] {
    counts.figure(metric).map_or(&[], |figure| &figure.by_layout)
}

/// The result for a metric; `None` if neither side has a figure, or if an informative metric lacks one. A gating metric
/// that only one side has is invalid: both were counted with the same tools.
fn judged(
    run: &Run,
    series: &Series,
    sides: (&Counts, &Counts),
    metric: Metric,
    margin: Margin,
) -> Option<ComparedMetric> {
    let figures = (figure(sides.0, metric), figure(sides.1, metric));
    let missing = |counts: &Counts| {
        Err(MetricReason::FigureMissing {
            side: counts.variant,
            why: counts.reason.clone().unwrap_or_else(|| UNKNOWN.into()),
        })
    };
    let (base, head) = match figures {
        (None, None) => return None,
        (base, head) => (
            base.unwrap_or_else(|| missing(sides.0)),
            head.unwrap_or_else(|| missing(sides.1)),
        ),
    };
    let one_sided = base.is_ok() != head.is_ok();
    if (base.is_err() && head.is_err()) || (one_sided && !margin.gate) {
        return None;
    }
    let mut found = unjudged(metric, margin);
    found.baseline = base.as_ref().ok().map(|figure| figure.value);
    found.candidate = head.as_ref().ok().map(|figure| figure.value);
    match (base, head) {
        (Ok(base), Ok(head)) => {
            let null = null::counted(series, sides.0, metric, margin.margin.percent());
            let widened = |figure: Counted| Counted {
                spread: figure.spread.max(null.as_ref().map_or(0.0, |null| null.distance)),
                ..figure
            };
            let layouts = exact::layout_range(by_layout(sides.0, metric), by_layout(sides.1, metric));
            let said = judge(widened(base), widened(head), layouts, margin.margin.percent());
            let worse_by = said.effect.map_or(FROM_NOTHING_PERCENT, |effect| effect.max(0.0));
            found.accepted = (said.verdict == Verdict::Regressed)
                .then(|| accepted(run, series, metric, worse_by))
                .flatten();
            (found.verdict, found.reason) = (said.verdict, said.reason);
            found.effect_percent = said.effect;
            (found.effect_low_percent, found.effect_high_percent) = (said.low, said.high);
            (found.worse_at_most_percent, found.resolvable_percent) = (said.at_most, said.resolvable);
            found.spread_percent = said.spread;
            if let Some(null) = &null {
                null::add_counted(null, &mut found);
            }
        }
        (Err(reason), _) | (_, Err(reason)) => found.reason = reason,
    }
    let clear = metric == Metric::Syscalls && matches!(found.verdict, Verdict::Unchanged | Verdict::Improved);
    if let Some(waits) = calls::blocking(sides.0, sides.1).filter(|_| clear) {
        (found.verdict, found.reason) = (Verdict::Inconclusive, waits);
    }
    Some(found)
}

/// A counted metric before it is judged.
fn unjudged(metric: Metric, margin: Margin) -> ComparedMetric {
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

/// A metric of two runs: its values, not judged; `None` if a run does not have it.
pub(super) fn beside(base: &Counts, head: &Counts, metric: Metric, margin: Margin) -> Option<ComparedMetric> {
    let (Ok(base), Ok(head)) = (figure(base, metric)?, figure(head, metric)?) else {
        return None;
    };
    let said = judge(base, head, None, margin.margin.percent());
    Some(ComparedMetric {
        verdict: Verdict::Inconclusive,
        reason: MetricReason::CountedAtDifferentTimes,
        baseline: Some(base.value),
        candidate: Some(head.value),
        effect_percent: said.effect,
        spread_percent: said.spread,
        ..unjudged(metric, margin)
    })
}
