//! The status of a series, derived from its rounds or counts, and the status of a run, derived from its series.

use jiff::Timestamp;

use wirebench_record::counts::{CountStatus, Counts};
use wirebench_record::run::{Round, RoundStatus, Run, RunStatus, Series, SeriesStatus, Variant};

/// Derives the status of each series from its rounds or counts, and the run's from its series. The run ends now; `variants` are
/// those that are measured of each series; `unfinished` if the run ended before all could be measured.
pub(super) fn conclude(run: &mut Run, variants: &[Vec<Variant>], unfinished: bool) {
    let planned: Vec<usize> = run.series.iter().map(|series| planned_rounds(run, series)).collect();
    for ((series, planned), variants) in run.series.iter_mut().zip(planned).zip(variants) {
        (series.status, series.reason) = if series.same_program && variants.is_empty() {
            let why = "the same program on both sides: nothing was measured";
            (SeriesStatus::Ok, Some(why.to_owned()))
        } else if series.load.counted.is_some() {
            of_counts(&series.counts, variants)
        } else {
            of_series(&series.rounds, variants, planned, unfinished)
        };
    }
    (run.status, run.reason) = of_run(&run.series, unfinished);
    run.finished_at = Timestamp::now().to_string();
}

/// The status of a series with `planned` rounds of each of `variants`; `unfinished` if the run ended before all could
/// be measured.
fn of_series(
    rounds: &[Round],
    variants: &[Variant],
    planned: usize,
    unfinished: bool,
) -> (SeriesStatus, Option<String>) {
    let mut worst = (SeriesStatus::Ok, None);
    // The null is measured only in a random part of the rounds.
    for variant in variants.iter().filter(|variant| **variant != Variant::Null) {
        let own: Vec<&Round> = rounds.iter().filter(|round| round.variant == *variant).collect();
        let (mut status, reason) = of_rounds(&own, planned, unfinished);
        let reason = reason.map(|reason| of_variant(reason, *variant, variants));
        if *variant == Variant::Reference && status == SeriesStatus::Failed {
            // A trend loses a point, but baseline and candidate can still be compared.
            status = SeriesStatus::Partial;
        }
        if rank(status) > rank(worst.0) {
            worst = (status, reason);
        }
    }
    worst
}

/// The status of a counted series, by the counts of `variants`; a reference is never counted, and the null is only a
/// check.
fn of_counts(counts: &[Counts], variants: &[Variant]) -> (SeriesStatus, Option<String>) {
    let mut worst = (SeriesStatus::Ok, None);
    let judged = |variant: &&Variant| matches!(variant, Variant::Baseline | Variant::Candidate);
    for variant in variants.iter().filter(judged) {
        let found = match counts.iter().find(|counts| counts.variant == *variant) {
            None => (
                SeriesStatus::Incomplete,
                Some("interrupted before it was counted".to_owned()),
            ),
            Some(counts) => {
                let status = match counts.status {
                    CountStatus::Ok => SeriesStatus::Ok,
                    CountStatus::Partial => SeriesStatus::Partial,
                    CountStatus::Failed => SeriesStatus::Failed,
                    CountStatus::Skipped => SeriesStatus::Skipped,
                };
                let reason = counts.reason.clone();
                (status, reason.map(|reason| of_variant(reason, *variant, variants)))
            }
        };
        if rank(found.0) > rank(worst.0) || worst.1.is_none() {
            worst = found;
        }
    }
    worst
}

/// A reason with its variant, where there are several.
fn of_variant(reason: String, variant: Variant, variants: &[Variant]) -> String {
    match variants {
        [_] => reason,
        _ => format!("{}: {reason}", variant.name()),
    }
}

/// The status of a run, by its series.
pub(super) fn of_run(series: &[Series], unfinished: bool) -> (RunStatus, Option<String>) {
    let failed = series
        .iter()
        .filter(|series| series.status == SeriesStatus::Failed)
        .count();
    match (unfinished, failed) {
        (true, _) => (RunStatus::Incomplete, Some("interrupted".into())),
        (false, 0) => (RunStatus::Complete, None),
        (false, count) => (
            RunStatus::Failed,
            Some(format!("{count} of {} series failed", series.len())),
        ),
    }
}

const fn rank(status: SeriesStatus) -> u32 {
    match status {
        SeriesStatus::Ok | SeriesStatus::Skipped => 0,
        SeriesStatus::Partial => 1,
        SeriesStatus::Incomplete => 2,
        SeriesStatus::Failed => 3,
    }
}

