//! Plans the second stage: which series need fresh rounds, how many, and why.

use std::time::Duration;

use crate::compare::cell::{Cell, Estimates, pairs};
use crate::compare::series::Gates;
use crate::compare::{
    ALPHA_GATING, FEWEST_PAIRS, PLANNED_POWER, Rules, SCREEN, SCREEN_INFORMATIVE, SECOND_STAGE_PAIRS, count, log_detect,
};
use wirebench_declare::plan::NULL_EVERY;
use wirebench_declare::plan::budget::{self, NextStage};
use wirebench_record::reason::NoSecondStage;
use wirebench_record::run::{Round, Run, RunStatus, Series, Stage, Variant};
use wirebench_stats::location::pairs_to_resolve;

/// Planning assumes this many times the spread of the first stage, because the spread of ten pairs is itself uncertain.
const SPREAD_FACTOR: f64 = 1.15;

/// The second stage: fresh pairs of the series that the first stage could not decide, as many as fit into the time left. `pair`
/// has the duration of one pair of each series, in the order of the run's series.
pub fn next_stage(run: &Run, rules: &Rules, left: Duration, pair: &[Duration]) -> NextStage {
    let needs = needs(run, rules);
    NextStage {
        needed: needs.first().map(|need| pair[need.series] * count(FEWEST_PAIRS)),
        stage: planned(run, &needs, rules, left, pair),
    }
}

/// Whether and why a cell is screened: tested in the second stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suspicion {
    /// It looks changed by more than its margin.
    Changed,
    /// A worsening of the size to detect cannot be excluded yet, or too few pairs were usable.
    Unsure,
}

/// Why a cell of the first stage is screened; `None` if it is not.
pub(super) fn suspicion(cell: &Cell, estimates: &Estimates, rules: &Rules) -> Option<Suspicion> {
    // First of all its size: a short first stage has no test, and the fresh pairs are tested all the same.
    if looks_gating(cell, estimates) {
        return Some(Suspicion::Changed);
    }
    if estimates.kept.pairs.len() < FEWEST_PAIRS {
        return cell.margin.gate.then_some(Suspicion::Unsure);
    }
    if cell.p_worse() <= SCREEN || cell.p_better() <= SCREEN {
        return Some(Suspicion::Changed);
    }
    let bound = estimates.location.and_then(|location| location.at_most);
    let is_open = bound.is_none_or(|bound| bound > log_detect(rules));
    (cell.margin.gate && (is_open || is_worse_around_margin(cell, estimates))).then_some(Suspicion::Unsure)
}

/// Whether equal code is excluded, and a worsening beyond the margin is not.
pub(super) fn is_worse_around_margin(cell: &Cell, estimates: &Estimates) -> bool {
    (estimates.interval()).is_some_and(|(low, high)| low > 0.0 && high > cell.log_margin())
}

/// True if the estimate of a metric that gates from a size on is worse by more than that size, whatever the test says.
fn looks_gating(cell: &Cell, estimates: &Estimates) -> bool {
    let worse = estimates.location.map(|location| location.estimate);
    (cell.log_gate_above().zip(worse)).is_some_and(|(above, worse)| worse > above)
}

/// A series that needs fresh rounds.
#[derive(Debug, Clone, Copy)]
struct Need {
    /// Index into the run's series.
    series: usize,
    suspicion: Suspicion,
    /// Fresh pairs that would decide it.
    rounds: u32,
    /// The largest worsening of a suspicious metric that the first stage saw, a difference of logarithms.
    worse: f64,
}

impl Need {
    /// Which series get fresh pairs first: those that look worse, then those that are unsure, then those that look better.
    fn class(&self) -> u8 {
        match self.suspicion {
            Suspicion::Changed if self.worse > 0.0 => 0,
            Suspicion::Unsure => 1,
            Suspicion::Changed => 2,
        }
    }
}

