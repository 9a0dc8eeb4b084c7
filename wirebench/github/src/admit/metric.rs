//! One metric of a comparison out of an artifact: its numbers must be possible, and its verdict must fit them.

use crate::admit::reasons::{self, LARGEST_PERCENT};
use crate::{Refusal, refuse};
use wirebench_record::comparison::{ComparedMetric, LARGEST_MARGIN_PERCENT, Verdict};
use wirebench_record::metric::{Better, Metric};

/// The largest value of a metric that is admitted.
const LARGEST: f64 = 1e18;
/// Pairs of rounds of one metric.
const PAIRS: u32 = 100_000;
/// How far a counted change may be from its two figures, percent.
const ROUNDING_PERCENT: f64 = 0.02;

/// The rounding error allowed between an interval's ends and values derived from them, as a share.
const ROUNDING: f64 = 1e-6;

/// How far a timed change may be from its two values, as a factor.
const FACTOR_APART: f64 = 1.5;

/// Admits the metrics of the series at `place`.
///
/// `open_percent` is from where a worsening that is not excluded leaves a verdict open.
pub(super) fn all(given: Vec<ComparedMetric>, open_percent: f64, place: &str) -> Result<Vec<ComparedMetric>, Refusal> {
    let mut all: Vec<ComparedMetric> = Vec::new();
    for (i, metric) in given.into_iter().enumerate() {
        let place = format!("{place}.metrics[{i}]");
        let what = metric.metric;
        if !Metric::all().any(|known| known == what) {
            refuse!("{place}.metric: is never compared");
        }
        let clashes = |known: Metric| known == what || known.is_counted() != what.is_counted();
        if all.iter().any(|known| clashes(known.metric)) {
            refuse!("{place}.metric: is there twice, or with metrics that no series has together");
        }
        all.push(one(&metric, open_percent, &place)?);
    }
    Ok(all)
}

fn one(metric: &ComparedMetric, open_percent: f64, place: &str) -> Result<ComparedMetric, Refusal> {
    let what = metric.metric;
    if metric.unit != what.unit() || metric.better != what.better() {
        refuse!("{place}.unit, better: differ from those of {}", what.name());
    }
    numbers(metric, place)?;
    if metric.accepted.is_some() && metric.verdict != Verdict::Regressed {
        refuse!("{place}.accepted: only a worsening is accepted");
    }
    interval(metric, place)?;
    if !fits(metric, open_percent) {
        refuse!("{place}.verdict: does not fit the numbers");
    }
    Ok(ComparedMetric {
        unit: what.unit().into(),
        reason: reasons::metric(metric, place)?,
        accepted: metric.accepted.as_ref().map(|_| reasons::ACCEPTED.to_owned()),
        flame_graph: None,
        ..metric.clone()
    })
}

fn numbers(metric: &ComparedMetric, place: &str) -> Result<(), Refusal> {
    let within =
        |low: f64, high: f64| move |value: &Option<f64>| value.is_none_or(|value| (low..=high).contains(&value));
    let values = [metric.baseline, metric.candidate];
    let changes = [
        metric.effect_percent,
        metric.effect_low_percent,
        metric.effect_high_percent,
        metric.null_percent,
    ];
    // Of a count that falls to 0, the smallest worsening seen is written as -100.
    let bounds = [metric.worse_at_most_percent, metric.resolvable_percent];
    let margin = (0.0..=LARGEST_MARGIN_PERCENT).contains(&metric.margin_percent);
    let possible = values.iter().all(within(0.0, LARGEST))
        && changes.iter().chain(&bounds).all(within(-100.0, LARGEST_PERCENT))
        && margin
        && within(0.0, LARGEST_PERCENT)(&metric.spread_percent)
        && [metric.p_worse, metric.p_better].iter().all(within(0.0, 1.0));
    if !possible {
        refuse!("{place}: a number that is not possible");
    }
    let pairs = metric.pairs;
    let counted = [metric.kept, metric.dropped_baseline, metric.dropped_candidate];
    if pairs.max(metric.null_pairs) > PAIRS
        || counted.iter().any(|count| *count > pairs)
        || !(1..=2).contains(&metric.stage)
    {
        refuse!("{place}.stage, pairs, kept: are not possible");
    }
    if !is_ratio(metric) {
        refuse!("{place}.effect_percent: does not follow from its two figures");
    }
    Ok(())
}

