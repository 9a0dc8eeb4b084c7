//! How often the server slept. A server that has more work for each request sleeps less often, because the next request is there
//! before it waits. Going to sleep and waking up costs CPU time, so that CPU time per request can stay equal or fall although the
//! work grew. Where other programs use the machine, a server that sleeps also gives its core away, so that throughput and latency
//! can get better although the work grew. Both hold the other way round, too.

use crate::compare::FEWEST_PAIRS;
use crate::compare::cell::{pairs, per_request};
use wirebench_record::metric::Metric;
use wirebench_record::reason::MetricReason;
use wirebench_record::run::Series;
use wirebench_stats::mann_whitney::{Level, differ};
use wirebench_stats::quantile::median;

/// The most that a sleep can cost, ns of CPU time. Measured: 9,000 to 24,000 (MEASURING, "Server CPU per request").
const COSTS_AT_MOST_NS: f64 = 30_000.0;
/// The most sleeps that differ for this reason: a server waits for its next request once at most. One that sleeps more often
/// waits for something else, such as a database, which is work of the request.
const DIFFER_AT_MOST: f64 = 1.0;
/// From this share of the machine's CPU time on, other programs keep a server that wakes up waiting, ‰.
const OTHERS_FROM_PERMILLE: f64 = 300.0;
/// How long they can keep it waiting each time, ns: about as long as Linux lets one program run while another is ready.
const WAITS_AT_MOST_NS: f64 = 3_000_000.0;

/// What the sleeps of the servers of both sides can change in a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sleeps {
    /// How often the baseline's server slept, per request: median.
    baseline: f64,
    /// The same of the candidate's.
    candidate: f64,
    /// The share of the machine's CPU time that other programs used, ‰: median; of throughput and latency.
    others_permille: Option<f64>,
}

impl Sleeps {
    /// `None` if they do not differ (by ranks over the rounds of a stage, at one in a thousand in each direction), or cannot change
    /// the metric.
    pub(super) fn that_change(metric: Metric, series: &Series, stage: u32) -> Option<Self> {
        let others_permille = match metric {
            Metric::ServerCpu => None,
            Metric::Throughput | Metric::LatencyP50 | Metric::LatencyP99 => Some(others_permille(series, stage)?),
            _ => return None,
        };
        let (baseline, candidate) = per_request(series, stage, |round| round.server_sleeps);
        differ(&baseline, &candidate, Level::Thousandth).filter(|_| baseline.len() >= FEWEST_PAIRS)?;
        let (baseline, candidate) = median(&baseline).zip(median(&candidate))?;
        Some(Self {
            baseline,
            candidate,
            others_permille,
        })
    }

    /// By how much the candidate would be worse at most if it slept as often as the baseline, as a difference of logarithms; below
    /// zero if it sleeps more often. `value` is the candidate's.
    pub(super) fn saved(self, metric: Metric, value: f64) -> f64 {
        let (at_most_ns, value_ns) = match metric {
            Metric::ServerCpu => (COSTS_AT_MOST_NS, value),
            Metric::Throughput => (WAITS_AT_MOST_NS, 1e9 / value),
            _ => (WAITS_AT_MOST_NS, value),
        };
        let fewer = (self.baseline - self.candidate).clamp(-DIFFER_AT_MOST, DIFFER_AT_MOST);
        (fewer * at_most_ns / value_ns).max(-0.999).ln_1p()
    }

    pub(super) fn reason(self) -> MetricReason {
        MetricReason::SleepsDiffer {
            baseline: self.baseline,
            candidate: self.candidate,
            others_percent: self.others_permille.map(|share| share / 10.0),
        }
    }
}

/// The share of the machine's CPU time that other programs used, ‰: median over the rounds; `None` if it is small or unknown.
fn others_permille(series: &Series, stage: u32) -> Option<f64> {
    let rounds = pairs(series, stage).flat_map(|(baseline, candidate)| [baseline, candidate]);
    let shares: Vec<f64> = rounds
        .filter_map(|round| round.others_busy_permille.map(f64::from))
        .collect();
    median(&shares).filter(|share| *share >= OTHERS_FROM_PERMILLE)
}
