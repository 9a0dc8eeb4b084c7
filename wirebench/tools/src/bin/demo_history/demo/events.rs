//! The model: steps of levels, failures, and runs that left a series out, each with its push.

use wirebench_record::metric::Metric::{
    self, AllocatedBytes, Allocations, BinaryBytes, Instructions, LatencyP50, LatencyP99, PeakRss, ServerCpu,
    StartUpInstructions, Throughput,
};

/// The push whose worsening was accepted.
pub(super) const ACCEPTED: usize = 238;
/// The push that made HTTP slower, which nobody has accepted.
pub(super) const WORSE: usize = 254;
/// From this push on a scenario has fewer requests, which changes its digest.
const NEW_DIGEST: usize = 232;

/// A change of the level of some metrics of some series, in percent.
struct Step {
    at: usize,
    /// The beginnings of the ids of its series.
    series: &'static [&'static str],
    percent: &'static [(Metric, f64)],
}

const STEPS: [Step; 12] = [
    // Better, long ago.
    Step {
        at: 60,
        series: &["weather-fixed-count@grpc-multi@ghz", "weather-multiplexed@grpc-multi@"],
        percent: &[
            (ServerCpu, -7.0),
            (Throughput, 6.0),
            (LatencyP50, -6.0),
            (LatencyP99, -5.0),
        ],
    },
    // Worse, and fixed two weeks later.
    Step {
        at: 98,
        series: &["weather-fixed-count@http@", "weather-fixed-duration@http@"],
        percent: &[(ServerCpu, 6.0), (Throughput, -5.0), (LatencyP50, 5.5)],
    },
    Step {
        at: 116,
        series: &["weather-fixed-count@http@", "weather-fixed-duration@http@"],
        percent: &[(ServerCpu, -5.66), (Throughput, 5.26), (LatencyP50, -5.21)],
    },
    // Another compiler, with another machine.
    Step {
        at: 140,
        series: &["count-weather@"],
        percent: &[(Instructions, -1.4), (BinaryBytes, -2.6), (StartUpInstructions, -3.5)],
    },
    // Fewer allocations.
    Step {
        at: 160,
        series: &["count-weather@http@"],
        percent: &[(Instructions, -3.1), (Allocations, -8.108), (AllocatedBytes, -6.2)],
    },
    Step {
        at: 199,
        series: &["count-weather@grpc"],
        percent: &[(BinaryBytes, 1.9), (StartUpInstructions, 1.6)],
    },
    // More memory for a cache, which reduced the p99 latency.
    Step {
        at: 204,
        series: &["weather-fixed-count@http@"],
        percent: &[(PeakRss, 9.0), (LatencyP99, -7.0)],
    },
    // Accepted.
    Step {
        at: ACCEPTED,
        series: &["weather-fixed-count@grpc@"],
        percent: &[(ServerCpu, 4.6), (Throughput, -4.5), (LatencyP50, 4.0)],
    },
    Step {
        at: ACCEPTED,
        series: &["count-weather@grpc@"],
        percent: &[(Instructions, 2.9), (Allocations, 3.96)],
    },
    // Better since the newest release.
    Step {
        at: 246,
        series: &["weather-multiplexed@grpc@"],
        percent: &[(ServerCpu, -8.0), (Throughput, 6.5), (LatencyP50, -6.0)],
    },
    // Worse since the newest release.
    Step {
        at: WORSE,
        series: &["weather-fixed-count@http@"],
        percent: &[
            (ServerCpu, 7.0),
            (Throughput, -6.0),
            (LatencyP50, 6.5),
            (LatencyP99, 5.0),
        ],
    },
    Step {
        at: WORSE,
        series: &["count-weather@http@"],
        percent: &[(Instructions, 2.8), (Allocations, 5.882), (AllocatedBytes, 4.3)],
    },
];

/// The level of a metric at a push, as a factor of what it was at the first one.
pub(super) fn level(series: &str, metric: Metric, place: usize) -> f64 {
    STEPS
        .iter()
        .filter(|step| step.at <= place && step.series.iter().any(|start| series.starts_with(start)))
        .flat_map(|step| step.percent)
        .filter(|(one, _)| *one == metric)
        .map(|(_, percent)| 1.0 + percent / 100.0)
        .product()
}

/// Requests in a round.
pub(super) fn requests(series: &str, place: usize) -> u64 {
    let fewer = series == "weather-multiplexed@http@h2load" && place >= NEW_DIGEST;
    if fewer { 30_000 } else { 50_000 }
}

/// The reason why a series has no value at a push of the older months.
pub(super) fn failure(series: &str, place: usize) -> Option<&'static str> {
    match (series, place) {
        ("weather-fixed-count@http@hey", 77) => Some("6 of 6 rounds failed: hey ended with exit code 1"),
        ("weather-multiplexed@grpc@h2load", 128 | 129) => {
            Some("no round is good: 48 of 50000 requests failed (48 × status 14)")
        }
        ("weather-fixed-count@grpc-multi@ghz", 212) => {
            Some("6 of 6 rounds failed: the server was not ready after 10 s")
        }
        ("count-weather@grpc-multi@ghz", 170) => {
            Some("under valgrind --tool=callgrind: the server did not stop within 20 s")
        }
        _ => None,
    }
}

/// True if a run left a series out, because it measured fewer servers to save time.
pub(super) fn left_out(series: &str, place: usize) -> bool {
    let several = series.contains("@grpc-multi@") && matches!(place, 130..=134 | 190..=192);
    several || (series.starts_with("start-up@") && matches!(place, 40..=43))
}

/// A disturbance that a run did not detect, as a factor.
pub(super) fn outlier(series: &str, place: usize) -> f64 {
    match (series, place) {
        ("weather-fixed-count@grpc@h2load", 150) => 1.12,
        ("weather-fixed-count@http@h2load", 31) => 1.09,
        ("weather-multiplexed@grpc@h2load", 225) => 0.91,
        _ => 1.0,
    }
}
