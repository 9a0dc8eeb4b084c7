//! The verdict on a run whose variants were measured interleaved.

use std::collections::BTreeSet;

use crate::compare::cell::{Cell, pairs};
use crate::compare::counted;
use crate::compare::gates::Gates;
use crate::compare::null;
use crate::compare::screen::{suspicion, without_second_stage};
use crate::compare::series::{declared_differently, over_gating, presence, same_program};
use crate::compare::verdict::{Found, Judged, metric};
use crate::compare::{
    ALPHA_GATING, ALPHA_INFORMATIVE, FALSE_ALARM_AT_MOST_PERCENT, FEWEST_PAIRS, INCONCLUSIVE_ABOVE_PERCENT, Rules,
    count,
};
use crate::limits;
use wirebench_record::comparison::{
    ComparedMetric, ComparedSeries, Comparison, Method, Presence, SCHEMA, Side, Verdict,
};
use wirebench_record::reason::{NoSecondStage, Note, SeriesReason};
use wirebench_record::run::{Bound, Round, RoundStatus, Run, RunStatus, Series, Variant};
use wirebench_stats::holm;

/// Compares the baseline of a run with its candidate.
///
/// # Errors
/// When the run has no baseline; in words.
pub fn paired(run: &Run, rules: &Rules) -> Result<Comparison, String> {
    let revision = |variant| {
        run.variants
            .iter()
            .find(|revision| revision.variant == variant)
            .cloned()
    };
    let side = |variant: Variant| {
        let revision = revision(variant).ok_or_else(|| {
            format!(
                "run {} has no {}: it measured one revision alone; measure both with: wirebench run --baseline REV",
                run.id,
                variant.name()
            )
        })?;
        Ok::<_, String>(Side {
            run: run.id.clone(),
            revision,
        })
    };
    let (baseline, candidate) = (side(Variant::Baseline)?, side(Variant::Candidate)?);
    let gates = Gates::of(run, rules.margins);
    let mut judged = cells(run, &gates, rules);
    let tests = test(&mut judged);
    let series: Vec<ComparedSeries> = (run.series.iter().enumerate())
        .map(|(i, series)| {
            if series.is_counted() {
                return counted::compared(run, series, &gates);
            }
            if series.same_program && presence(series) == Presence::Both {
                return same_program(series);
            }
            let mine = judged.iter().filter(|judged| judged.series == i);
            let said = mine.map(|judged| {
                let mut found = metric(judged, tests, run, series);
                null::add_timed(series, &gates, &mut found);
                found
            });
            compared(run, series, said.collect())
        })
        .collect();
    let no_second_stage = without_second_stage(run, &gates, rules);
    Ok(Comparison {
        schema: SCHEMA.into(),
        verdict: Verdict::over(&series),
        baseline,
        candidate,
        paired: true,
        notes: notes(run, no_second_stage.as_ref()),
        method: Method {
            no_second_stage,
            ..method(run.seed, rules, tests, &gates)
        },
        host: run.host.clone(),
        tools: run.tools.clone(),
        repeat: run.repeat.clone(),
        limits: limits::judge(run),
        series,
    })
}

pub(super) fn method(seed: u64, rules: &Rules, tests: (usize, usize), gates: &Gates) -> Method {
    Method {
        seed,
        false_alarm_at_most_percent: FALSE_ALARM_AT_MOST_PERCENT,
        detect_percent: rules.compare.detect.percent(),
        inconclusive_above_percent: INCONCLUSIVE_ABOVE_PERCENT,
        tests: (count(tests.0), count(tests.1)),
        gates: gates.sentence(),
        no_second_stage: None,
    }
}

/// Every cell of every series that both variants have; from the second stage where there is one.
fn cells(run: &Run, gates: &Gates, rules: &Rules) -> Vec<Judged> {
    let mut judged = Vec::new();
    for (i, series) in run.series.iter().enumerate() {
        if series.missing_in.is_some() {
            continue;
        }
        let stage = if pairs(series, 2).next().is_some() { 2 } else { 1 };
        for cell in Cell::all(series, stage, gates) {
            let suspected = Cell::new(series, cell.metric, 1, gates).and_then(|first| suspicion(&first, rules));
            let figures = cell.figures();
            judged.push(Judged {
                series: i,
                tested: stage == 2 && suspected.is_some() && figures.kept.pairs.len() >= FEWEST_PAIRS,
                suspected,
                figures,
                cell,
                limit: held_back_by_client(series, stage).then_some(Bound::Client),
                stage,
                found: Found::Nothing,
            });
        }
    }
    judged
}

