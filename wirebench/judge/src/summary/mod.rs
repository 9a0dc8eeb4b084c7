//! Summarises a run: medians and spreads over rounds. Reads only the record.

pub mod comparison;
pub mod equal_code;
pub mod head_to_head;
pub mod multiple;
pub mod offered;
pub mod processes;
pub mod quality;
mod rounds;

pub use rounds::candidate_rounds;

use wirebench_record::metric::Metric;
use wirebench_record::run::{Bound, RoundStatus, Run, Series, SeriesStatus};
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
        let good = || candidate_rounds(series).filter(|round| round.status == RoundStatus::Ok);
        let votes = |bound| good().filter(|round| round.bound == Some(bound)).count();
        let bound = [Bound::Client, Bound::Server, Bound::Neither]
            .into_iter()
            .max_by_key(|bound| votes(*bound));
        Self {
            series,
            ok_rounds: good().count(),
            bound: bound.filter(|bound| votes(*bound) > 0),
            payload_bytes: good().find_map(|round| round.payload_bytes),
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
            Some(Bound::Neither) if !open => words.push("neither side busy".to_owned()),
            _ => {}
        }
        if open {
            words.push("open loop".to_owned());
        }
        let good = candidate_rounds(self.series).filter(|round| round.status == RoundStatus::Ok);
        let opened = median(
            &good
                .filter_map(|round| round.connections_seen.map(f64::from))
                .collect::<Vec<f64>>(),
        );
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
