//! Judges a counted series: every figure that both sides have, new system calls, and the reasons for missing ones.

use std::collections::BTreeSet;

use crate::compare::exact::{self, Counted, judge};
use crate::compare::functions::{self, with_caller};
use crate::compare::series::{Gates, declared_differently, presence, same_program, unjudged_metric, unjudged_series};
use crate::compare::verdict::accepted;
use crate::compare::{null, work};
use wirebench_declare::compare::Margin;
use wirebench_record::comparison::{ComparedMetric, ComparedSeries, FunctionChange, Presence, Verdict};
use wirebench_record::counts::{BLOCKING_CALLS, CountStatus, Counts};
use wirebench_record::metric::Metric;
use wirebench_record::reason::{MetricReason, SeriesReason};
use wirebench_record::run::{Run, RunStatus, Series, SeriesStatus, Variant};

/// A rise from 0 has no percentage; it is accepted by an entry of this size, the largest that can be written.
const FROM_ZERO_PERCENT: f64 = 999.0;

/// The result for a counted series of a run with a baseline.
pub(super) fn compared(run: &Run, series: &Series, gates: &Gates) -> ComparedSeries {
    let presence = presence(series);
    if presence == Presence::Both && series.same_program {
        return same_program(series);
    }
    let mut compared = unjudged_series(series, presence);
    compared.reason = series.reason.clone().map(|text| SeriesReason::Text { text });
    if presence != Presence::Both {
        return compared;
    }
    let counts = [Variant::Baseline, Variant::Candidate].map(|side| series.counts_of(side));
    if let [Some(baseline), Some(candidate)] = counts {
        compared.work = work::change(baseline, candidate);
    }
    match sides(run, series) {
        Err((verdict, reason)) => (compared.verdict, compared.reason) = (verdict, Some(reason)),
        Ok((baseline, candidate)) => {
            let judged = |metric| judged(run, series, (baseline, candidate), metric, gates.margin(series, metric));
            compared.metrics = Metric::COUNTED.into_iter().filter_map(judged).collect();
            compared.functions = functions::changes(baseline, candidate, &compared.metrics);
            add_new_calls(baseline, candidate, &mut compared.functions);
            compared.verdict = Verdict::over_gating(&compared.metrics);
            compared.reason = reason(series, baseline, candidate, &compared.metrics);
        }
    }
    compared
}

/// What to know of a series that was counted on both sides.
fn reason(series: &Series, baseline: &Counts, candidate: &Counts, metrics: &[ComparedMetric]) -> Option<SeriesReason> {
    let (refused, why) = refused(baseline, candidate);
    if metrics.is_empty() {
        return Some(if refused.is_empty() {
            SeriesReason::NothingCounted
        } else {
            let remarks = Vec::new();
            SeriesReason::Counts { remarks, refused, why }
        });
    }
    declared_differently(series).or_else(|| {
        let remarks = remarks(baseline, candidate);
        let is_empty = remarks.is_empty() && refused.is_empty();
        (!is_empty).then_some(SeriesReason::Counts { remarks, refused, why })
    })
}

/// The remarks on the figures, each once.
fn remarks(baseline: &Counts, candidate: &Counts) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let all = baseline.remarks.iter().chain(&candidate.remarks);
    all.filter(|remark| seen.insert(*remark)).cloned().collect()
}

/// The figures that both sides refused, which are not judged, and why the first was refused.
fn refused(baseline: &Counts, candidate: &Counts) -> (Vec<Metric>, Option<String>) {
    let is_refused = |counts, metric| matches!(figure(counts, metric), Some(Err(_)));
    let both = |metric: &Metric| is_refused(baseline, *metric) && is_refused(candidate, *metric);
    let all: Vec<Metric> = Metric::COUNTED.into_iter().filter(both).collect();
    let first = all.first().and_then(|metric| baseline.figure(*metric));
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
            let why = figure.refused.clone().unwrap_or_else(|| NO_REASON.into());
            Err(MetricReason::FigureRefused { side, why })
        }
    })
}

