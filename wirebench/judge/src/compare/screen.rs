//! The first stage's question: which series need fresh rounds, how many, and why.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::compare::cell::{Cell, Figures, pairs};
use crate::compare::gates::Gates;
use crate::compare::{
    ALPHA_GATING, FEWEST_PAIRS, PLANNED_POWER, Rules, SCREEN, SCREEN_INFORMATIVE, SECOND_STAGE_PAIRS, count,
};
use wirebench_record::reason::NoSecondStage;
use wirebench_record::run::{Round, Run, RunStatus, Series, Stage};
use wirebench_stats::location::pairs_to_resolve;

/// A spread seen over ten pairs is itself uncertain; planning allows for it.
const SPREAD_ROOM: f64 = 1.15;

/// The time limits of a second stage.
#[derive(Debug, Clone)]
pub struct Time {
    /// Left of the budget.
    pub left: Duration,
    /// The duration of one pair of each series, in the order of the run's series.
    pub pair: Vec<Duration>,
}

/// The second stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Second {
    /// Indices into the run's series.
    pub series: Vec<usize>,
    /// Fresh pairs of each.
    pub rounds: u32,
    /// Why these and so many, in one sentence.
    pub why: String,
}

/// The second stage: fresh pairs of the series that the first stage could not decide, as many as fit into the time
/// left; `None` if no series needs it or too little time is left.
#[must_use]
pub fn next_stage(run: &Run, rules: &Rules, left: Duration) -> Option<Stage> {
    let time = Time {
        left,
        pair: pair_costs(run),
    };
    let second = second_stage(run, rules, &time)?;
    Some(Stage {
        number: 2,
        rounds: second.rounds,
        series: second.series.iter().map(|i| run.series[*i].id.clone()).collect(),
        why: second.why,
    })
}

/// Whether and why a cell is screened: tested in the second stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suspicion {
    /// It looks changed by more than its margin.
    Changed,
    /// The size that must be seen cannot be excluded yet, or too few pairs were usable.
    Unsure,
}

/// Looks at a cell of the first stage.
pub(super) fn suspicion(cell: &Cell, rules: &Rules) -> Option<Suspicion> {
    let figures = cell.figures();
    if figures.kept.pairs.len() < FEWEST_PAIRS {
        return cell.margin.gate.then_some(Suspicion::Unsure);
    }
    if cell.p_worse() <= SCREEN || cell.p_better() <= SCREEN || looks_gating(cell, &figures) {
        return Some(Suspicion::Changed);
    }
    let bound = figures.location.and_then(|location| location.at_most);
    let unsure = cell.margin.gate && bound.is_none_or(|bound| bound > rules.detect());
    unsure.then_some(Suspicion::Unsure)
}

/// True if the estimate of a metric that gates from a size on is worse by at least that size, independent of the test
/// of ten pairs.
fn looks_gating(cell: &Cell, figures: &Figures) -> bool {
    let worse = figures.location.map(|location| location.estimate);
    (cell.log_gate_above().zip(worse)).is_some_and(|(above, worse)| worse > above)
}

/// Why a series needs fresh rounds, and how many; `None` if it does not.
fn need(series: &Series, tests: usize, gates: &Gates, rules: &Rules) -> Option<(Suspicion, u32)> {
    let mut found: Option<(Suspicion, u32)> = None;
    for cell in Cell::all(series, 1, gates) {
        let suspicion = if cell.margin.gate {
            suspicion(&cell, rules)
        } else {
            let figures = cell.figures();
            let worse = || cell.p_worse() <= SCREEN_INFORMATIVE || looks_gating(&cell, &figures);
            (figures.kept.pairs.len() >= FEWEST_PAIRS && worse()).then_some(Suspicion::Changed)
        };
        let Some(suspicion) = suspicion else { continue };
        let planned = cell.figures().sd.filter(|_| cell.margin.gate).and_then(|sd| {
            pairs_to_resolve(
                rules.detect(),
                cell.log_margin(),
                sd * SPREAD_ROOM,
                ALPHA_GATING,
                tests,
                PLANNED_POWER,
            )
        });
        let rounds = planned.unwrap_or(0).max(SECOND_STAGE_PAIRS);
        let so_far = found.get_or_insert((suspicion, rounds));
        so_far.1 = so_far.1.max(rounds);
        if suspicion == Suspicion::Changed {
            so_far.0 = suspicion;
        }
    }
    found
}