/// The status of one variant's rounds. Rounds of a disturbed pair are measured again, so they are ignored here.
fn of_rounds(rounds: &[&Round], planned: usize, unfinished: bool) -> (SeriesStatus, Option<String>) {
    let good = rounds
        .iter()
        .filter(|round| round.status == RoundStatus::Ok && round.dropped.is_none())
        .count();
    let why = || {
        let bad = rounds.iter().find_map(|round| round.reason.clone());
        let dropped = || rounds.iter().find_map(|round| round.dropped.clone());
        bad.or_else(dropped).unwrap_or_else(|| "no round was measured".into())
    };
    match good {
        good if good >= planned && good > 0 => (SeriesStatus::Ok, None),
        good if unfinished && rounds.len() < planned => (
            SeriesStatus::Incomplete,
            Some(format!(
                "interrupted after {} of {planned} rounds, {good} of them good",
                rounds.len()
            )),
        ),
        0 => (SeriesStatus::Failed, Some(why())),
        good => (
            SeriesStatus::Partial,
            Some(format!("{good} of {planned} rounds good; {}", why())),
        ),
    }
}

/// Rounds of each variant planned for a series, over all stages so far.
fn planned_rounds(run: &Run, series: &Series) -> usize {
    let stages = run.stages.iter().filter(|stage| stage.series.contains(&series.id));
    let planned: u32 = if run.stages.is_empty() {
        run.rounds_planned
    } else {
        stages.map(|stage| stage.rounds).sum()
    };
    planned as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalise::failed_round;
    use wirebench_declare::plan::Slot;

    const BOTH: [Variant; 2] = [Variant::Baseline, Variant::Candidate];

    fn good(variant: Variant) -> Round {
        Round {
            status: RoundStatus::Ok,
            reason: None,
            ..bad(variant)
        }
    }

    fn bad(variant: Variant) -> Round {
        let slot = Slot {
            position: 0,
            round: 0,
            series: 0,
            variant,
            stage: 1,
        };
        failed_round(slot, "it fell over".into())
    }

    fn dropped(variant: Variant) -> Round {
        Round {
            dropped: Some("steal".into()),
            ..good(variant)
        }
    }

    #[test]
    fn every_variant_must_have_its_rounds() {
        let whole = [good(Variant::Baseline), good(Variant::Candidate)];
        assert_eq!(of_series(&whole, &BOTH, 1, false), (SeriesStatus::Ok, None));
        let half = [bad(Variant::Baseline), good(Variant::Candidate)];
        let (status, reason) = of_series(&half, &BOTH, 1, false);
        assert_eq!(status, SeriesStatus::Failed);
        assert_eq!(reason.as_deref(), Some("baseline: it fell over"));
    }

    #[test]
    fn an_extra_round_makes_up_for_a_dropped_one() {
        let mut rounds = vec![dropped(Variant::Baseline), dropped(Variant::Candidate)];
        rounds.extend(BOTH.map(good));
        let (status, reason) = of_series(&rounds, &BOTH, 2, false);
        assert_eq!(status, SeriesStatus::Partial);
        assert_eq!(reason.as_deref(), Some("baseline: 1 of 2 rounds good; steal"));
        rounds.extend(BOTH.map(good));
        assert_eq!(of_series(&rounds, &BOTH, 2, false).0, SeriesStatus::Ok);
    }

    #[test]
    fn a_broken_reference_costs_the_trend_not_the_comparison() {
        let all = [Variant::Baseline, Variant::Candidate, Variant::Reference];
        let rounds = [
            good(Variant::Baseline),
            good(Variant::Candidate),
            bad(Variant::Reference),
        ];
        assert_eq!(of_series(&rounds, &all, 1, false).0, SeriesStatus::Partial);
    }

    #[test]
    fn a_single_variant_is_told_as_it_always_was() {
        let alone = [Variant::Candidate];
        let (status, reason) = of_series(&[good(Variant::Candidate)], &alone, 3, true);
        assert_eq!(status, SeriesStatus::Incomplete);
        assert_eq!(
            reason.as_deref(),
            Some("interrupted after 1 of 3 rounds, 1 of them good")
        );
        assert_eq!(of_series(&[], &alone, 3, false).0, SeriesStatus::Failed);
    }
}
