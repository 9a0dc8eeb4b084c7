//! Summarises a run: medians and spreads over rounds. Reads only the record.

pub mod comparison;
pub mod head_to_head;
pub mod quality;

use std::ops::RangeInclusive;

use wirebench_record::metric::Metric;
use wirebench_record::run::{Bound, LoadRecord, ProcessUsage, Round, RoundStatus, Run, Series, SeriesStatus, Variant};
use wirebench_stats::quantile::median;

/// The median of some values, such as a metric over a series' good rounds, with the smallest and the largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// Smallest.
    pub low: f64,
    /// Largest.
    pub high: f64,
}

impl Spread {
    /// The range of these values; `None` without values.
    pub fn of(values: &[f64]) -> Option<Self> {
        Some(Self {
            median: median(values)?,
            low: values.iter().copied().min_by(f64::total_cmp)?,
            high: values.iter().copied().max_by(f64::total_cmp)?,
        })
    }
}

/// The latency of a response in two parts, ns. Nagle's algorithm keeps the second part until the client has acknowledged the
/// first one, which Linux does after 40 ms.
const DELAYED_ACK_NS: RangeInclusive<f64> = 40e6..=46e6;

/// One series in a table.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// The series.
    pub series: &'a Series,
    /// Rounds that passed every check.
    pub ok_rounds: usize,
    /// What limited its throughput in most good rounds.
    pub bound: Option<Bound>,
    /// Body or message bytes of one response.
    pub payload_bytes: Option<u64>,
    /// The shard that measured it: times of different machines are not comparable. `None` if one machine measured everything.
    pub shard: Option<usize>,
}

impl<'a> Row<'a> {
    fn new(run: &Run, series: &'a Series) -> Self {
        let votes = |bound| good_rounds(series).filter(|round| round.bound == Some(bound)).count();
        let bound = [Bound::Client, Bound::Server, Bound::Neither]
            .into_iter()
            .max_by_key(|bound| votes(*bound));
        Self {
            series,
            ok_rounds: good_rounds(series).count(),
            bound: bound.filter(|bound| votes(*bound) > 0),
            payload_bytes: good_rounds(series).find_map(|round| round.payload_bytes),
            shard: run.shard_of(&series.id),
        }
    }

    /// A metric over the good rounds; `None` if no round has it.
    pub fn spread(&self, metric: Metric) -> Option<Spread> {
        let values: Vec<f64> = candidate_rounds(self.series)
            .filter_map(|round| metric.of(round))
            .collect();
        Spread::of(&values)
    }

    /// The median of a metric over the good rounds; `None` if no round has it.
    pub fn median(&self, metric: Metric) -> Option<f64> {
        Some(self.spread(metric)?.median)
    }

    /// Whether it times process starts.
    pub fn is_start_up(&self) -> bool {
        self.series.load.starts.is_some()
    }

    /// Whether it times iterations of a benchmark.
    pub fn is_benchmark(&self) -> bool {
        self.series.load.samples.is_some()
    }

    /// True if the series has a throughput: it loads a server, unlike start-up and criterion series.
    pub fn has_load(&self) -> bool {
        !self.is_start_up() && !self.is_benchmark()
    }

    /// The note on its throughput, such as `client-bound`; empty if there is none.
    pub fn note(&self) -> String {
        let mut words = Vec::new();
        let load = &self.series.load;
        let open = load.rate_per_s.is_some() || load.rate_permille.is_some() || load.search.is_some();
        match self.bound {
            Some(Bound::Client) => words.push("client-bound".to_owned()),
            // An open loop leaves room on purpose.
            Some(Bound::Neither) if !open => {
                words.push("neither side busy".to_owned());
                let p50 = self.median(Metric::LatencyP50);
                if p50.is_some_and(|ns| DELAYED_ACK_NS.contains(&ns)) {
                    words.push("perhaps delayed ACKs".to_owned());
                }
            }
            _ => {}
        }
        if open {
            words.push("open loop".to_owned());
        }
        let opened = good_rounds(self.series).filter_map(|round| round.connections_seen.map(f64::from));
        let opened = median(&opened.collect::<Vec<f64>>());
        // More than a spare one for each worker: they are closed and opened again.
        let is_more = |opened: &f64| load.connections.is_some_and(|asked| *opened > f64::from(asked * 2));
        if let Some(opened) = opened.filter(is_more) {
            words.push(format!("{opened:.0} connections opened"));
        }
        let total = candidate_rounds(self.series).count();
        if self.series.status != SeriesStatus::Ok {
            words.push(format!("{} of {total} rounds good", self.ok_rounds));
        }
        words.join(", ")
    }
}

/// The series of one scenario.
#[derive(Debug, Clone)]
pub struct Section<'a> {
    /// The scenario.
    pub scenario: &'a str,
    /// Its series, in the order of the plan.
    pub rows: Vec<Row<'a>>,
}

