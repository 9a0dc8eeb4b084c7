//! Judges the limits of a run: absolute bounds on metrics of the candidate.
//!
//! A limit is about this machine and this hour, unlike a comparison. So a bound inside the interval is "can't tell".

use wirebench_record::limit::{JudgedLimit, Limit, LimitVerdict};
use wirebench_record::run::{Run, Series, Variant};
use wirebench_stats::quantile::{median, median_interval};

use crate::summary::candidate_rounds;

/// Every limit of every series, in the order of the run.
#[must_use]
pub fn judge(run: &Run) -> Vec<JudgedLimit> {
    let each = |series| Series::limits_of(series).map(move |limit| one(series, *limit));
    let measured = |series: &&Series| series.missing_in != Some(Variant::Candidate);
    run.series.iter().filter(measured).flat_map(each).collect()
}

/// How many limits are broken.
#[must_use]
pub fn broken(limits: &[JudgedLimit]) -> usize {
    limits.iter().filter(|one| one.verdict == LimitVerdict::Broken).count()
}

fn one(series: &Series, limit: Limit) -> JudgedLimit {
    let counted = limit.metric.is_counted().then(|| {
        let (value, spread) = series.counts_of(Variant::Candidate)?.value(limit.metric)?;
        Some((value, (value * (1.0 - spread), value * (1.0 + spread))))
    });
    let values: Vec<f64> = candidate_rounds(series)
        .filter_map(|round| limit.metric.of(round))
        .collect();
    let (value, interval) = match counted {
        Some(found) => (found.map(|one| one.0), found.map(|one| one.1)),
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
