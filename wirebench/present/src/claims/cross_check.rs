//! One server asked the same by every load generator: what differs is the load generator's.

use std::fmt::Write as _;

use crate::report::format::{count, plain, three_digits, time};
use wirebench_judge::summary::candidate_rounds;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Bound, Round, Run, Series};
use wirebench_stats::quantile::median;

/// The table; empty where the run has none of the series.
pub(super) fn section(ids: &[String], run: &Run) -> String {
    let mut series: Vec<(&Series, f64)> = (ids.iter())
        .filter_map(|id| run.series.iter().find(|series| series.id == *id))
        .filter_map(|series| Some((series, middle(series, |round| Metric::Throughput.of(round))?)))
        .collect();
    series.sort_by(|one, other| other.1.total_cmp(&one.1));
    let (Some((_, most)), Some((_, least))) = (series.first(), series.last()) else {
        return String::new();
    };
    let mut out = format!(
        "### One server, {} clients\n\nThe same server, asked the same over 50 connections, answers {} times as many requests/s to one client as to another: \
         requests/s published without the client's own cost are often the client's.\n\n\
         | client | requests/s | p50 | server CPU per request | client CPU per request | connections seen | the limit |\n|---|--:|--:|--:|--:|--:|---|\n",
        series.len(),
        three_digits(most / least)
    );
    for (series, rate) in &series {
        let _ = writeln!(out, "{}", row(series, *rate));
    }
    out.push_str("\nConnections seen are those that the server's sockets show when they are looked at; a client that opens one for each request has more.\n\n");
    out
}

fn row(series: &Series, rate: f64) -> String {
    let of = |metric: Metric| middle(series, |round| metric.of(round)).map_or("–".into(), time);
    let seen = middle(series, |round| round.connections_seen.map(f64::from));
    let bound = candidate_rounds(series).filter_map(|round| round.bound).last();
    let limit = match bound {
        Some(Bound::Client) => "client",
        Some(Bound::Server) => "server",
        Some(_) => "neither is busy",
        None => "–",
    };
    format!(
        "| {} | {} | {} | {} | {} | {} | {limit} |",
        plain(&series.driver),
        count(rate),
        of(Metric::LatencyP50),
        of(Metric::ServerCpu),
        of(Metric::DriverCpu),
        seen.map_or("–".into(), count)
    )
}

fn middle(series: &Series, read: impl Fn(&Round) -> Option<f64>) -> Option<f64> {
    median(&candidate_rounds(series).filter_map(read).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_stand_beside_each_other_the_fastest_first() {
        let run: Run = serde_json::from_str(include_str!("../../../../results/comparisons/C/run.json")).unwrap();
        let ids = ["ab", "wrk", "k6", "none"].map(|driver| format!("cross-check@http@{driver}"));
        let said = section(&ids, &run);
        assert!(said.starts_with("### One server, 3 clients"), "{said}");
        let at = |client: &str| said.find(&format!("| {client} |")).unwrap();
        assert!(at("wrk") < at("ab") && at("wrk") < at("k6"), "{said}");
        assert_eq!(section(&ids[3..], &run), "");
    }
}
