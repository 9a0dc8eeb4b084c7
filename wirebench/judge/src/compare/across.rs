//! Compares two runs made at different times: values are shown next to each other and not judged; a series whose digests
//! differ is invalid.

use crate::compare::paired::{method, side};
use crate::compare::series::{Gates, unjudged_metric, unjudged_series};
use crate::compare::verdict::percent;
use crate::compare::{Rules, count, counted};
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
    let in_baseline = |series: &Series| baseline.series.iter().find(|one| one.id == series.id);
    let with_counts = |series| {
        let (before, after) = counts(in_baseline(series)?, series)?;
        Some((series, before, after))
    };
    let gates = Gates::over(candidate.series.iter().filter_map(with_counts), &rules.margins);
    let compared = candidate.series.iter().map(|series| match in_baseline(series) {
        Some(other) => in_both((baseline, candidate), (other, series), &gates),
        None => unjudged_series(series, Presence::Added),
    });
    let removed = (baseline.series.iter()).filter(|one| candidate.series.iter().all(|series| series.id != one.id));
    let removed = removed.map(|series| unjudged_series(series, Presence::Removed));
    let series: Vec<ComparedSeries> = compared.chain(removed).collect();
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
fn difference(runs: (&Run, &Run), (baseline, candidate): (&Series, &Series)) -> Option<SeriesReason> {
    if baseline.digest != candidate.digest {
        return Some(SeriesReason::OtherDigest {
            baseline: baseline.digest.clone(),
            candidate: candidate.digest.clone(),
        });
    }
    let driver = candidate.command.first()?;
    let version = |run: &Run| {
        let mut tools = run.tools.iter();
        tools.find(|tool| tool.name == *driver).map(|tool| tool.version.clone())
    };
    let (baseline, candidate) = (version(runs.0)?, version(runs.1)?);
    (baseline != candidate).then(|| SeriesReason::OtherDriver {
        driver: driver.clone(),
        baseline,
        candidate,
    })
}

/// The result for a series that both runs have: its baseline and its candidate.
fn in_both(runs: (&Run, &Run), (baseline, candidate): (&Series, &Series), gates: &Gates) -> ComparedSeries {
    let unjudged = unjudged_series(candidate, Presence::Both);
    let difference = difference(runs, (baseline, candidate));
    let metrics: Vec<ComparedMetric> = match (&difference, counts(baseline, candidate)) {
        (Some(_), _) => Vec::new(),
        (None, Some((before, after))) => (Metric::COUNTED.into_iter())
            .filter_map(|metric| counted::across(before, after, metric, gates.margin(candidate, metric)))
            .collect(),
        (None, None) => (Metric::OF_SERVER.into_iter())
            .filter_map(|metric| timed(baseline, candidate, metric, gates))
            .collect(),
    };
    if difference.is_none() && metrics.is_empty() && candidate.is_counted() {
        // Nothing is judged, so nothing is invalid.
        let text = baseline.reason.clone().or_else(|| candidate.reason.clone());
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
fn counts<'a>(baseline: &'a Series, candidate: &'a Series) -> Option<(&'a Counts, &'a Counts)> {
    (baseline.counts_of(Variant::Candidate)).zip(candidate.counts_of(Variant::Candidate))
}

/// The medians of a timed metric; `None` if a run does not have it.
fn timed(baseline: &Series, candidate: &Series, metric: Metric, gates: &Gates) -> Option<ComparedMetric> {
    let values = |series: &Series| -> Vec<f64> {
        let is_used = |round: &&Round| round.variant == Variant::Candidate && round.dropped.is_none();
        (series.rounds.iter().filter(is_used))
            .filter_map(|round| metric.comparable(round))
            .collect()
    };
    let margin = gates.margin(candidate, metric);
    let (baseline, candidate) = (values(baseline), values(candidate));
    let pairs = count(baseline.len().min(candidate.len()));
    let (baseline, candidate) = (median(&baseline)?, median(&candidate)?);
    let bad = match metric.better() {
        Better::Lower => (candidate / baseline).ln(),
        Better::Higher => (baseline / candidate).ln(),
    };
    Some(ComparedMetric {
        verdict: Verdict::Inconclusive,
        reason: MetricReason::MeasuredAtDifferentTimes,
        baseline: Some(baseline),
        candidate: Some(candidate),
        effect_percent: Some(percent(metric, bad)),
        pairs,
        kept: pairs,
        ..unjudged_metric(metric, margin)
    })
}
