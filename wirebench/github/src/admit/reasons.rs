//! Reasons and notes of a record that may be repeated: their kinds and numbers stay, free text goes.

use wirebench_record::comparison::{ComparedMetric, Verdict};
use wirebench_record::metric::Metric;
use wirebench_record::reason::{MetricReason, NoSecondStage, Note, SeriesReason};

use crate::{Refusal, names, refuse};

/// The largest change that is admitted, percent.
pub(super) const LARGEST_PERCENT: f64 = 1e12;
/// What gates, without the names that the record adds.
pub(super) const GATES: &str = "counts gate where there are any, and server CPU per request from 10 % on then, unless wirebench.toml says otherwise";
/// Why a worsening is meant: its own words are in the file.
pub(super) const ACCEPTED: &str = "accepted.toml says why";

/// Why a metric of the series at `place` has its verdict.
///
/// # Errors
/// When the reason is one of another verdict, or has an impossible number.
pub(super) fn metric(metric: &ComparedMetric, place: &str) -> Result<MetricReason, Refusal> {
    use MetricReason as Reason;
    let (verdicts, percent): (&[Verdict], Option<f64>) = match &metric.reason {
        Reason::WorseThan { percent } | Reason::WorseThanGate { percent } | Reason::WorseButClientBound { percent } => {
            (&[Verdict::Regressed], Some(*percent))
        }
        Reason::WorseAroundMargin { percent } => (&[Verdict::Regressed, Verdict::Inconclusive], Some(*percent)),
        Reason::WorseWhereNothingMayChange | Reason::WorseFromZero => (&[Verdict::Regressed], None),
        Reason::BetterThan { percent } => (&[Verdict::Improved], Some(*percent)),
        Reason::BetterWhereNothingMayChange => (&[Verdict::Improved], None),
        Reason::ExactlyEqual => (&[Verdict::Unchanged], None),
        Reason::NoWorseningAbove { percent } | Reason::WorseWithinMargin { percent, .. } => {
            (&[Verdict::Unchanged], Some(*percent))
        }
        Reason::NotExcluded { percent } | Reason::SpreadTooWide { percent } => {
            (&[Verdict::Inconclusive], Some(*percent))
        }
        Reason::NullDiffers { percent } => (&[Verdict::Inconclusive], percent.map(f64::abs)),
        Reason::TooFewPairs { .. }
        | Reason::WorseInEveryPair { .. }
        | Reason::MaybeNotWarm { .. }
        | Reason::Unconfirmed
        | Reason::NotBeyondDoubt
        | Reason::Disputed => (&[Verdict::Inconclusive], None),
        Reason::SleepsDiffer {
            baseline,
            candidate,
            others_percent,
        } => (
            &[Verdict::Inconclusive],
            Some(baseline.min(*candidate).min(others_percent.unwrap_or(0.0))),
        ),
        Reason::NewBlockingCall { per_request, .. } => (&[Verdict::Inconclusive], Some(*per_request)),
        Reason::MeasuredAtDifferentTimes | Reason::CountedAtDifferentTimes => (&[Verdict::Inconclusive], None),
        Reason::FigureMissing { .. } => (&[Verdict::Invalid], None),
        Reason::FigureRefused { .. } => (&[Verdict::Inconclusive, Verdict::Invalid], None),
        Reason::FigureNegative { value, .. } => (&[Verdict::Inconclusive, Verdict::Invalid], Some(-value)),
        Reason::Elsewhere | Reason::Text { .. } => return Ok(Reason::Elsewhere),
    };
    if !verdicts.contains(&metric.verdict) {
        refuse!("{place}.reason: is not a reason of this verdict");
    }
    if percent.is_some_and(|percent| !(0.0..=LARGEST_PERCENT).contains(&percent)) {
        refuse!("{place}.reason: a number that is not possible");
    }
    let mut reason = metric.reason.clone();
    match &mut reason {
        Reason::NewBlockingCall { call, .. } => *call = names::syscall(call),
        Reason::FigureRefused { why, .. } | Reason::FigureMissing { why, .. } => why.clear(),
        Reason::TooFewPairs { usable, .. } | Reason::WorseInEveryPair { usable, .. } => *usable = metric.kept,
        _ => {}
    }
    Ok(reason)
}

/// The reason or remark of a series; `None` for free text if the series is `whole` without it.
pub(super) fn series(mut reason: SeriesReason, whole: bool) -> Option<SeriesReason> {
    use SeriesReason as Reason;
    match &mut reason {
        Reason::NoGoodRound { why, .. } | Reason::NotCounted { why, .. } => why.clear(),
        Reason::Counts { remarks, refused, why } if refused.iter().any(|metric| metric.is_counted()) => {
            refused.retain(|metric| metric.is_counted());
            refused.truncate(Metric::COUNTED.len());
            remarks.clear();
            *why = None;
        }
        // Two runs are never admitted.
        Reason::Counts { .. }
        | Reason::OtherDigest { .. }
        | Reason::OtherDriver { .. }
        | Reason::Elsewhere
        | Reason::Text { .. } => {
            return (!whole).then_some(Reason::Elsewhere);
        }
        _ => {}
    }
    Some(reason)
}

/// Why there are no fresh rounds.
pub(super) fn no_second_stage(given: NoSecondStage) -> NoSecondStage {
    match given {
        NoSecondStage::Text { .. } => NoSecondStage::Elsewhere,
        known => known,
    }
}

/// The notes that hold no free text, each once, and how many do.
pub(super) fn notes(given: Vec<Note>) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    let mut others = 0;
    for mut note in given {
        match &mut note {
            Note::NoSecondStage { why } => *why = no_second_stage(why.clone()),
            Note::NotFinished { why } => why.clear(),
            Note::DifferentPackages { packages, more } => {
                packages.clear();
                *more = 0;
            }
            Note::RoundsLeftOut { .. }
            | Note::Modified { .. }
            | Note::SeveralMachines { .. }
            | Note::SharedCores
            | Note::Unlocked
            | Note::MeasuredAtDifferentTimes => {}
            Note::DifferentMachines { .. }
            | Note::OtherBase { .. }
            | Note::Newer
            | Note::Elsewhere { .. }
            | Note::Text { .. } => {
                others += 1;
                continue;
            }
        }
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    if others > 0 {
        notes.push(Note::Elsewhere { notes: others });
    }
    notes
}
