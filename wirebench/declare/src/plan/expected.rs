//! How long a series is expected to take, from its declaration, and from a stored run where there is one. Pure.

use std::collections::BTreeMap;

use crate::load::{Rate, total};
use crate::plan::rates::MOST_STEPS;
use crate::scenario::{Amount, Load};
use crate::span::nanos;
use wirebench_record::run::{Round, RoundStatus, Run, Series};

/// Good responses per second if nothing is known.
const REQUESTS_PER_S: u64 = 20_000;
/// One process start, to its first answer and its end.
const START_NS: u64 = 50_000_000;
/// How long a benchmark takes, however many samples it is divided into: warming up, measuring and computing.
const BENCHMARK_NS: u64 = 1_500_000_000;
/// A round apart from its load: a server started, probed and stopped, the driver's start, normalising.
const AROUND_NS: u64 = 600_000_000;
/// Counting one variant of one series.
const COUNTING_NS: u64 = 20_000_000_000;

const NS_PER_S: u64 = 1_000_000_000;

/// How often everything is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeats {
    /// Rounds of each variant.
    pub rounds: u32,
    /// Variants that are timed.
    pub timed: u32,
    /// Variants that are counted; a reference is not.
    pub counted: u32,
}

/// The durations in a stored run.
#[derive(Debug, Clone, Default)]
pub struct Experience {
    /// By series: requests or starts of a round (0 if it ended by time) and the median length of its loads, ns.
    loads: BTreeMap<String, (u64, u64)>,
    around_ns: Option<u64>,
    counting_ns: Option<u64>,
}

impl Experience {
    /// Extracts them from a run.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let rounds: u64 = run.series.iter().map(|series| series.rounds.len() as u64).sum();
        let counts: u64 = run.series.iter().map(|series| series.counts.len() as u64).sum();
        let around = run.spent.measure_ns.saturating_sub(run.spent.load_ns);
        Self {
            loads: run
                .series
                .iter()
                .filter_map(|one| Some((one.id.clone(), load_of(one)?)))
                .collect(),
            around_ns: around.checked_div(rounds),
            counting_ns: run.spent.count_ns.checked_div(counts),
        }
    }

    /// The expected time of a series, ns: its rounds with everything around their loads, or its counting.
    #[must_use]
    pub fn expected_ns(&self, id: &str, load: &Load, repeats: Repeats) -> u64 {
        if load.is_counted() {
            return u64::from(repeats.counted) * self.counting_ns.unwrap_or(COUNTING_NS);
        }
        let warmup = load.warmup.map_or(0, |span| nanos(span.0));
        let around = warmup + self.around_ns.unwrap_or(AROUND_NS);
        let round = self.load_ns(id, load) + around;
        let loads = if load.search.is_some() {
            u64::from(MOST_STEPS)
        } else {
            1
        };
        let capacity = match load.rate {
            Some(Rate::OfCapacity(_)) => self.load_ns(id, &load.for_capacity()) + around,
            _ => 0,
        };
        u64::from(repeats.timed) * (u64::from(repeats.rounds) * loads * round + capacity)
    }

    /// The time of the load alone: declared, measured for the same amount, or assumed.
    fn load_ns(&self, id: &str, load: &Load) -> u64 {
        let (amount, assumed) = match (&load.amount, load.rate) {
            (Amount::Duration(span), _) => return nanos(span.0),
            (Amount::Stages(stages), _) => return nanos(total(stages)),
            (Amount::Requests(requests), Some(Rate::PerSecond(rate))) => {
                return requests * NS_PER_S / u64::from(rate.max(1));
            }
            (Amount::Requests(requests), _) => (*requests, NS_PER_S / REQUESTS_PER_S),
            (Amount::Starts(starts), _) => (u64::from(*starts), START_NS),
            (Amount::Samples(_), _) => return BENCHMARK_NS,
            (Amount::Counted { .. }, _) => (0, 0),
        };
        match self.loads.get(id) {
            Some((measured, ns)) if *measured > 0 => {
                let scaled = u128::from(*ns) * u128::from(amount) / u128::from(*measured);
                u64::try_from(scaled).unwrap_or(u64::MAX)
            }
            _ => amount * assumed,
        }
    }
}

/// The amount of a round, and the median length of its loads; `None` without a good round.
fn load_of(series: &Series) -> Option<(u64, u64)> {
    let starts = series.load.starts.map(u64::from);
    let took = |round: &Round| match starts {
        Some(starts) => Some(starts * round.latency_ns?.mean),
        None => round.elapsed_ns,
    };
    let good = series.rounds.iter().filter(|round| round.status == RoundStatus::Ok);
    let mut all: Vec<u64> = good.filter_map(took).collect();
    all.sort_unstable();
    let middle = *all.get(all.len() / 2)?;
    Some((series.load.requests.or(starts).unwrap_or(0), middle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    fn load(amount: Amount, rate: Option<u32>) -> Load {
        Load {
            rate: rate.map(Rate::PerSecond),
            ..Load::closed(1, amount)
        }
    }

    fn second() -> Amount {
        Amount::Duration(Span(std::time::Duration::from_secs(1)))
    }

    #[test]
    fn a_load_takes_what_is_declared_measured_or_assumed_in_this_order() {
        let text = include_str!("../../../../results/reference/run.json");
        let run: Run = serde_json::from_str(text).unwrap();
        let (measured, assumed) = (Experience::of(&run), Experience::default());
        let fixed = "weather-fixed-count@http@hey";
        for known in [&measured, &assumed] {
            assert_eq!(
                known.load_ns("weather-fixed-duration@http@hey", &load(second(), None)),
                NS_PER_S
            );
            assert_eq!(
                known.load_ns(fixed, &load(Amount::Requests(500), Some(100))),
                5 * NS_PER_S
            );
        }
        let whole = load(Amount::Requests(100_000), None);
        assert_eq!(assumed.load_ns(fixed, &whole), 5 * NS_PER_S);
        let series = run.series.iter().find(|series| series.id == fixed).unwrap();
        let mut elapsed: Vec<u64> = series.rounds.iter().filter_map(|round| round.elapsed_ns).collect();
        elapsed.sort_unstable();
        assert_eq!(measured.load_ns(fixed, &whole), elapsed[elapsed.len() / 2]);
        let part = measured.load_ns(fixed, &load(Amount::Requests(30_000), None));
        assert_eq!(part, elapsed[elapsed.len() / 2] * 3 / 10);
        assert!(measured.load_ns("start-up@http@hyperfine", &load(Amount::Starts(10), None)) > 0);
    }
}