/// The share of a run's wall time that was neither load nor the start of a server: probing, stopping, normalising. `None`
/// before anything was measured.
pub fn harness_share(run: &Run) -> Option<f64> {
    let spent = run.spent;
    let outside = spent.measure_ns.checked_sub(spent.load_ns + spent.start_ns)?;
    (spent.measure_ns > 0).then(|| outside as f64 / spent.measure_ns as f64)
}

/// Every counted series; the others are timed.
pub fn counted(run: &Run) -> impl Iterator<Item = &Series> {
    run.series.iter().filter(|series| series.is_counted())
}

/// Every timed series by scenario.
pub fn sections(run: &Run) -> Vec<Section<'_>> {
    let mut sections: Vec<Section> = Vec::new();
    for series in run.series.iter().filter(|series| !series.is_counted()) {
        let row = Row::new(run, series);
        match sections.iter_mut().find(|section| section.scenario == series.scenario) {
            Some(section) => section.rows.push(row),
            None => sections.push(Section {
                scenario: &series.scenario,
                rows: vec![row],
            }),
        }
    }
    sections
}

// Offered and achieved rates of open loops, over the rounds of the candidate.

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
        let good: Vec<(f64, &Round)> = good_rounds(self.series)
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

// The processes of a chain, over the rounds of a series.

/// The names of the processes of a chain, the front first; empty for a server of one process.
pub fn processes(series: &Series) -> Vec<&str> {
    let first = good_rounds(series).find(|round| round.processes.len() > 1);
    let processes = first.into_iter().flat_map(|round| &round.processes);
    processes.map(|process| process.name.as_str()).collect()
}

/// The median of a value of a process over the good rounds; `None` if no round has it.
pub fn of_process(series: &Series, name: &str, read: fn(&Round, &ProcessUsage) -> Option<f64>) -> Option<f64> {
    let of_round = |round: &Round| {
        let process = round.processes.iter().find(|process| process.name == name)?;
        read(round, process)
    };
    median(&good_rounds(series).filter_map(of_round).collect::<Vec<f64>>())
}

/// The candidate's rounds. Rounds of a baseline or a reference are shown in comparisons and trends only.
pub fn candidate_rounds(series: &Series) -> impl Iterator<Item = &Round> {
    series.rounds.iter().filter(|round| round.variant == Variant::Candidate)
}

/// The rounds of the candidate that passed every check.
pub fn good_rounds(series: &Series) -> impl Iterator<Item = &Round> {
    candidate_rounds(series).filter(|round| round.status == RoundStatus::Ok)
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
    fn an_idle_server_whose_responses_take_40_ms_may_wait_for_acknowledgements() {
        let note = |bound, p50| {
            let mut run = run(LoadRecord::default(), Vec::new());
            let series = run.series.iter_mut().find(|series| !series.is_counted()).unwrap();
            series.rounds[0].bound = Some(bound);
            series.rounds[0].latency_ns.as_mut().unwrap().p50 = p50;
            sections(&run)[0].rows[0].note()
        };
        let waits = |bound, p50| note(bound, p50).contains("perhaps delayed ACKs");
        assert!(waits(Bound::Neither, 44_000_000));
        assert!(!waits(Bound::Neither, 39_000_000) && !waits(Bound::Neither, 50_000_000));
        assert!(!waits(Bound::Server, 44_000_000));
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

#[cfg(test)]
mod processes_tests {
    use super::*;
    use wirebench_record::run::Variant;
    use wirebench_testing::{process, reference};

    fn round(status: RoundStatus, processes: Vec<ProcessUsage>) -> Round {
        Round {
            status,
            ok_count: Some(10),
            processes,
            ..Round::unmeasured(Variant::Candidate, 0, 0, 1)
        }
    }

    #[test]
    fn good_rounds_of_a_chain_alone_count() {
        let chain = |status, cpu| {
            round(
                status,
                vec![process("front", cpu, None), process("store", 2 * cpu, Some(9))],
            )
        };
        let mut series = reference().series.remove(0);
        series.rounds = vec![
            chain(RoundStatus::Invalid, 1),
            chain(RoundStatus::Ok, 100),
            chain(RoundStatus::Ok, 300),
            chain(RoundStatus::Ok, 200),
        ];
        assert_eq!(processes(&series), ["front", "store"]);
        let of = |name, read| of_process(&series, name, read);
        let cpu = |_: &Round, process: &ProcessUsage| Some(process.cpu_ns?.total() as f64);
        assert_eq!([of("front", cpu), of("store", cpu)], [Some(400.0), Some(800.0)]);
        let rss = |_: &Round, process: &ProcessUsage| process.rss_bytes.map(|size| size as f64);
        assert_eq!((of("front", rss), of("store", rss)), (None, Some(9.0)));
        let connections = |_: &Round, process: &ProcessUsage| process.connections_seen.map(f64::from);
        let sent = |_: &Round, process: &ProcessUsage| process.sent_bytes_per_s.map(|size| size as f64);
        assert_eq!((of("store", connections), of("store", sent)), (Some(7.0), None));

        series.rounds = vec![round(RoundStatus::Ok, vec![process("alone", 1, None)])];
        assert_eq!(processes(&series), [""; 0]);
    }
}
