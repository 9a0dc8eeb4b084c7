//! Judges the limits of a run: absolute bounds on metrics of the candidate.
//!
//! Unlike a comparison, a limit holds for this machine and this hour only. So a bound inside the interval is "can't tell".

use std::collections::BTreeSet;

use wirebench_record::limit::{JudgedLimit, Limit, LimitVerdict};
use wirebench_record::run::{Run, Series, Variant};
use wirebench_stats::quantile::{median, median_interval};

use crate::summary::candidate_rounds;

/// Every limit of every series, in the order of the run.
pub fn judge(run: &Run) -> Vec<JudgedLimit> {
    let each = |series| Series::limits_of(series).map(move |limit| judged(series, *limit));
    let measured = |series: &&Series| series.missing_in != Some(Variant::Candidate);
    run.series.iter().filter(measured).flat_map(each).collect()
}

/// How many limits are broken.
pub fn broken(limits: &[JudgedLimit]) -> usize {
    limits.iter().filter(|one| one.verdict == LimitVerdict::Broken).count()
}

/// The series with a limit on a metric that has no value, because nothing was measured; each once.
pub fn unmeasured(limits: &[JudgedLimit]) -> BTreeSet<&str> {
    let unmeasured = limits.iter().filter(|one| one.value.is_none());
    unmeasured.map(|one| one.series.as_str()).collect()
}

fn judged(series: &Series, limit: Limit) -> JudgedLimit {
    let counted = limit.metric.is_counted().then(|| {
        let (value, spread) = series.counts_of(Variant::Candidate)?.value(limit.metric)?;
        Some((value, (value - spread, value + spread)))
    });
    let values: Vec<f64> = candidate_rounds(series)
        .filter_map(|round| limit.metric.of(round))
        .collect();
    let (value, interval) = match counted {
        Some(figure) => figure.unzip(),
        None => (median(&values), median_interval(&values)),
    };
    JudgedLimit {
        series: series.id.clone(),
        limit,
        verdict: limit.verdict(interval),
        value,
        low: interval.map(|one| one.0),
        high: interval.map(|one| one.1),
        rounds: u32::try_from(values.len()).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert_eq, proptest};
    use wirebench_record::metric::Metric;
    use wirebench_testing::{counts, figure, reference};

    /// A run with this number of instructions per request, and a limit of 40,000.
    fn counted(value: f64, spread: f64) -> Run {
        let mut run = reference();
        run.series.truncate(1);
        let series = &mut run.series[0];
        series.rounds.clear();
        series.load.counted = Some(400);
        series.limits = vec![Limit {
            metric: Metric::Instructions,
            bound: 40_000.0,
        }];
        let figure = figure(Metric::Instructions, Some(value), spread);
        series.counts.push(counts(Variant::Candidate, vec![figure]));
        run
    }

    proptest! {
        #[test]
        fn a_counted_limit_is_told_unless_the_repetitions_lie_on_both_sides(value in 1_000.0..80_000.0_f64, spread in 0.0..500.0_f64) {
            let found = &judge(&counted(value, spread))[0];
            prop_assert_eq!((found.value, found.low, found.high), (Some(value), Some(value - spread), Some(value + spread)));
            let expected = if value + spread <= 40_000.0 {
                LimitVerdict::Holds
            } else if value - spread > 40_000.0 {
                LimitVerdict::Broken
            } else {
                LimitVerdict::CannotTell
            };
            prop_assert_eq!(found.verdict, expected);
        }
    }
}