/// A figure at each start layout.
fn by_layout(counts: &Counts, metric: Metric) -> &[f64] {
    counts.figure(metric).map_or(&[], |figure| &figure.by_layout)
}

/// The result for a metric; `None` if neither side has a figure, or if an informative metric lacks one. A gating metric
/// that only one side has is invalid: both were counted with the same tools. A figure that was counted and does not repeat
/// on one side is no fault of the measurement, and no proof: inconclusive.
fn judged(
    run: &Run,
    series: &Series,
    sides: (&Counts, &Counts),
    metric: Metric,
    margin: Margin,
) -> Option<ComparedMetric> {
    let missing = |counts: &Counts| {
        let why = counts.reason.clone().unwrap_or_else(|| NO_REASON.into());
        let side = counts.variant;
        Err(MetricReason::FigureMissing { side, why })
    };
    let [baseline, candidate] = [sides.0, sides.1].map(|side| figure(side, metric).unwrap_or_else(|| missing(side)));
    let one_sided = baseline.is_ok() != candidate.is_ok();
    if (baseline.is_err() && candidate.is_err()) || (one_sided && !margin.gate) {
        return None;
    }
    let mut judged = unjudged_metric(metric, margin);
    judged.baseline = baseline.as_ref().ok().map(|figure| figure.value);
    judged.candidate = candidate.as_ref().ok().map(|figure| figure.value);
    match (baseline, candidate) {
        (Ok(baseline), Ok(candidate)) => judged = judge_figures(run, series, sides, (baseline, candidate), judged),
        (Err(reason), _) | (_, Err(reason)) => {
            if !matches!(reason, MetricReason::FigureMissing { .. }) {
                judged.verdict = Verdict::Inconclusive;
            }
            judged.reason = reason;
        }
    }
    let looks_fine = metric == Metric::Syscalls && matches!(judged.verdict, Verdict::Unchanged | Verdict::Improved);
    if let Some(blocking) = new_blocking_call(sides.0, sides.1).filter(|_| looks_fine) {
        (judged.verdict, judged.reason) = (Verdict::Inconclusive, blocking);
    }
    Some(judged)
}

/// The result for the figures of both sides.
fn judge_figures(
    run: &Run,
    series: &Series,
    sides: (&Counts, &Counts),
    (baseline, candidate): (Counted, Counted),
    unjudged: ComparedMetric,
) -> ComparedMetric {
    let metric = unjudged.metric;
    let null = null::counted(series, sides.0, &unjudged);
    // The null shows how far figures of one program lie apart.
    let widened = |figure: Counted| Counted {
        spread: figure.spread.max(null.as_ref().map_or(0.0, |null| null.distance)),
        ..figure
    };
    let layouts = exact::layout_range(by_layout(sides.0, metric), by_layout(sides.1, metric));
    let mut judged = judge(widened(baseline), widened(candidate), layouts, unjudged);
    let worse_by = judged
        .effect_percent
        .map_or(FROM_ZERO_PERCENT, |effect| effect.max(0.0));
    if judged.verdict == Verdict::Regressed {
        judged.accepted = accepted(run, series, metric, worse_by);
    }
    if let Some(null) = &null {
        null::add_counted(null, &mut judged);
    }
    judged
}

/// A metric of two runs: its values, not judged; `None` if a run does not have it.
pub(super) fn across(baseline: &Counts, candidate: &Counts, metric: Metric, margin: Margin) -> Option<ComparedMetric> {
    let (Ok(baseline), Ok(candidate)) = (figure(baseline, metric)?, figure(candidate, metric)?) else {
        return None;
    };
    let unjudged = unjudged_metric(metric, margin);
    let judged = judge(baseline, candidate, None, unjudged.clone());
    Some(ComparedMetric {
        verdict: Verdict::Inconclusive,
        reason: MetricReason::CountedAtDifferentTimes,
        baseline: Some(baseline.value),
        candidate: Some(candidate.value),
        effect_percent: judged.effect_percent,
        spread_percent: judged.spread_percent,
        ..unjudged
    })
}

// System calls that only the candidate makes: reported however rare they are, because a call that blocks in few requests
// does not change the total.