/// Why the series of that index needs fresh rounds, and how many; `None` if it does not.
fn need(index: usize, series: &Series, tests: usize, gates: &Gates, rules: &Rules) -> Option<Need> {
    let mut need: Option<Need> = None;
    for cell in Cell::all(series, 1, gates) {
        let estimates = cell.estimates();
        let suspicion = if cell.margin.gate {
            suspicion(&cell, &estimates, rules)
        } else {
            // Before it has the pairs that a verdict needs, only the size of the worsening counts.
            let is_tested = estimates.kept.pairs.len() >= FEWEST_PAIRS;
            let looks_worse = is_tested && cell.p_worse() <= SCREEN_INFORMATIVE || looks_gating(&cell, &estimates);
            looks_worse.then_some(Suspicion::Changed)
        };
        let Some(suspicion) = suspicion else { continue };
        let need = need.get_or_insert(Need {
            series: index,
            suspicion,
            rounds: SECOND_STAGE_PAIRS,
            worse: f64::NEG_INFINITY,
        });
        if suspicion == Suspicion::Changed {
            need.suspicion = suspicion;
        }
        if cell.margin.gate {
            let (detect, margin) = (log_detect(rules), cell.log_margin());
            let planned =
                |sd: f64| pairs_to_resolve(detect, margin, sd * SPREAD_FACTOR, ALPHA_GATING, tests, PLANNED_POWER);
            need.rounds = need.rounds.max(estimates.sd.and_then(planned).unwrap_or(0));
        }
        let worse = estimates.location.map(|location| location.estimate);
        need.worse = need.worse.max(worse.unwrap_or(f64::NEG_INFINITY));
    }
    need
}

/// Why a run with timed series has no fresh rounds, or none of series whose first stage had too few for a verdict; `None` if there is no
/// such series, or nothing was timed.
pub(super) fn without_second_stage(run: &Run, gates: &Gates, rules: &Rules) -> Option<NoSecondStage> {
    let timed =
        || (run.series.iter()).filter(|series| series.missing_in.is_none() && pairs(series, 1).next().is_some());
    let fresh = |series: &Series| series.rounds.iter().any(|round| round.stage == 2);
    timed().next()?;
    if run.series.iter().any(fresh) {
        let of_baseline = |series: &Series| {
            series
                .rounds
                .iter()
                .filter(|round| round.variant == Variant::Baseline)
                .count()
        };
        let left_out = timed().filter(|series| !fresh(series) && of_baseline(series) < FEWEST_PAIRS);
        let series = count(left_out.count());
        let minutes = enough_minutes(run);
        return (series > 0).then_some(NoSecondStage::NoTime { series, minutes });
    }
    let first = (timed().flat_map(|series| &series.rounds))
        .map(|round| round.round + 1)
        .max()
        .unwrap_or(0);
    if (first as usize) < FEWEST_PAIRS {
        return Some(NoSecondStage::TooFewRounds {
            rounds: first,
            needed: count(FEWEST_PAIRS),
            minutes: enough_minutes(run).filter(|_| run.rounds_planned as usize >= FEWEST_PAIRS),
        });
    }
    let open = timed()
        .filter(|series| need(0, series, 1, gates, rules).is_some())
        .count();
    Some(match count(open) {
        0 => NoSecondStage::NothingLookedChanged,
        _ if run.status == RunStatus::Incomplete => NoSecondStage::Interrupted,
        series => NoSecondStage::NoTime {
            series,
            minutes: enough_minutes(run),
        },
    })
}

/// The budget is enough for both stages if it is enough for this number of rounds of every series: 8 rounds within its first
/// 60 %, and 8 fresh ones.
const ENOUGH_ROUNDS: u32 = 20;

/// The budget that would be enough for both stages at the pace of a run, in whole minutes; `None` if nothing was measured, or
/// if several machines measured, each with a budget of its own.
fn enough_minutes(run: &Run) -> Option<u32> {
    if !run.shards.is_empty() {
        return None;
    }
    let timed = |series: &Series| !series.is_counted() && series.missing_in.is_none();
    let costs = run.series.iter().zip(pair_costs(run));
    let pass: Duration = costs.filter(|(series, _)| timed(series)).map(|(_, cost)| cost).sum();
    let whole = u32::try_from((pass * ENOUGH_ROUNDS).as_secs().div_ceil(60)).ok()?;
    (whole > 0).then_some(whole)
}

/// Every series that needs fresh rounds, the one that needs them most first.
fn needs(run: &Run, rules: &Rules) -> Vec<Need> {
    let gates = Gates::of(run, &rules.margins);
    let compared = |series: &&Series| series.missing_in.is_none();
    let tests = (run.series.iter().filter(compared))
        .flat_map(|series| Cell::all(series, 1, &gates))
        .filter(|cell| cell.margin.gate)
        .count();
    let mut needs: Vec<Need> = (run.series.iter().enumerate())
        .filter(|(_, series)| compared(series))
        .filter_map(|(index, series)| need(index, series, tests, &gates, rules))
        .collect();
    needs.sort_by(|one, other| {
        let by_class = one.class().cmp(&other.class());
        by_class.then(other.worse.total_cmp(&one.worse))
    });
    needs
}

