//! How often the server slept. Going to sleep and waking up costs CPU time, and a server that has more work for each request sleeps
//! less often, because the next request is there before it waits. So CPU time per request can stay equal or fall although the work
//! grew, and the other way round.

use crate::compare::FEWEST_PAIRS;
use crate::compare::cell::pairs;
use wirebench_record::reason::MetricReason;
use wirebench_record::run::{Round, Series};
use wirebench_stats::mann_whitney::{Level, differ};
use wirebench_stats::quantile::median;

/// The most that a sleep can cost, ns of CPU time. Measured: 9,000 to 24,000 (MEASURING, "Server CPU per request").
const COSTS_AT_MOST_NS: f64 = 30_000.0;

/// How often the servers of both sides slept, per request: medians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sleeps {
    baseline: f64,
    candidate: f64,
}

impl Sleeps {
    /// `None` if they do not differ: by ranks over the rounds of a stage, at one in a thousand in each direction.
    pub(super) fn that_differ(series: &Series, stage: u32) -> Option<Self> {
        let both =
            pairs(series, stage).filter_map(|(baseline, candidate)| per_request(baseline).zip(per_request(candidate)));
        let (baseline, candidate): (Vec<f64>, Vec<f64>) = both.unzip();
        differ(&baseline, &candidate, Level::Thousandth).filter(|_| baseline.len() >= FEWEST_PAIRS)?;
        let (baseline, candidate) = median(&baseline).zip(median(&candidate))?;
        Some(Self { baseline, candidate })
    }

    /// By how much the candidate's CPU time would be higher at most if it slept as often as the baseline, as a difference of
    /// logarithms; below zero if it sleeps more often. `cpu_ns` is its CPU time per request.
    pub(super) fn saved(self, cpu_ns: f64) -> f64 {
        let share = (self.baseline - self.candidate) * COSTS_AT_MOST_NS / cpu_ns;
        share.max(-0.999).ln_1p()
    }

    pub(super) fn reason(self) -> MetricReason {
        MetricReason::SleepsDiffer {
            baseline: self.baseline,
            candidate: self.candidate,
        }
    }
}

fn per_request(round: &Round) -> Option<f64> {
    let requests = round.ok_count.filter(|count| *count > 0)?;
    Some(round.server_sleeps? as f64 / requests as f64)
}
