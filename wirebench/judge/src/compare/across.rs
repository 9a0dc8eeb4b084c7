//! Two runs made at different times: shown next to each other, not judged, and invalid if their digests differ.

use crate::compare::counted;
use crate::compare::gates::Gates;
use crate::compare::judge::method;
use crate::compare::verdict::percent;
use crate::compare::{Rules, count};
use crate::limits;
use wirebench_record::comparison::{
    ComparedMetric, ComparedSeries, Comparison, Method, Presence, SCHEMA, Side, Verdict,
};
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
    let side = |run: &Run| {
        let revision = run
            .variants
            .iter()
            .find(|one| one.variant == Variant::Candidate)
            .cloned();
        let revision = revision.ok_or_else(|| format!("run {} has no candidate", run.id))?;
        Ok::<_, String>(Side {
            run: run.id.clone(),
            revision,
        })
    };
    let before = |head: &Series| baseline.series.iter().find(|base| base.id == head.id);
    let counted = |head| {
        let (base, after) = (
            before(head)?.counts_of(Variant::Candidate)?,
            head.counts_of(Variant::Candidate)?,
        );
        Some((head, base, after))
    };
    let gates = Gates::over(candidate.series.iter().filter_map(counted), rules.margins);
    let mut series: Vec<ComparedSeries> = (candidate.series.iter())
        .map(|head| match before(head) {
            Some(base) => both(baseline, base, candidate, head, &gates),
            None => alone(head, Presence::Added),
        })
        .collect();
    let removed = (baseline.series.iter()).filter(|base| candidate.series.iter().all(|head| head.id != base.id));
    series.extend(removed.map(|base| alone(base, Presence::Removed)));
    let verdict = (series.iter().filter_map(|series| series.verdict).min()).unwrap_or(Verdict::Inconclusive);
    Ok(Comparison {
        schema: SCHEMA.into(),
        verdict,
        baseline: side(baseline)?,
        candidate: side(candidate)?,
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
fn other_question(baseline: &Run, base: &Series, candidate: &Run, head: &Series) -> Option<SeriesReason> {
    if base.digest != head.digest {
        return Some(SeriesReason::OtherDigest {
            baseline: base.digest.clone(),
            candidate: head.digest.clone(),
        });
    }
    let driver = head.command.first()?;
    let version = |run: &Run| {
        run.tools
            .iter()
            .find(|tool| tool.name == *driver)
            .map(|tool| tool.version.clone())
    };
    let (before, after) = (version(baseline)?, version(candidate)?);
    (before != after).then(|| SeriesReason::OtherDriver {
        driver: driver.clone(),
        baseline: before,
        candidate: after,
    })
}

fn both(baseline: &Run, base: &Series, candidate: &Run, head: &Series, gates: &Gates) -> ComparedSeries {
    let question = other_question(baseline, base, candidate, head);
    let metrics: Vec<ComparedMetric> = match (&question, counts(base, head)) {
        (Some(_), _) => Vec::new(),
        (None, Some((base, after))) => (Metric::COUNTED.into_iter())
            .filter_map(|what| counted::beside(base, after, what, gates.margin(head, what)))
            .collect(),
        (None, None) => (Metric::OF_SERVER.into_iter())
            .filter_map(|what| metric(base, head, what, gates))
            .collect(),
    };
    if question.is_none() && metrics.is_empty() && head.is_counted() {
        return uncounted(base, head);
    }
    let invalid = question.is_some() || metrics.is_empty();
    ComparedSeries {
        id: head.id.clone(),
        scenario: head.scenario.clone(),
        presence: Presence::Both,
        verdict: Some(if invalid {
            Verdict::Invalid
        } else {
            Verdict::Inconclusive
        }),
        reason: question.or_else(|| metrics.is_empty().then_some(SeriesReason::NoGoodRoundInOneRun)),
        metrics,
        same_program: false,
        functions: Vec::new(),
    }
}

/// What was counted in both runs.
fn counts<'a>(base: &'a Series, head: &'a Series) -> Option<(&'a Counts, &'a Counts)> {
    base.counts_of(Variant::Candidate)
        .zip(head.counts_of(Variant::Candidate))
}

/// A counted series without a figure in one of the runs: nothing is judged, so nothing is invalid.
fn uncounted(base: &Series, head: &Series) -> ComparedSeries {
    let why = base.reason.clone().or_else(|| head.reason.clone());
    ComparedSeries {
        reason: Some(why.map_or(SeriesReason::NothingCountedInOneRun, |text| SeriesReason::Text { text })),
        ..alone(head, Presence::Both)
    }
}

fn alone(series: &Series, presence: Presence) -> ComparedSeries {
    ComparedSeries {
        id: series.id.clone(),
        scenario: series.scenario.clone(),
        presence,
        verdict: None,
        reason: None,
        metrics: Vec::new(),
        same_program: false,
        functions: Vec::new(),
    }
}

fn metric(base: &Series, head: &Series, what: Metric, gates: &Gates) -> Option<ComparedMetric> {
    let values = |series: &Series| -> Vec<f64> {
        let mine = |round: &&Round| round.variant == Variant::Candidate && round.dropped.is_none();
        (series.rounds.iter().filter(mine))
            .filter_map(|round| what.comparable(round))
            .collect()
    };
    let (before, after) = (values(base), values(head));
    let (from, to) = (median(&before)?, median(&after)?);
    let bad = match what.better() {
        Better::Lower => (to / from).ln(),
        Better::Higher => (from / to).ln(),
    };
    let margin = gates.margin(head, what);
    let pairs = count(before.len().min(after.len()));
    Some(ComparedMetric {
        metric: what,
        unit: what.unit().into(),
        better: what.better(),
        primary: margin.gate,
        verdict: Verdict::Inconclusive,
        reason: MetricReason::MeasuredAtDifferentTimes,
        accepted: None,
        baseline: Some(from),
        candidate: Some(to),
        effect_percent: Some(percent(what, bad)),
        effect_low_percent: None,
        effect_high_percent: None,
        worse_at_most_percent: None,
        margin_percent: margin.margin.percent(),
        resolvable_percent: None,
        spread_percent: None,
        p_worse: None,
        p_better: None,
        stage: 1,
        pairs,
        kept: pairs,
        dropped_baseline: 0,
        dropped_candidate: 0,
        null_percent: None,
        null_pairs: 0,
        flame_graph: None,
    })
}
