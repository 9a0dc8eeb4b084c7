//! Faults and disturbances in the runs of the newest month.

use std::collections::BTreeMap;

use wirebench_record::run::{Round, RoundStatus, Variant};

/// The noise of a run's machine as a multiple of the usual noise.
pub(super) fn noise_factor(place: usize) -> f64 {
    if place == 258 { 3.5 } else { 1.0 }
}

/// True for pairs that are excluded because the machine was disturbed, and measured again.
pub(super) fn disturbed(series: &str, place: usize, number: u32) -> bool {
    (series, place, number) == ("weather-fixed-count@http@h2load", 255, 1)
        || (series, place, number) == ("weather-multiplexed@grpc@h2load", 257, 4)
}

/// Spoils a measured round where the model says so.
pub(super) fn spoil(series: &str, place: usize, round: &mut Round) {
    match (series, place, round.variant, round.round) {
        ("weather-fixed-count@grpc@ghz", 257, Variant::Candidate, 2 | 4) => {
            round.in_flight_permille = Some(812);
            invalid(
                round,
                "Little's law: 21804 requests/s × the mean latency are 81.2 % of 100 workers, expected 87 to 103 %",
            );
        }
        ("weather-multiplexed@http@h2load", 258, Variant::Baseline, _) => {
            let lost = 23;
            round.ok_count = round.ok_count.map(|ok| ok - lost);
            round.failed_count = Some(lost);
            round.errors = BTreeMap::from([("status 503".into(), lost)]);
            invalid(round, "23 of 30000 requests failed (23 × status 503)");
        }
        ("weather-multiplexed@grpc-multi@h2load", 259, Variant::Candidate, _) => {
            let why = "the server ended with signal 6 during the load; its last words: panicked at stream.rs:88";
            *round = Round {
                reason: Some(why.into()),
                ..Round::unmeasured(round.variant, round.round, round.position, round.stage)
            };
        }
        _ => {}
    }
    if disturbed(series, place, round.round) {
        let taken = 7.3;
        round.host_steal_ns = Some(93_000_000);
        round.dropped = Some(format!("steal {taken} % of the CPUs' time"));
    }
}

fn invalid(round: &mut Round, why: &str) {
    round.status = RoundStatus::Invalid;
    round.reason = Some(why.into());
}