/// The second stage of the series that need one, the one that needs it most first; `None` if there is not time for any.
fn planned(run: &Run, needs: &[Need], rules: &Rules, left: Duration, pair: &[Duration]) -> Option<Stage> {
    let costs: Vec<Duration> = needs.iter().map(|need| pair[need.series]).collect();
    let (places, fits) = budget::affordable(&costs, left)?;
    let mut needs: Vec<Need> = places.into_iter().map(|place| needs[place]).collect();
    needs.sort_by_key(|need| need.series);
    let wanted = needs.iter().map(|need| need.rounds).max()?;
    let rounds = wanted.min(fits);
    let count = |kind| needs.iter().filter(|need| need.suspicion == kind).count();
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
    Some(Stage {
        number: 2,
        series: needs.iter().map(|need| run.series[need.series].id.clone()).collect(),
        rounds,
        why: format!("{}: {planned}", why.join(", ")),
    })
}

/// The expected duration of a pair of each series: the mean wall time of a round of each variant, and an equal share of the time
/// between rounds. The null takes part in one of [`NULL_EVERY`] rounds, however often it did so far.
pub fn pair_costs(run: &Run) -> Vec<Duration> {
    let all = || {
        run.series
            .iter()
            .flat_map(|series| series.rounds.iter().map(move |round| took_ns(series, round)))
    };
    let rounds_ns = run.spent.measure_ns.saturating_sub(run.spent.calibrate_ns);
    let between = rounds_ns.saturating_sub(all().sum()) / (all().count() as u64).max(1);
    let mean = |series: &Series, variant| {
        let rounds = || series.rounds.iter().filter(|round| round.variant == variant);
        let total: u64 = rounds().map(|round| took_ns(series, round) + between).sum();
        total.checked_div(rounds().count() as u64)
    };
    let has_null = run.variants.iter().any(|one| one.variant == Variant::Null);
    let pair = |series: &Series| {
        let sides: Vec<u64> = (run.variants.iter().filter(|one| one.variant != Variant::Null))
            .filter_map(|one| mean(series, one.variant))
            .collect();
        let null = mean(series, Variant::Null)
            .or(sides.first().copied())
            .filter(|_| has_null);
        Duration::from_nanos(sides.iter().sum::<u64>() + null.unwrap_or(0) / u64::from(NULL_EVERY))
    };
    run.series.iter().map(pair).collect()
}

/// The wall time of a round; in a record from before it was measured, that of its loads and warm-ups.
fn took_ns(series: &Series, round: &Round) -> u64 {
    // A search loads the server several times, each after a warm-up; its figures are of one of them.
    let loads = (round.search.len() as u64).max(1);
    let nominal = || loads * (round.elapsed_ns.unwrap_or(0) + series.load.warmup_ns.unwrap_or(0));
    round.took_ns.unwrap_or_else(nominal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::run::VariantRevision;

    /// What a pair is expected to take after two rounds, whichever of them had a null: each round takes 9 s.
    #[test]
    fn a_null_is_expected_as_often_as_it_is_planned() {
        let cost = |nulls: u32| {
            let mut run = wirebench_testing::reference();
            let (all, first) = (
                [Variant::Baseline, Variant::Candidate, Variant::Null],
                run.variants[0].clone(),
            );
            run.variants = all
                .map(|variant| VariantRevision {
                    variant,
                    ..first.clone()
                })
                .to_vec();
            run.series.truncate(1);
            let rounds = (0..2).flat_map(|number| all.map(|variant| (number, variant)));
            run.series[0].rounds = rounds
                .filter(|(number, variant)| *variant != Variant::Null || *number < nulls)
                .map(|(number, variant)| Round {
                    took_ns: Some(9_000_000_000),
                    ..Round::unmeasured(variant, number, 0, 1)
                })
                .collect();
            (run.spent.measure_ns, run.spent.calibrate_ns) = (0, 0);
            pair_costs(&run)
        };
        for nulls in 0..=2 {
            assert_eq!(cost(nulls), [Duration::from_secs(21)], "{nulls} nulls");
        }
    }
}
