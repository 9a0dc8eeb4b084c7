//! Estimates the monthly cost of requests: measured CPU time, memory and bytes, times prices. Other resources are not
//! included.

use crate::summary::wire::wire_bytes;
use crate::summary::{Row, sections};
use wirebench_record::metric::Metric;
use wirebench_record::run::Run;

/// Days in a month, on average: 365.25 ÷ 12.
pub const DAYS: f64 = 30.4375;

/// The prices of resources, and the number of requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Requests in a day.
    pub requests_per_day: f64,
    /// One core for an hour.
    pub cpu_core_hour: f64,
    /// 2^30 bytes of memory for an hour.
    pub memory_gib_hour: f64,
    /// 10^9 bytes sent.
    pub network_gb: f64,
}

/// The monthly cost of one server's responses.
#[derive(Debug, Clone)]
pub struct Cost<'a> {
    /// The scenario and the server it was measured in.
    pub row: Row<'a>,
    /// CPU time of a request, s.
    pub cpu_s: f64,
    /// The largest memory, bytes, which one process uses all month.
    pub memory_bytes: f64,
    /// Bytes sent for one response.
    pub sent_bytes: f64,
    /// Whether these are all bytes on the wire; otherwise they are the payload alone.
    pub whole: bool,
    /// The cost of CPU time.
    pub cpu: f64,
    /// The cost of memory.
    pub memory: f64,
    /// The cost of traffic.
    pub network: f64,
}

impl Cost<'_> {
    /// The sum of all three.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.cpu + self.memory + self.network
    }
}

/// The cost of every timed series that has CPU time, memory and bytes; the others are left out.
#[must_use]
pub fn costs<'a>(run: &'a Run, rates: &Rates) -> Vec<Cost<'a>> {
    let rows = sections(run).into_iter().flat_map(|section| section.rows);
    rows.filter(Row::has_load)
        .filter_map(|row| cost(run, row, rates))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "payloads stay below 2^53 bytes")]
fn cost<'a>(run: &'a Run, row: Row<'a>, rates: &Rates) -> Option<Cost<'a>> {
    let requests = rates.requests_per_day * DAYS;
    let cpu_s = row.spread(Metric::ServerCpu)?.median / 1e9;
    let memory_bytes = row.spread(Metric::PeakRss)?.median;
    let wire = wire_bytes(run, row.series).map(|bytes| bytes.sent);
    let sent_bytes = wire.or_else(|| Some(row.payload_bytes? as f64))?;
    Some(Cost {
        cpu_s,
        memory_bytes,
        sent_bytes,
        whole: wire.is_some(),
        cpu: requests * cpu_s / 3600.0 * rates.cpu_core_hour,
        memory: memory_bytes / f64::from(1 << 30) * DAYS * 24.0 * rates.memory_gib_hour,
        network: requests * sent_bytes / 1e9 * rates.network_gb,
        row,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use wirebench_testing::reference;

    pub(crate) const RATES: Rates = Rates {
        requests_per_day: 1e6,
        cpu_core_hour: 0.04,
        memory_gib_hour: 0.005,
        network_gb: 0.09,
    };

    #[test]
    fn costs_are_measured_amounts_times_prices() {
        let run = reference();
        let all = costs(&run, &RATES);
        let one = all
            .iter()
            .find(|cost| cost.row.series.id == "weather-fixed-count@http@h2load")
            .unwrap();
        // 30.4375 million requests of some 10 µs are 5 minutes of a core.
        assert!((one.cpu - 30.4375e6 * one.cpu_s / 3600.0 * 0.04).abs() < 1e-12);
        assert!(one.cpu > 0.001 && one.cpu < 0.01, "{one:?}");
        assert!((one.network - 30.4375e6 * one.sent_bytes / 1e9 * 0.09).abs() < 1e-9);
        assert!((one.total() - one.cpu - one.memory - one.network).abs() < 1e-12);
        assert!(
            one.memory < 0.1 && one.memory > 0.005,
            "some MiB for 730 hours: {one:?}"
        );
    }

    #[test]
    fn twice_the_requests_cost_twice_but_for_the_memory() {
        let run = reference();
        let twice = Rates {
            requests_per_day: 2e6,
            ..RATES
        };
        for (one, two) in costs(&run, &RATES).iter().zip(costs(&run, &twice)) {
            assert!((two.cpu - 2.0 * one.cpu).abs() < 1e-9 && (two.network - 2.0 * one.network).abs() < 1e-9);
            assert!((two.memory - one.memory).abs() < 1e-12);
        }
    }

    #[test]
    fn process_starts_and_what_was_not_measured_have_no_cost() {
        let mut run = reference();
        assert!(
            costs(&run, &RATES)
                .iter()
                .all(|cost| cost.row.series.scenario != "start-up")
        );
        for round in run.series.iter_mut().flat_map(|series| &mut series.rounds) {
            round.server_cpu_ns = None;
        }
        assert!(costs(&run, &RATES).is_empty());
    }
}
