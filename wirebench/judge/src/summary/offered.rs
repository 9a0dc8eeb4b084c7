//! Offered and achieved rates of open loops, over the rounds of the candidate.

use crate::summary::{Row, Spread, candidate_rounds};
use wirebench_record::run::{LoadRecord, Round, RoundStatus};
use wirebench_stats::quantile::median;

/// The rate that an open loop offered, and the rate it achieved.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// Requests per second offered: as declared or measured, or the median of the rates that a search found.
    pub per_s: f64,
    /// Good responses as a share of the requests offered, over the good rounds.
    pub achieved: Option<Spread>,
    /// Dropped requests over all rounds; `None` if the driver does not count them.
    pub dropped: Option<u64>,
}

impl Row<'_> {
    /// The offered rate; `None` for a closed loop, and if no rate was known or found.
    pub fn offered(&self) -> Option<Offered> {
        let load = &self.series.load;
        let good: Vec<(f64, &Round)> = candidate_rounds(self.series)
            .filter(|round| round.status == RoundStatus::Ok)
            .filter_map(|round| Some((f64::from(rate(load, round)?), round)))
            .collect();
        let share = |(rate, round): &(f64, &Round)| {
            let elapsed = round.elapsed_ns.filter(|ns| *ns > 0)? as f64 / 1e9;
            Some(round.ok_count? as f64 / elapsed / rate)
        };
        let shares: Vec<f64> = good.iter().filter_map(share).collect();
        let rates: Vec<f64> = good.iter().map(|(rate, _)| *rate).collect();
        let dropped: Vec<u64> = candidate_rounds(self.series)
            .filter_map(|round| round.dropped_count)
            .collect();
        Some(Offered {
            per_s: load.rate_per_s.map(f64::from).or_else(|| median(&rates))?,
            achieved: Spread::of(&shares),
            dropped: (!dropped.is_empty()).then(|| dropped.iter().sum()),
        })
    }
}

/// Requests per second that a round offered: the load's rate, or the highest that passed in its search.
fn rate(load: &LoadRecord, round: &Round) -> Option<u32> {
    let passed = round.search.iter().filter(|step| step.passed);
    load.rate_per_s.or_else(|| passed.map(|step| step.rate_per_s).max())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::sections;
    use wirebench_record::run::{Run, SearchRecord, SearchStep};
    use wirebench_testing::reference;

    /// The first series of the reference run with another load and one round of 1,980 good responses in 2 s.
    fn run(load: LoadRecord, search: Vec<SearchStep>) -> Run {
        let mut run = reference();
        let series = run.series.iter_mut().find(|series| !series.is_counted()).unwrap();
        let mut round = series.rounds[0].clone();
        round.ok_count = Some(1_980);
        round.elapsed_ns = Some(2_000_000_000);
        round.dropped_count = Some(3);
        round.search = search;
        series.rounds = vec![round];
        series.load = load;
        run
    }

    fn offered(run: &Run) -> Option<Offered> {
        sections(run)[0].rows[0].offered()
    }

    #[test]
    fn achieved_is_a_share_of_the_rate_that_was_offered() {
        let fixed = LoadRecord {
            rate_per_s: Some(1_000),
            ..LoadRecord::default()
        };
        let found = offered(&run(fixed, Vec::new())).unwrap();
        assert_eq!((found.per_s, found.dropped), (1_000.0, Some(3)));
        assert_eq!(found.achieved.unwrap().median, 0.99);
        assert_eq!(offered(&run(LoadRecord::default(), Vec::new())), None);
    }

    #[test]
    fn a_search_offers_the_highest_rate_that_passed() {
        let step = |rate_per_s, passed| SearchStep {
            rate_per_s,
            achieved_per_s: None,
            p99_ns: None,
            passed,
            why: None,
        };
        let searched = LoadRecord {
            search: Some(SearchRecord {
                p99_ns: 1,
                from_per_s: 1,
                to_per_s: 9_000,
            }),
            ..LoadRecord::default()
        };
        let steps = vec![step(990, true), step(2_000, false), step(1_100, true)];
        assert_eq!(offered(&run(searched, steps)).unwrap().per_s, 1_100.0);
    }
}
