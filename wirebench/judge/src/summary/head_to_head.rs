//! The servers that one driver loaded with the same work: each compared with the first of them.

use crate::summary::multiple::Multiple;
use crate::summary::{Row, Section, good_rounds};
use wirebench_record::metric::Metric;
use wirebench_stats::quantile::median;

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
    /// The driver of both.
    pub driver: &'a str,
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
    let mut relatives = Vec::new();
    let rows = loaded(section);
    for row in &rows {
        let is_comparable = |other: &&&Row| (&other.series.driver, other.shard) == (&row.series.driver, row.shard);
        let Some(first) = rows.iter().find(is_comparable) else {
            continue;
        };
        if first.series.id == row.series.id {
            continue;
        }
        let times = |metric| Multiple::of(metric, row.series, first.series);
        relatives.push(Relative {
            driver: &row.series.driver,
            row: (*row).clone(),
            first: (*first).clone(),
            server_cpu: times(Metric::ServerCpu),
            throughput: times(Metric::Throughput),
            latency_p50: times(Metric::LatencyP50),
        });
    }
    relatives.sort_by_key(|relative| relative.driver);
    relatives
}

impl Row<'_> {
    /// If its scenario is one point of a sweep over connections (`-c64` in its name): the name without that part, and the
    /// point, connections and server CPU per request in ns.
    pub fn sweep_point(&self) -> Option<(String, (f64, f64))> {
        let connections = self.series.load.connections?;
        let (base, rest) = self.series.scenario.rsplit_once(&format!("-c{connections}"))?;
        let is_whole = rest.is_empty() || rest.starts_with('-');
        let cpu = self.median(Metric::ServerCpu)?;
        is_whole.then(|| (format!("{base}{rest}"), (f64::from(connections), cpu)))
    }

    /// Throughput per second and latency p99 in ns of every rate that the candidate's searches tried. Rounds try the same
    /// rates one after the other as long as they have the same results: medians over them.
    pub fn tried_rates(&self) -> Vec<(f64, f64)> {
        let mut steps: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for round in good_rounds(self.series) {
            for (number, step) in round.search.iter().enumerate() {
                if let (Some(rate), Some(latency)) = (step.achieved_per_s, step.p99_ns) {
                    steps.resize_with(steps.len().max(number + 1), Default::default);
                    steps[number].0.push(f64::from(rate));
                    steps[number].1.push(latency as f64);
                }
            }
        }
        let point = |(rates, latencies): &(Vec<f64>, Vec<f64>)| Some((median(rates)?, median(latencies)?));
        let points = steps.iter().filter_map(point);
        points.filter(|(rate, latency)| *rate > 0.0 && *latency > 0.0).collect()
    }
}