/// Calls that the candidate makes per request and the baseline does not, the most frequent first.
fn new_calls<'a>(baseline: &'a Counts, candidate: &'a Counts) -> Vec<(&'a str, f64)> {
    // Without a list of the baseline's calls, every call would look new.
    if baseline.syscalls.is_empty() {
        return Vec::new();
    }
    let absent = |name: &str| baseline.syscalls.get(name).is_none_or(|calls| *calls <= 0.0);
    let mut calls: Vec<(&str, f64)> = (candidate.syscalls.iter())
        .map(|(name, calls)| (name.as_str(), *calls))
        .filter(|(name, calls)| *calls > 0.0 && absent(name))
        .collect();
    calls.sort_by(|one, other| other.1.total_cmp(&one.1));
    calls
}

/// Why the number of system calls cannot be called unchanged: a new call blocks requests. `None` if no new call does.
fn new_blocking_call(baseline: &Counts, candidate: &Counts) -> Option<MetricReason> {
    let (name, calls) = (new_calls(baseline, candidate).into_iter()).find(|(name, _)| BLOCKING_CALLS.contains(name))?;
    Some(MetricReason::NewBlockingCall {
        call: name.to_owned(),
        per_request: calls,
    })
}

/// Adds the new calls that are not listed yet.
fn add_new_calls(baseline: &Counts, candidate: &Counts, functions: &mut Vec<FunctionChange>) {
    let whole = baseline.value(Metric::Syscalls).map_or(0.0, |(value, _)| value);
    for (name, calls) in new_calls(baseline, candidate) {
        let listed = |one: &FunctionChange| one.metric == Metric::Syscalls && one.function == name;
        if !functions.iter().any(listed) {
            let change = FunctionChange {
                metric: Metric::Syscalls,
                function: name.to_owned(),
                baseline: 0.0,
                candidate: calls,
                share_percent: if whole > 0.0 { calls / whole * 100.0 } else { 100.0 },
                own_code: false,
                caller: None,
                source: None,
            };
            functions.push(with_caller(change, baseline, candidate));
        }
    }
}

// The counts of both sides of a series, or the reason why they are missing.

/// Stands for a reason that the record does not give.
pub(super) const NO_REASON: &str = "no reason recorded";

/// The verdict of a series without counts to compare, and why: none where counting was not tried, invalid where it failed.
type Missing = (Option<Verdict>, SeriesReason);

/// The counts of baseline and candidate.
pub(super) fn sides<'a>(run: &Run, series: &'a Series) -> Result<(&'a Counts, &'a Counts), Missing> {
    let or_none = |reason: Option<&String>| reason.map_or(NO_REASON, String::as_str).to_owned();
    let not_tried = |reason| (None, SeriesReason::Text { text: or_none(reason) });
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
            (Some(Verdict::Invalid), SeriesReason::NotCounted { side, why })
        };
        match series.counts_of(side) {
            Some(counts) if counts.status == CountStatus::Failed || (is_lost && side == Variant::Candidate) => {
                Err(failed(counts.reason.as_ref()))
            }
            Some(counts) if counts.status == CountStatus::Skipped => Err(not_tried(counts.reason.as_ref())),
            Some(counts) => Ok(counts),
            None if run.status == RunStatus::Incomplete => Err((None, SeriesReason::InterruptedBeforeCounting)),
            None => Err(failed(series.reason.as_ref())),
        }
    };
    match (side(Variant::Baseline), side(Variant::Candidate)) {
        (Ok(baseline), Ok(candidate)) => Ok((baseline, candidate)),
        // A side that was not counted takes precedence over a side whose counting failed: the series cannot be compared.
        (Err(not_tried @ (None, _)), _) | (_, Err(not_tried @ (None, _))) => Err(not_tried),
        // If counting fails on both sides, the cause is the server or the driver, not the change.
        (Err((_, SeriesReason::NotCounted { why, .. })), Err(_)) => {
            let text = format!("nothing was counted on either side: {why}");
            Err((None, SeriesReason::Text { text }))
        }
        (Err(failed), _) | (_, Err(failed)) => Err(failed),
    }
}
