//! The value of a claim's quantity in the rounds of a run.

use crate::claims::publication::Quantity;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Round, Series};

/// The value of a quantity in one round; `None` if the round did not measure it. Rounds that failed a check have values
/// too: published figures were not checked either.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts and times stay far below 2^53")]
pub(super) fn value(quantity: Quantity, round: &Round) -> Option<f64> {
    let milliseconds = |ns: u64| ns as f64 / 1e6;
    let elapsed = || round.elapsed_ns.filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e9);
    match quantity {
        Quantity::ThroughputRps => Metric::Throughput.read(round),
        Quantity::LatencyMeanMs => Some(milliseconds(round.latency_ns?.mean)),
        Quantity::LatencyP50Ms => Some(milliseconds(round.latency_ns?.p50)),
        Quantity::LatencyP95Ms => Some(milliseconds(round.latency_ns?.p95)),
        Quantity::LatencyP99Ms => Some(milliseconds(round.latency_ns?.p99)),
        Quantity::PayloadBytes => Some(round.payload_bytes? as f64),
        Quantity::MemoryMb => Some(round.server_peak_rss_bytes? as f64 / 1e6),
        Quantity::CpuPercent => Some(round.server_cpu_ns?.total() as f64 / 1e7 / elapsed()?),
        Quantity::NetworkMbPerS => {
            let sent: Option<Vec<u64>> = round.processes.iter().map(|one| one.sent_bytes_per_s).collect();
            let sent = sent.filter(|sent| !sent.is_empty())?;
            Some(sent.iter().sum::<u64>() as f64 / 1e6)
        }
        // As the tool reports them: published figures include the calls that the tool cut off itself.
        Quantity::FailedRequests => Some((round.failed_count? + round.cut_off_count.unwrap_or(0)) as f64),
    }
}

/// The first failed check of a series' rounds.
pub(super) fn failed_check(series: &Series) -> Option<&str> {
    (series.rounds.iter().find_map(|round| round.reason.as_deref())).or(series.reason.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::run::Variant;

    #[test]
    fn what_a_driver_cut_off_itself_counts_as_failed_where_others_published_it() {
        let mut round = Round::unmeasured(Variant::Candidate, 0, 0, 1);
        assert_eq!(value(Quantity::FailedRequests, &round), None);
        round.failed_count = Some(2);
        assert_eq!(value(Quantity::FailedRequests, &round), Some(2.0));
        round.cut_off_count = Some(7);
        assert_eq!(value(Quantity::FailedRequests, &round), Some(9.0));
    }
}
