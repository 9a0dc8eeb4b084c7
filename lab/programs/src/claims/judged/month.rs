//! The CPU time, memory and traffic of a month of requests, from measured rounds.

use crate::claims::publication::{Month, Quantity};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Round, Run, Series};
use wirebench_stats::quantile::median;

use super::measured::pair;
use super::quantity::value;
use crate::claims::prices::Prices;
use wirebench_judge::summary::candidate_rounds;

/// Days in a month, on average: 365.25 ÷ 12.
pub const DAYS: f64 = 30.4375;

/// The CPU time and traffic of one request, and the memory that is used all the time; medians over the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestUse {
    /// CPU time of a request, s.
    pub cpu_s: f64,
    /// Memory of all processes, bytes.
    pub memory_bytes: f64,
    /// Bytes that all processes send for a request; `None` where the machine does not count them.
    pub sent_bytes: Option<f64>,
}

impl RequestUse {
    /// Core hours in a month.
    #[must_use]
    pub fn core_hours(&self, requests_per_day: f64) -> f64 {
        requests_per_day * DAYS * self.cpu_s / 3600.0
    }

    /// 10^9 bytes sent in a month; `None` if the traffic is unknown.
    #[must_use]
    pub fn sent_gb(&self, requests_per_day: f64) -> Option<f64> {
        Some(requests_per_day * DAYS * self.sent_bytes? / 1e9)
    }

    /// Memory, 2^30 bytes.
    #[must_use]
    pub fn memory_gib(&self) -> f64 {
        self.memory_bytes / f64::from(1 << 30)
    }

    /// The price of a month; `None` if the traffic is unknown.
    #[must_use]
    pub fn price(&self, requests_per_day: f64, rates: &Prices) -> Option<f64> {
        let memory = self.memory_gib() * DAYS * 24.0 * rates.memory_gib_hour;
        let traffic = self.sent_gb(requests_per_day)? * rates.network_gb;
        Some(self.core_hours(requests_per_day) * rates.cpu_core_hour + memory + traffic)
    }
}

/// The use of both sides of an estimate; `None` if the run has not measured both.
#[must_use]
pub fn month(estimate: &Month, run: &Run) -> Option<[RequestUse; 2]> {
    let [first, second] = pair(&estimate.pair, run)?;
    Some([request_use(first)?, request_use(second)?])
}

fn request_use(series: &Series) -> Option<RequestUse> {
    let middle = |read: &dyn Fn(&Round) -> Option<f64>| {
        let values: Vec<f64> = candidate_rounds(series).filter_map(read).collect();
        median(&values)
    };
    let sent = |round: &Round| {
        let bytes_per_s = value(Quantity::NetworkMbPerS, round)? * 1e6;
        Some(bytes_per_s / value(Quantity::ThroughputRps, round)?)
    };
    Some(RequestUse {
        cpu_s: middle(&|round| Metric::ServerCpu.of(round))? / 1e9,
        memory_bytes: middle(&|round| value(Quantity::MemoryMb, round))? * 1e6,
        sent_bytes: middle(&sent),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> Prices {
        Prices {
            about: String::new(),
            currency: "$".into(),
            requests_per_day: 1e6,
            cpu_core_hour: 0.04,
            memory_gib_hour: 0.005,
            network_gb: 0.09,
        }
    }

    fn committed() -> Run {
        serde_json::from_str(include_str!("../../../../results/comparisons/A/run.json")).unwrap()
    }

    fn estimate() -> Month {
        Month {
            requests_per_day: 1e6,
            sides: ["HTTP".into(), "gRPC".into()],
            pair: ["a-rate@three-tier-http@k6", "a-rate@three-tier-grpc@k6"].map(str::to_owned),
            published_gb: [130.0, 52.0],
        }
    }

    #[test]
    fn a_month_is_what_a_request_takes_times_its_requests() {
        let [http, grpc] = month(&estimate(), &committed()).unwrap();
        let [http_gb, grpc_gb] = [http, grpc].map(|one| one.sent_gb(1e6).unwrap());
        // Three tiers send their 421 bytes of JSON on each hop, with headers.
        assert!(
            (30.0..80.0).contains(&http_gb) && grpc_gb < http_gb,
            "{http_gb} {grpc_gb}"
        );
        let hours = http.core_hours(1e6);
        assert!((hours - 30.4375e6 * http.cpu_s / 3600.0).abs() < 1e-9, "{hours}");
        let whole = hours * 0.04 + http.memory_gib() * 730.5 * 0.005 + http_gb * 0.09;
        assert!((http.price(1e6, &prices()).unwrap() - whole).abs() < 1e-9);
    }

    #[test]
    fn what_was_not_measured_has_no_month_and_unknown_traffic_no_price() {
        let mut run = committed();
        for round in run.series.iter_mut().flat_map(|series| &mut series.rounds) {
            round.processes.clear();
        }
        let [http, _] = month(&estimate(), &run).unwrap();
        assert_eq!((http.sent_bytes, http.price(1e6, &prices())), (None, None));
        run.series.clear();
        assert_eq!(month(&estimate(), &run), None);
    }
}