/// Tests the metrics that the first stage selected, gating and informative ones as two families, each direction by
/// Holm's rule.
fn test(judged: &mut [Judged]) -> (usize, usize) {
    let mut counts = [0, 0];
    for (family, gate, alpha) in [(0, true, ALPHA_GATING), (1, false, ALPHA_INFORMATIVE)] {
        let mine: Vec<usize> = (0..judged.len())
            .filter(|i| judged[*i].tested && judged[*i].cell.margin.gate == gate)
            .collect();
        let probabilities = |p: fn(&Cell) -> f64| -> Vec<f64> { mine.iter().map(|i| p(&judged[*i].cell)).collect() };
        let worse = holm::passing(&probabilities(Cell::p_worse), alpha);
        let better = holm::passing(&probabilities(Cell::p_better), alpha);
        for ((i, worse), better) in mine.iter().zip(worse).zip(better) {
            judged[*i].take(worse, better);
        }
        counts[family] = mine.len();
    }
    (counts[0], counts[1])
}

fn compared(run: &Run, series: &Series, metrics: Vec<ComparedMetric>) -> ComparedSeries {
    let presence = presence(series);
    let broken = [Variant::Baseline, Variant::Candidate]
        .into_iter()
        .filter(|_| presence == Presence::Both)
        .find_map(|variant| broken(series, variant));
    let verdict = if broken.is_some() {
        Some(Verdict::Invalid)
    } else {
        over_gating(&metrics)
    };
    let reason = broken.or_else(|| declared_differently(series).or_else(|| client_bound(series)));
    let unmeasured = presence == Presence::Both && verdict.is_none() && metrics.is_empty();
    ComparedSeries {
        id: series.id.clone(),
        scenario: series.scenario.clone(),
        presence,
        verdict: verdict.filter(|_| presence == Presence::Both),
        reason: reason.or_else(|| {
            unmeasured.then_some(match run.status {
                RunStatus::Incomplete => SeriesReason::Interrupted,
                _ => SeriesReason::NoPair,
            })
        }),
        same_program: false,
        metrics,
        functions: Vec::new(),
    }
}

/// Why a variant has no good round of a series.
fn broken(series: &Series, variant: Variant) -> Option<SeriesReason> {
    let rounds = || series.rounds.iter().filter(|round| round.variant == variant);
    let good = |round: &Round| round.status == RoundStatus::Ok;
    if rounds().any(good) || rounds().next().is_none() {
        return None;
    }
    let why = rounds().find_map(|round| round.reason.clone()).unwrap_or_default();
    Some(SeriesReason::NoGoodRound { side: variant, why })
}

fn client_bound(series: &Series) -> Option<SeriesReason> {
    let good = || series.rounds.iter().filter(|round| round.status == RoundStatus::Ok);
    let bound = good().filter(|round| round.bound == Some(Bound::Client)).count();
    (bound * 2 > good().count()).then_some(SeriesReason::ClientBound)
}

/// Whether the load generator held back most of the candidate's rounds of a stage. Only the candidate's count: where it
/// leaves the client idle, the loss is the server's.
fn held_back_by_client(series: &Series, stage: u32) -> bool {
    let rounds = || pairs(series, stage).map(|(_, head)| head);
    let bound = rounds().filter(|round| round.bound == Some(Bound::Client)).count();
    bound * 2 > rounds().count()
}

/// Packages shown of those whose versions differ.
const PACKAGES: usize = 5;

/// The packages of which the sides run different versions.
fn different_packages(run: &Run) -> Option<Note> {
    let more = run.dependencies.len().saturating_sub(PACKAGES);
    (!run.dependencies.is_empty()).then(|| Note::DifferentPackages {
        packages: run.dependencies.iter().take(PACKAGES).cloned().collect(),
        more: count(more),
    })
}

/// What to know before trusting it.
fn notes(run: &Run, no_second_stage: Option<&NoSecondStage>) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(why @ (NoSecondStage::NoTime { .. } | NoSecondStage::TooFewRounds { .. })) = no_second_stage {
        notes.push(Note::NoSecondStage { why: why.clone() });
    }
    if run.status == RunStatus::Incomplete {
        let why = run.reason.clone().unwrap_or_else(|| "incomplete".into());
        notes.push(Note::NotFinished { why });
    }
    notes.extend(different_packages(run));
    for side in &run.variants {
        if side.modified == Some(true) && side.variant != Variant::Null {
            notes.push(Note::Modified { side: side.variant });
        }
    }
    if !run.shards.is_empty() {
        let kinds: BTreeSet<&str> = run.shards.iter().map(|shard| shard.host.fingerprint.as_str()).collect();
        notes.push(Note::SeveralMachines {
            machines: count(run.shards.len()),
            kinds: count(kinds.len()),
        });
    }
    // Counting does without cores of its own.
    if run.pinning.server_cores.is_empty() && run.series.iter().any(|series| !series.is_counted()) {
        notes.push(Note::SharedCores);
    }
    let pinnings = run.shards.iter().map(|shard| &shard.pinning).chain([&run.pinning]);
    if pinnings.into_iter().any(|pinning| pinning.unlocked) {
        notes.push(Note::Unlocked);
    }
    notes
}
