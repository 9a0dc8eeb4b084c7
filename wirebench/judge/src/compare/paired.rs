//! Compares baseline and candidate of one run, whose rounds were interleaved.

use std::collections::BTreeSet;

use crate::compare::cell::{Cell, pairs};
use crate::compare::null::TimedNull;
use crate::compare::screen::{suspicion, without_second_stage};
use crate::compare::series::{Gates, declared_differently, presence, same_program, unjudged_series};
use crate::compare::sleeps::Sleeps;
use crate::compare::verdict::{JudgedCell, TestResult, metric};
use crate::compare::{
    ALPHA_GATING, ALPHA_INFORMATIVE, FALSE_ALARM_AT_MOST_PERCENT, FEWEST_PAIRS, INCONCLUSIVE_ABOVE_PERCENT, Rules,
    count, counted, sampled,
};
use crate::limits;
use wirebench_record::comparison::{
    ComparedMetric, ComparedSeries, Comparison, Method, Presence, SCHEMA, Side, Verdict,
};
use wirebench_record::metric::Metric;
use wirebench_record::reason::{NoSecondStage, Note, SeriesReason};
use wirebench_record::run::{Bound, Round, RoundStatus, Run, RunStatus, Series, Variant};
use wirebench_stats::holm;

/// Compares the baseline of a run with its candidate.
///
/// # Errors
/// When the run has no baseline; in words.
pub fn paired(run: &Run, rules: &Rules) -> Result<Comparison, String> {
    let side = |variant: Variant| {
        side(run, variant).ok_or_else(|| {
            format!(
                "run {} has no {}: it measured one revision alone; measure both with: wirebench run --baseline REV",
                run.id,
                variant.name()
            )
        })
    };
    let (baseline, candidate) = (side(Variant::Baseline)?, side(Variant::Candidate)?);
    let gates = Gates::of(run, &rules.margins);
    let mut cells = cells(run, &gates, rules);
    let tests = test(&mut cells);
    let series: Vec<ComparedSeries> = (run.series.iter().enumerate())
        .map(|(i, series)| {
            if series.is_counted() {
                return counted::compared(run, series, &gates);
            }
            if series.same_program && presence(series) == Presence::Both {
                return same_program(series);
            }
            let of_series = cells.iter().filter(|cell| cell.series == i);
            let metrics = of_series.map(|cell| metric(cell, tests, run, series));
            compared(run, series, metrics.collect())
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

/// Whether the series of that index has fewer usable pairs in its second stage than a verdict needs, for a metric that gates and
/// that the first stage selected. Which pairs are usable does not depend on which side a value is from, so that measuring until
/// there are enough favours neither.
pub fn lacks_pairs(run: &Run, rules: &Rules, series: usize) -> bool {
    let cells = cells(run, &Gates::of(run, &rules.margins), rules);
    let lacks = |cell: &JudgedCell| cell.estimates.kept.pairs.len() < FEWEST_PAIRS && cell.suspected.is_some();
    let of_series = cells.iter().filter(|cell| cell.series == series && cell.stage == 2);
    of_series.filter(|cell| cell.cell.margin.gate).any(lacks)
}

/// Whether a confirmed change of the series of that index has no verdict only because of the size of a null that has too few pairs
/// for its own test.
pub fn lacks_null_pairs(run: &Run, rules: &Rules, series: usize) -> bool {
    let mut cells = cells(run, &Gates::of(run, &rules.margins), rules);
    test(&mut cells);
    let is_change = |cell: &&JudgedCell| matches!(cell.result, TestResult::Worse | TestResult::Better);
    let mut changed = cells.iter().filter(|cell| cell.series == series).filter(is_change);
    changed.any(|cell| {
        let sizes = cell.null.as_ref().zip(cell.estimates.location);
        sizes.is_some_and(|(null, location)| null.contradicts_untested(location.estimate))
    })
}

/// The side of a comparison that a variant of a run is; `None` if the run does not have it.
pub(super) fn side(run: &Run, variant: Variant) -> Option<Side> {
    let revision = run.revision(variant)?;
    Some(Side {
        run: run.id.clone(),
        revision: revision.clone(),
    })
}

/// How a comparison is judged; `tests` are the numbers of gating and of informative tests.
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

/// Every cell of every series that both variants have; of the second stage if there is one.
fn cells(run: &Run, gates: &Gates, rules: &Rules) -> Vec<JudgedCell> {
    let mut cells = Vec::new();
    for (i, series) in run.series.iter().enumerate() {
        if series.missing_in.is_some() {
            continue;
        }
        let stage = stage_of(series);
        for cell in Cell::all(series, stage, gates) {
            let first_stage = Cell::new(series, cell.metric, 1, gates);
            let suspected = first_stage.and_then(|first| suspicion(&first, &first.estimates(), rules));
            let estimates = cell.estimates();
            cells.push(JudgedCell {
                series: i,
                tested: stage == 2 && suspected.is_some() && estimates.kept.pairs.len() >= FEWEST_PAIRS,
                suspected,
                estimates,
                // CPU time per request is the server's own: a busy load generator hides a part of a change, but makes none.
                is_client_bound: cell.metric != Metric::ServerCpu
                    && is_client_bound(pairs(series, stage).map(|(_, head)| head)),
                null: TimedNull::of(series, cell.metric, gates),
                sleeps: Sleeps::that_change(cell.metric, series, stage),
                cell,
                stage,
                result: TestResult::Nothing,
            });
        }
    }
    cells
}

/// The stage whose rounds decide.
fn stage_of(series: &Series) -> u32 {
    if pairs(series, 2).next().is_some() { 2 } else { 1 }
}

/// Tests the metrics that the first stage selected, gating and informative ones as two families, each direction by
/// Holm's rule.
fn test(cells: &mut [JudgedCell]) -> (usize, usize) {
    let mut counts = [0, 0];
    for (family, gate, alpha) in [(0, true, ALPHA_GATING), (1, false, ALPHA_INFORMATIVE)] {
        let mut tested: Vec<&mut JudgedCell> = (cells.iter_mut())
            .filter(|cell| cell.tested && cell.cell.margin.gate == gate)
            .collect();
        let passing = |p: fn(&Cell) -> f64| {
            let probabilities: Vec<f64> = tested.iter().map(|cell| p(&cell.cell)).collect();
            holm::passing(&probabilities, alpha)
        };
        let (worse, better) = (passing(Cell::p_worse), passing(Cell::p_better));
        for ((cell, worse), better) in tested.iter_mut().zip(worse).zip(better) {
            cell.set_result(worse, better);
        }
        counts[family] = tested.len();
    }
    (counts[0], counts[1])
}

fn compared(run: &Run, series: &Series, metrics: Vec<ComparedMetric>) -> ComparedSeries {
    let presence = presence(series);
    let is_on_both = presence == Presence::Both;
    let broken = [Variant::Baseline, Variant::Candidate]
        .into_iter()
        .filter(|_| is_on_both)
        .find_map(|variant| broken(series, variant));
    let verdict = match &broken {
        _ if !is_on_both => None,
        Some(_) => Some(Verdict::Invalid),
        None => Verdict::over_gating(&metrics),
    };
    let unmeasured = is_on_both && verdict.is_none() && metrics.is_empty();
    let reason = broken
        .or_else(|| declared_differently(series))
        .or_else(|| is_client_bound(good_rounds(series)).then_some(SeriesReason::ClientBound))
        .or_else(|| {
            unmeasured.then_some(match run.status {
                RunStatus::Incomplete => SeriesReason::Interrupted,
                _ => SeriesReason::NoPair,
            })
        });
    ComparedSeries {
        verdict,
        reason,
        functions: sampled::causes(series, stage_of(series), &metrics),
        metrics,
        ..unjudged_series(series, presence)
    }
}

fn good_rounds(series: &Series) -> impl Iterator<Item = &Round> {
    series.rounds.iter().filter(|round| round.status == RoundStatus::Ok)
}

/// Why a variant has no good round of a series.
fn broken(series: &Series, variant: Variant) -> Option<SeriesReason> {
    if good_rounds(series).any(|round| round.variant == variant) {
        return None;
    }
    let mut rounds = (series.rounds.iter())
        .filter(|round| round.variant == variant)
        .peekable();
    rounds.peek()?;
    let why = rounds.find_map(|round| round.reason.clone()).unwrap_or_default();
    Some(SeriesReason::NoGoodRound { side: variant, why })
}

/// Whether the load generator limited most of these rounds. For one metric only the candidate's rounds count: if the
/// candidate leaves the load generator idle, the loss is the server's.
fn is_client_bound<'a>(rounds: impl Iterator<Item = &'a Round>) -> bool {
    let (bound, others): (Vec<&Round>, Vec<&Round>) = rounds.partition(|round| round.bound == Some(Bound::Client));
    bound.len() > others.len()
}

/// The most packages with different versions that a note names.
const PACKAGES: usize = 5;

/// The packages of which both sides run different versions.
fn different_packages(run: &Run) -> Option<Note> {
    let more = run.dependencies.len().saturating_sub(PACKAGES);
    (!run.dependencies.is_empty()).then(|| Note::DifferentPackages {
        packages: run.dependencies.iter().take(PACKAGES).cloned().collect(),
        more: count(more),
    })
}

/// The rounds of compared series that no figure uses, by reason; `None` if there are none.
fn rounds_left_out(run: &Run) -> Option<Note> {
    let (mut disturbed, mut invalid, mut load_generator, mut server) = (0, 0, 0, 0);
    for series in run.series.iter().filter(|series| series.missing_in.is_none()) {
        for round in &series.rounds {
            match round.status {
                RoundStatus::Ok => disturbed += u32::from(round.dropped.is_some()),
                RoundStatus::Invalid => invalid += 1,
                RoundStatus::Failed if blames_driver(round, &series.driver) => load_generator += 1,
                RoundStatus::Failed => server += 1,
            }
        }
    }
    (disturbed + invalid + load_generator + server > 0).then_some(Note::RoundsLeftOut {
        disturbed,
        invalid,
        load_generator,
        server,
    })
}

/// True if the reason of a failed round begins with the load generator's name, after the side's.
fn blames_driver(round: &Round, driver: &str) -> bool {
    let reason = round.reason.as_deref().unwrap_or_default();
    let mut clauses = reason.split(": ").take(2);
    clauses.any(|clause| {
        clause
            .strip_prefix(driver)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

/// What to know before trusting the comparison.
fn notes(run: &Run, no_second_stage: Option<&NoSecondStage>) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(why @ (NoSecondStage::NoTime { .. } | NoSecondStage::TooFewRounds { .. })) = no_second_stage {
        notes.push(Note::NoSecondStage { why: why.clone() });
    }
    if run.status == RunStatus::Incomplete {
        let why = run.reason.clone().unwrap_or_else(|| "incomplete".into());
        notes.push(Note::NotFinished { why });
    }
    notes.extend(rounds_left_out(run));
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
    // Counting needs no cores of its own.
    if run.pinning.server_cores.is_empty() && run.series.iter().any(|series| !series.is_counted()) {
        notes.push(Note::SharedCores);
    }
    let pinnings = run.shards.iter().map(|shard| &shard.pinning).chain([&run.pinning]);
    if pinnings.into_iter().any(|pinning| pinning.unlocked) {
        notes.push(Note::Unlocked);
    }
    notes
}
