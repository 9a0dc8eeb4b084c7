//! What a claim is about, read off the rounds of a run.

use crate::declare::claims::Quantity;
use crate::record::metric::Metric;
use crate::record::run::{Round, Series};

impl Quantity {
    /// Its value in one round; none when the round did not measure it. Rounds that failed a check have values too: what others
    /// published was not checked either.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts and times stay far below 2^53")]
    pub(super) fn of(self, round: &Round) -> Option<f64> {
        let milliseconds = |ns: u64| ns as f64 / 1e6;
        let elapsed = || round.elapsed_ns.filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e9);
        match self {
            Self::ThroughputRps => Metric::Throughput.read(round),
            Self::LatencyMeanMs => Some(milliseconds(round.latency_ns?.mean)),
            Self::LatencyP50Ms => Some(milliseconds(round.latency_ns?.p50)),
            Self::LatencyP95Ms => Some(milliseconds(round.latency_ns?.p95)),
            Self::LatencyP99Ms => Some(milliseconds(round.latency_ns?.p99)),
            Self::PayloadBytes => Some(round.payload_bytes? as f64),
            Self::MemoryMb => Some(round.server_peak_rss_bytes? as f64 / 1e6),
            Self::CpuPercent => Some(round.server_cpu_ns?.total() as f64 / 1e7 / elapsed()?),
            Self::NetworkMbPerS => {
                let sent: Option<Vec<u64>> = round.processes.iter().map(|one| one.sent_bytes_per_s).collect();
                let sent = sent.filter(|sent| !sent.is_empty())?;
                Some(sent.iter().sum::<u64>() as f64 / 1e6)
            }
            // As the tool reports them: whoever publishes its figures counts what it cut off itself.
            Self::FailedRequests => Some((round.failed_count? + round.cut_off_count.unwrap_or(0)) as f64),
        }
    }

    /// Whether more of it is better.
    pub(super) const fn more_is_better(self) -> bool {
        matches!(self, Self::ThroughputRps)
    }

    /// Its name for people.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::ThroughputRps => "requests/s",
            Self::LatencyMeanMs => "mean latency, ms",
            Self::LatencyP50Ms => "p50, ms",
            Self::LatencyP95Ms => "p95, ms",
            Self::LatencyP99Ms => "p99, ms",
            Self::PayloadBytes => "payload, bytes",
            Self::MemoryMb => "memory, MB",
            Self::CpuPercent => "CPU, % of a core",
            Self::NetworkMbPerS => "network, MB/s",
            Self::FailedRequests => "failed requests",
        }
    }
}

/// Whether a series has a round that failed a check, and what it said.
pub(super) fn doubt(series: &Series) -> Option<&str> {
    (series.rounds.iter().find_map(|round| round.reason.as_deref())).or(series.reason.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::run::Variant;

    #[test]
    fn what_a_driver_cut_off_itself_counts_as_failed_where_others_published_it() {
        let mut round = Round::unmeasured(Variant::Candidate, 0, 0, 1);
        assert_eq!(Quantity::FailedRequests.of(&round), None);
        round.failed_count = Some(2);
        assert_eq!(Quantity::FailedRequests.of(&round), Some(2.0));
        round.cut_off_count = Some(7);
        assert_eq!(Quantity::FailedRequests.of(&round), Some(9.0));
    }
}