/// The change lies in its interval, and the bound that is shown between the change and the interval's worse end: older
/// versions showed a one-sided bound.
fn interval(metric: &ComparedMetric, place: &str) -> Result<(), Refusal> {
    let (low, high) = (metric.effect_low_percent, metric.effect_high_percent);
    let effect = metric.effect_percent;
    let in_order = |one: Option<f64>, other: Option<f64>| one.zip(other).is_none_or(|(one, other)| at_most(one, other));
    if !(in_order(low, effect) && in_order(effect, high) && in_order(low, high)) {
        refuse!("{place}.effect_percent: is not between effect_low_percent and effect_high_percent");
    }
    let worsening = |lower: Option<f64>, higher: Option<f64>| match metric.better {
        Better::Lower => lower.map(|percent| percent.max(0.0)),
        Better::Higher => higher.map(|percent| (-percent).max(0.0)),
    };
    let bound = metric.worse_at_most_percent;
    if !(in_order(worsening(effect, effect), bound) && in_order(bound, worsening(high, low))) {
        refuse!("{place}.worse_at_most_percent: is not between the change and the worse end of its interval");
    }
    Ok(())
}

fn at_most(one: f64, other: f64) -> bool {
    one <= other + ROUNDING * other.abs().max(1.0)
}

/// A counted change must follow from its two figures; a timed one approximately, because comparisons of older versions
/// show medians next to an estimate over pairs.
fn is_ratio(metric: &ComparedMetric) -> bool {
    let figures = metric.baseline.zip(metric.candidate);
    let figures = figures.filter(|(baseline, _)| *baseline > 0.0);
    match (figures, metric.effect_percent) {
        (Some((baseline, candidate)), Some(effect)) if metric.metric.is_counted() => {
            let expected = (candidate / baseline - 1.0) * 100.0;
            (expected - effect).abs() <= ROUNDING_PERCENT + effect.abs() * 1e-3
        }
        (Some((baseline, candidate)), Some(effect)) => {
            let apart = (candidate / baseline / (1.0 + effect / 100.0)).ln();
            apart.abs() <= FACTOR_APART.ln()
        }
        _ => true,
    }
}

/// Checks that a verdict fits its numbers. A gating metric passes only with an interval that supports the verdict.
fn fits(metric: &ComparedMetric, open_percent: f64) -> bool {
    let (low, high) = (metric.effect_low_percent, metric.effect_high_percent);
    let negative = |percent: f64| -percent;
    let (worse_by, at_least, worst) = match metric.better {
        Better::Lower => (metric.effect_percent, low, high),
        Better::Higher => (
            metric.effect_percent.map(negative),
            high.map(negative),
            low.map(negative),
        ),
    };
    let passes = |holds: fn(f64, f64) -> bool, bound: f64| {
        let shown = at_least.is_some() && worst.is_some_and(|worst| holds(worst, bound));
        shown || !metric.primary
    };
    let looks_worse = at_least.is_some_and(|at_least| at_least > metric.margin_percent);
    let rise_from_nothing = metric.metric.is_counted()
        && metric.baseline == Some(0.0)
        && metric.candidate.is_some_and(|candidate| candidate > 0.0);
    match metric.verdict {
        Verdict::Regressed => worse_by.map_or(rise_from_nothing, |by| by > 0.0),
        Verdict::Improved => worse_by.is_some_and(|by| by < 0.0) && passes(|worst, bound| worst < bound, 0.0),
        Verdict::Unchanged => {
            let bound = open_percent.max(metric.margin_percent);
            worse_by.is_some() && metric.worse_at_most_percent.is_some() && !looks_worse && passes(at_most, bound)
        }
        Verdict::Inconclusive | Verdict::Invalid => true,
        // Of a whole comparison only.
        Verdict::NotJudged => false,
    }
}
