//! Compares two runs made at different times: values are shown next to each other and not judged; a series whose digests
//! differ is invalid.

use crate::compare::counted;
use crate::compare::gates::Gates;
use crate::compare::paired::{method, side};
use crate::compare::unjudged::{unjudged_metric, unjudged_series};
use crate::compare::verdict::percent;
use crate::compare::{Rules, count};
use crate::limits;
use wirebench_record::comparison::{ComparedMetric, ComparedSeries, Comparison, Method, Presence, SCHEMA, Verdict};
use wirebench_record::counts::Counts;
use wirebench_record::metric::{Better, Metric};
use wirebench_record::reason::{MetricReason, Note, SeriesReason};
use wirebench_record::run::{Round, Run, Series, Variant};
use wirebench_stats::quantile::median;

/// Compares the candidate of one run with the candidate of another. Nothing is called regressed or improved: between
/// two runs the machine itself changes by more than most code changes, and no number of rounds within a run shows by
/// how much.
///
/// # Errors
/// When one of them has no candidate; in words.
pub fn across(baseline: &Run, candidate: &Run, rules: &Rules) -> Result<Comparison, String> {
    let candidate_of =
        |run: &Run| side(run, Variant::Candidate).ok_or_else(|| format!("run {} has no candidate", run.id));
    let base_of = |head: &Series| baseline.series.iter().find(|base| base.id == head.id);
    let with_counts = |head| {
        let (base, after) = counts(base_of(head)?, head)?;
        Some((head, base, after))
    };
    let gates = Gates::over(candidate.series.iter().filter_map(with_counts), rules.margins);
    let mut series: Vec<ComparedSeries> = (candidate.series.iter())
        .map(|head| match base_of(head) {
            Some(base) => both(baseline, base, candidate, head, &gates),
            None => unjudged_series(head, Presence::Added),
        })
        .collect();
    let removed = (baseline.series.iter()).filter(|base| candidate.series.iter().all(|head| head.id != base.id));
    series.extend(removed.map(|base| unjudged_series(base, Presence::Removed)));
    let verdict = (series.iter().filter_map(|series| series.verdict).min()).unwrap_or(Verdict::Inconclusive);
    Ok(Comparison {
        schema: SCHEMA.into(),
        verdict,
        baseline: candidate_of(baseline)?,
        candidate: candidate_of(candidate)?,
        paired: false,
        notes: notes(baseline, candidate),
        method: Method {
            gates: None,
            ..method(candidate.seed, rules, (0, 0), &gates)
        },
        host: candidate.host.clone(),
        tools: candidate.tools.clone(),
        repeat: candidate.repeat.clone(),
        limits: limits::judge(candidate),
        series,
    })
}

fn notes(baseline: &Run, candidate: &Run) -> Vec<Note> {
    let mut notes = vec![Note::MeasuredAtDifferentTimes];
    let name = |run: &Run| {
        let model = run.host.cpu_model.as_deref().unwrap_or("unknown CPU");
        format!("{model}, {} CPUs ({})", run.host.cpu_count, run.host.fingerprint)
    };
    if baseline.host.fingerprint != candidate.host.fingerprint {
        notes.push(Note::DifferentMachines {
            baseline: name(baseline),
            candidate: name(candidate),
        });
    }
    notes
}

/// Why two series of one name cannot be compared; `None` if they can.
fn difference(baseline: &Run, base: &Series, candidate: &Run, head: &Series) -> Option<SeriesReason> {
    if base.digest != head.digest {
        return Some(SeriesReason::OtherDigest {
            baseline: base.digest.clone(),
            candidate: head.digest.clone(),
        });
    }
    let driver = head.command.first()?;
    let version = |run: &Run| {
        let mut tools = run.tools.iter();
        tools.find(|tool| tool.name == *driver).map(|tool| tool.version.clone())
    };
    let (before, after) = (version(baseline)?, version(candidate)?);
    (before != after).then(|| SeriesReason::OtherDriver {
        driver: driver.clone(),
        baseline: before,
        candidate: after,
    })
}

/// The result for a series that both runs have.
fn both(baseline: &Run, base: &Series, candidate: &Run, head: &Series, gates: &Gates) -> ComparedSeries {
    let unjudged = unjudged_series(head, Presence::Both);
    let difference = difference(baseline, base, candidate, head);
    let metrics: Vec<ComparedMetric> = match (&difference, counts(base, head)) {
        (Some(_), _) => Vec::new(),
        (None, Some((base, after))) => (Metric::COUNTED.into_iter())
            .filter_map(|what| counted::across(base, after, what, gates.margin(head, what)))
            .collect(),
        (None, None) => (Metric::OF_SERVER.into_iter())
            .filter_map(|what| timed(base, head, what, gates))
            .collect(),
    };
    if difference.is_none() && metrics.is_empty() && head.is_counted() {
        // Nothing is judged, so nothing is invalid.
        let text = base.reason.clone().or_else(|| head.reason.clone());
        return ComparedSeries {
            reason: Some(text.map_or(SeriesReason::NothingCountedInOneRun, |text| SeriesReason::Text { text })),
            ..unjudged
        };
    }
    ComparedSeries {
        verdict: Some(if metrics.is_empty() {
            Verdict::Invalid
        } else {
            Verdict::Inconclusive
        }),
        reason: difference.or_else(|| metrics.is_empty().then_some(SeriesReason::NoGoodRoundInOneRun)),
        metrics,
        ..unjudged
    }
}

/// The counts of both runs.
fn counts<'a>(base: &'a Series, head: &'a Series) -> Option<(&'a Counts, &'a Counts)> {
    base.counts_of(Variant::Candidate)
        .zip(head.counts_of(Variant::Candidate))
}

/// The medians of a timed metric; `None` if a run does not have it.
fn timed(base: &Series, head: &Series, metric: Metric, gates: &Gates) -> Option<ComparedMetric> {
    let values = |series: &Series| -> Vec<f64> {
        let is_used = |round: &&Round| round.variant == Variant::Candidate && round.dropped.is_none();
        (series.rounds.iter().filter(is_used))
            .filter_map(|round| metric.comparable(round))
            .collect()
    };
    let (before, after) = (values(base), values(head));
    let (from, to) = (median(&before)?, median(&after)?);
    let bad = match metric.better() {
        Better::Lower => (to / from).ln(),
        Better::Higher => (from / to).ln(),
    };
    let pairs = count(before.len().min(after.len()));
    Some(ComparedMetric {
        verdict: Verdict::Inconclusive,
        reason: MetricReason::MeasuredAtDifferentTimes,
        baseline: Some(from),
        candidate: Some(to),
        effect_percent: Some(percent(metric, bad)),
        pairs,
        kept: pairs,
        ..unjudged_metric(metric, gates.margin(head, metric))
    })
}
