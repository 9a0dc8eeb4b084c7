//! The servers that one driver loaded with the same work: each compared with the first of them.

use crate::summary::{Row, Section, candidate_rounds};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Round, Series};
use wirebench_stats::location::locate;

/// Whether a protocol is one of gRPC's.
pub fn is_grpc(protocol: &str) -> bool {
    protocol.starts_with("grpc")
}

/// The loaded servers of a scenario, HTTP before gRPC: the usual question is what gRPC costs compared with HTTP.
fn loaded<'s, 'a>(section: &'s Section<'a>) -> Vec<&'s Row<'a>> {
    let mut rows: Vec<&Row> = section.rows.iter().filter(|row| row.has_load()).collect();
    rows.sort_by_key(|row| is_grpc(&row.series.protocol));
    rows
}

/// A server's cost relative to the first server that the same driver loaded in the same scenario.
#[derive(Debug, Clone)]
pub struct Relative<'a> {
    /// The server compared.
    pub row: Row<'a>,
    /// The first server.
    pub first: Row<'a>,
    /// Server CPU per request, times that of the first.
    pub server_cpu: Option<Multiple>,
    /// Throughput, times that of the first.
    pub throughput: Option<Multiple>,
    /// Median latency, times that of the first.
    pub latency_p50: Option<Multiple>,
}

/// Servers that got the same load from one driver on one machine, each compared with the first of them.
pub fn relatives<'a>(section: &Section<'a>) -> Vec<Relative<'a>> {
    let mut relatives: Vec<Relative> = Vec::new();
    let rows = loaded(section);
    for row in &rows {
        let is_comparable = |other: &&&Row| (&other.series.driver, other.shard) == (&row.series.driver, row.shard);
        let first = rows.iter().find(is_comparable);
        let Some(first) = first.filter(|first| first.series.id != row.series.id) else {
            continue;
        };
        let times = |metric| Multiple::of(metric, row.series, first.series);
        relatives.push(Relative {
            row: (*row).clone(),
            first: (*first).clone(),
            server_cpu: times(Metric::ServerCpu),
            throughput: times(Metric::Throughput),
            latency_p50: times(Metric::LatencyP50),
        });
    }
    relatives.sort_by_key(|relative| &relative.row.series.driver);
    relatives
}

// Two servers head to head: a metric of one as a multiple of the other's, with its interval, over the rounds of one run.

/// One server's value as a multiple of another's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Multiple {
    /// The Hodges–Lehmann estimate over the rounds, of logarithms.
    pub times: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// The kind of bounds.
    pub bounds: Bounds,
}

/// The kind of bounds of a [`Multiple`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// The two-sided 95 % interval (signed ranks).
    Interval,
    /// The smallest and the largest of this number of rounds: too few for an interval.
    Range(usize),
}

impl Multiple {
    /// A metric of `one` as a multiple of `first`'s, pairing rounds with the same number. `None` if no pair of good
    /// rounds has it, or a value is not above zero.
    pub fn of(metric: Metric, one: &Series, first: &Series) -> Option<Self> {
        Self::over(one, first, |round| metric.of(round))
    }

    /// The same for any number of a round.
    pub fn over(one: &Series, first: &Series, read: impl Fn(&Round) -> Option<f64>) -> Option<Self> {
        let partner = |round: &Round| candidate_rounds(first).find(|other| other.round == round.round);
        let ratio = |round: &Round| {
            let ratio = read(round)? / read(partner(round)?)?;
            (ratio.is_finite() && ratio > 0.0).then_some(ratio.ln())
        };
        let ratios: Vec<f64> = candidate_rounds(one).filter_map(ratio).collect();
        let location = locate(&ratios)?;
        let (low, high, bounds) = match (location.low, location.high) {
            (Some(low), Some(high)) => (low, high, Bounds::Interval),
            _ => {
                let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
                let high = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                (low, high, Bounds::Range(ratios.len()))
            }
        };
        Some(Self {
            times: location.estimate.exp(),
            low: low.exp(),
            high: high.exp(),
            bounds,
        })
    }

    /// Whether equality lies outside the bounds.
    pub fn is_clear(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wirebench_record::run::{RoundStatus, Run};
    use wirebench_testing::reference;

    fn pair(run: &Run) -> (&Series, &Series) {
        let of = |id: &str| run.series.iter().find(|series| series.id == id).unwrap();
        (
            of("weather-fixed-count@grpc@h2load"),
            of("weather-fixed-count@http@h2load"),
        )
    }

    /// A copy of a series whose rounds are repeated `count` times with round numbers of their own.
    fn longer(series: &Series, count: u32) -> Series {
        let mut longer = series.clone();
        let first = series.rounds[0].clone();
        longer.rounds = (0..count).map(|round| Round { round, ..first.clone() }).collect();
        longer
    }

    #[test]
    fn three_rounds_have_a_range_and_no_interval() {
        let run = reference();
        let (grpc, http) = pair(&run);
        let found = Multiple::of(Metric::ServerCpu, grpc, http).unwrap();
        assert_eq!(found.bounds, Bounds::Range(3));
        assert!(found.low <= found.times && found.times <= found.high && found.is_clear());
        assert!(found.times > 1.3 && found.times < 1.7, "{found:?}");
        let back = Multiple::of(Metric::ServerCpu, http, grpc).unwrap();
        assert!((back.times * found.times - 1.0).abs() < 1e-9);
    }

    #[test]
    fn rounds_that_failed_a_check_have_no_partner() {
        let run = reference();
        let (grpc, http) = pair(&run);
        let mut http = http.clone();
        http.rounds[1].status = RoundStatus::Invalid;
        let found = Multiple::of(Metric::ServerCpu, grpc, &http).unwrap();
        assert_eq!(found.bounds, Bounds::Range(2));
        http.rounds.clear();
        assert_eq!(Multiple::of(Metric::ServerCpu, grpc, &http), None);
    }

    proptest! {
        #[test]
        fn six_rounds_have_an_interval_that_holds_the_estimate(
            values in prop::collection::vec(1u64..1_000_000, 6..12)
        ) {
            let run = reference();
            let count = u32::try_from(values.len()).unwrap();
            let (grpc, http) = pair(&run);
            let (mut one, first) = (longer(grpc, count), longer(http, count));
            for (round, value) in one.rounds.iter_mut().zip(&values) {
                round.elapsed_ns = Some(*value);
            }
            let found = Multiple::of(Metric::Throughput, &one, &first).unwrap();
            prop_assert_eq!(found.bounds, Bounds::Interval);
            prop_assert!(found.low <= found.times * 1.000_001 && found.times <= found.high * 1.000_001);
        }
    }
}