/// Why a run with timed series has no fresh rounds; `None` if it has some, or nothing was timed.
pub(super) fn without_second_stage(run: &Run, gates: &Gates, rules: &Rules) -> Option<NoSecondStage> {
    let timed =
        || (run.series.iter()).filter(|series| series.missing_in.is_none() && pairs(series, 1).next().is_some());
    let fresh = run
        .series
        .iter()
        .any(|series| series.rounds.iter().any(|round| round.stage == 2));
    if fresh || timed().next().is_none() {
        return None;
    }
    let first = (timed().flat_map(|series| &series.rounds))
        .map(|round| round.round + 1)
        .max()
        .unwrap_or(0);
    if (first as usize) < FEWEST_PAIRS {
        return Some(NoSecondStage::TooFewRounds {
            rounds: first,
            needed: count(FEWEST_PAIRS),
        });
    }
    let open = timed().filter(|series| need(series, 1, gates, rules).is_some()).count();
    Some(match count(open) {
        0 => NoSecondStage::NothingLookedChanged,
        _ if run.status == RunStatus::Incomplete => NoSecondStage::Interrupted,
        series => NoSecondStage::NoTime { series },
    })
}

/// Plans the second stage from the first; `None` if no series needs it or no time is left for a useful number of pairs.
#[must_use]
pub fn second_stage(run: &Run, rules: &Rules, time: &Time) -> Option<Second> {
    let gates = Gates::of(run, rules.margins);
    let compared = |series: &&Series| series.missing_in.is_none();
    let tests = (run.series.iter().filter(compared))
        .flat_map(|series| Cell::all(series, 1, &gates))
        .filter(|cell| cell.margin.gate)
        .count();
    let all: Vec<(usize, Suspicion, u32)> = (run.series.iter().enumerate())
        .filter(|(_, series)| compared(series))
        .filter_map(|(i, series)| need(series, tests, &gates, rules).map(|(suspicion, rounds)| (i, suspicion, rounds)))
        .collect();
    let fits = |needs: &[(usize, Suspicion, u32)]| {
        let pass: Duration = needs.iter().map(|(i, _, _)| time.pair[*i]).sum();
        u32::try_from(time.left.as_nanos() / pass.as_nanos().max(1)).unwrap_or(u32::MAX)
    };
    let enough = |rounds: u32| rounds as usize >= FEWEST_PAIRS;
    // If not all can be measured again, those that may have changed go first.
    let changed = || {
        all.iter()
            .copied()
            .filter(|(_, suspicion, _)| *suspicion == Suspicion::Changed)
            .collect()
    };
    let needs: Vec<_> = if enough(fits(&all)) { all.clone() } else { changed() };
    let wanted = needs.iter().map(|(_, _, rounds)| *rounds).max()?;
    let rounds = wanted.min(fits(&needs));
    if !enough(rounds) {
        return None;
    }
    let count = |kind| needs.iter().filter(|(_, suspicion, _)| *suspicion == kind).count();
    let mut why = Vec::new();
    for (kind, words) in [
        (Suspicion::Changed, "may have changed"),
        (Suspicion::Unsure, "cannot be told yet"),
    ] {
        if count(kind) > 0 {
            why.push(format!("{} series {words}", count(kind)));
        }
    }
    let size = rules.compare.detect.percent();
    let planned = if rounds < wanted {
        format!("{wanted} fresh rounds would see {size} %, the budget allows {rounds}")
    } else {
        format!("{rounds} fresh rounds to see {size} %")
    };
    Some(Second {
        series: needs.iter().map(|(i, _, _)| *i).collect(),
        rounds,
        why: format!("{}: {planned}", why.join(", ")),
    })
}

/// The duration of a pair of each series: load and warm-up, and an equal share of all other time.
#[must_use]
pub fn pair_costs(run: &Run) -> Vec<Duration> {
    let slots: u64 = run.series.iter().map(|series| series.rounds.len() as u64).sum();
    let around = run.spent.measure_ns.saturating_sub(run.spent.load_ns) / slots.max(1);
    (run.series.iter())
        .map(|series| {
            let count = (series.rounds.len() as u64).max(1);
            // A search loads the server several times, each after a warm-up; its figures are of one of them.
            let loads = |round: &Round| (round.search.len() as u64).max(1);
            let warmup = series.load.warmup_ns.unwrap_or(0);
            let spent = |round: &Round| loads(round) * (round.elapsed_ns.unwrap_or(0) + warmup);
            let slot = series.rounds.iter().map(spent).sum::<u64>() / count + around;
            let numbers: BTreeSet<u32> = series.rounds.iter().map(|round| round.round).collect();
            Duration::from_nanos(slot * count.div_ceil((numbers.len() as u64).max(1)))
        })
        .collect()
}
