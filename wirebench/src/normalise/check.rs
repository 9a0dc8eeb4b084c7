//! The checks every round must pass before its numbers are believed.

use crate::declare::protocol::Protocol;
use crate::declare::scenario::{Amount, Load, MOST_REQUESTS};
use crate::record::run::Round;

/// Little's law may be off by this much, ‰.
const LITTLE_PERMILLE: f64 = 30.0;
/// An open loop must achieve this share of what it offers.
const OPEN_LOOP_SHARE: f64 = 0.99;

/// Everything that is wrong with a round, each a sentence part; none when it can be believed.
#[must_use]
pub(super) fn faults(load: &Load, spoken: Option<&str>, planned: Protocol, round: &Round) -> Vec<String> {
    let mut faults = Vec::new();
    let ok = round.ok_count.unwrap_or(0);
    let failed = round.failed_count.unwrap_or(0);
    if failed > 0 {
        let kinds: Vec<String> = round
            .errors
            .iter()
            .map(|(kind, count)| format!("{count} × {kind}"))
            .collect();
        faults.push(format!(
            "{failed} of {} requests failed ({})",
            ok + failed,
            kinds.join(", ")
        ));
    }
    if ok == 0 {
        faults.push("no good answer".into());
    }
    match load.amount {
        Amount::Requests(requests) if ok + failed != requests => {
            faults.push(format!("{requests} requests were asked for, {} were sent", ok + failed));
        }
        Amount::Starts(starts) if ok + failed != u64::from(starts) => {
            faults.push(format!("{starts} starts were asked for, {} were made", ok + failed));
        }
        Amount::Duration(_) if ok + failed >= MOST_REQUESTS => {
            faults.push(
                "1,000,000 requests or more: load generators keep no more latencies; shorten load.duration".into(),
            );
        }
        _ => {}
    }
    if let Some(spoken) = spoken.filter(|spoken| *spoken != planned.name()) {
        faults.push(format!("the driver spoke {spoken}, not {}", planned.name()));
    }
    faults.extend(disorder(round));
    if !matches!(load.amount, Amount::Starts(_)) {
        if let Some(seen) = round.connections_seen.filter(|seen| *seen != load.connections) {
            faults.push(format!(
                "{} connections were asked for, {seen} were seen",
                load.connections
            ));
        }
        faults.extend(flow(load, round, ok));
    }
    faults
}

/// Quantiles out of order.
fn disorder(round: &Round) -> Option<String> {
    let l = round.latency_ns?;
    let ordered = [l.min, l.p50, l.p90, l.p95, l.p99, l.p999, l.max].is_sorted() && l.min <= l.mean && l.mean <= l.max;
    (!ordered).then(|| "latency quantiles are out of order".into())
}

/// Throughput against latency (closed loop) or against the offered rate (open loop).
#[expect(clippy::cast_precision_loss, reason = "counts and times stay far below 2^53")]
fn flow(load: &Load, round: &Round, ok: u64) -> Option<String> {
    let Some(elapsed_ns) = round.elapsed_ns else {
        return Some("the driver reports no elapsed time".into());
    };
    let per_second = ok as f64 / (elapsed_ns as f64 / 1e9);
    if let Some(rate) = load.rate {
        let achieved = per_second / f64::from(rate);
        return (achieved < OPEN_LOOP_SHARE).then(|| {
            format!(
                "only {:.1} % of the offered {rate} requests/s was achieved",
                achieved * 100.0
            )
        });
    }
    let mean_ns = round.latency_ns?.mean as f64;
    let expected_ns = f64::from(load.workers()) * 1e9 / per_second;
    let off_permille = (expected_ns - mean_ns) / expected_ns * 1000.0;
    (off_permille.abs() > LITTLE_PERMILLE).then(|| {
        format!(
            "Little's law is off by {:.1} %: {} workers at {per_second:.0} requests/s mean {:.0} µs, the driver reports {:.0} µs",
            off_permille / 10.0,
            load.workers(),
            expected_ns / 1e3,
            mean_ns / 1e3
        )
    })
}
