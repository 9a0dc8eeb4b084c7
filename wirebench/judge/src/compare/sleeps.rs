//! How often the server slept. Going to sleep and waking up costs CPU time, and a server that has more work for each request sleeps
//! less often, because the next request is there before it waits. So CPU time per request can stay equal although the work grew.

use crate::compare::FEWEST_PAIRS;
use crate::compare::cell::pairs;
use wirebench_record::run::{Round, Series};
use wirebench_stats::mann_whitney::{Level, differ};
use wirebench_stats::quantile::median;

/// The most that a sleep can cost, ns of CPU time. Measured: 9,000 to 24,000 (MEASURING, "Server CPU per request").
const COSTS_AT_MOST_NS: f64 = 30_000.0;

/// The candidate's server sleeps less often than the baseline's: per request, medians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FewerSleeps {
    pub(super) baseline: f64,
    pub(super) candidate: f64,
}

impl FewerSleeps {
    /// `None` if the candidate does not sleep less often: by ranks over the rounds of a stage, at one in a thousand.
    pub(super) fn of(series: &Series, stage: u32) -> Option<Self> {
        let both =
            pairs(series, stage).filter_map(|(baseline, candidate)| per_request(baseline).zip(per_request(candidate)));
        let (baseline, candidate): (Vec<f64>, Vec<f64>) = both.unzip();
        let is_fewer =
            baseline.len() >= FEWEST_PAIRS && differ(&baseline, &candidate, Level::Thousandth) == Some(false);
        let (baseline, candidate) = median(&baseline).zip(median(&candidate)).filter(|_| is_fewer)?;
        Some(Self { baseline, candidate })
    }

    /// The greatest worsening that the saved sleeps can hide, as a difference of logarithms. `cpu_ns` is CPU time per request.
    pub(super) fn hide_at_most(self, cpu_ns: f64) -> f64 {
        ((self.baseline - self.candidate) * COSTS_AT_MOST_NS / cpu_ns).ln_1p()
    }
}

fn per_request(round: &Round) -> Option<f64> {
    let requests = round.ok_count.filter(|count| *count > 0)?;
    Some(round.server_sleeps? as f64 / requests as f64)
}
