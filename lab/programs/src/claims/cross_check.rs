//! One server under the same load from every load generator: differences are the load generators'.

use crate::claims::figures::{median_of, series};
use wirebench_judge::summary::candidate_rounds;
use wirebench_present::report::format::{count, plain, three_digits, time};
use wirebench_present::report::table::{Table, number, text};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Bound, Run, Series};

/// The table, the fastest client first; empty if the run has none of the series.
pub(super) fn section(ids: &[String], run: &Run) -> String {
    let mut clients: Vec<(&Series, f64)> = (ids.iter())
        .filter_map(|id| series(run, id))
        .filter_map(|series| Some((series, median_of(series, |round| Metric::Throughput.of(round))?)))
        .collect();
    clients.sort_by(|one, other| other.1.total_cmp(&one.1));
    let (Some((_, most)), Some((_, least))) = (clients.first(), clients.last()) else {
        return String::new();
    };
    let columns = [
        text("client"),
        number("requests/s"),
        number("p50"),
        number("server CPU per request"),
        number("client CPU per request"),
        number("connections seen"),
        text("the limit"),
    ];
    format!(
        "### One server, {} clients\n\nThe same server with the same requests over 50 connections answers {} times as many requests/s to one client as to another: \
         requests/s published without the client's own cost are often the client's.\n\n\
         {}\nConnections seen are those that the server's sockets show when they are looked at; a client that opens one for each request has more.\n\n",
        clients.len(),
        three_digits(most / least),
        Table::new(columns, clients.iter().map(|(series, rate)| row(series, *rate))).markdown()
    )
}

fn row(series: &Series, rate: f64) -> [String; 7] {
    let of = |metric: Metric| median_of(series, |round| metric.of(round)).map_or("–".into(), time);
    let seen = median_of(series, |round| round.connections_seen.map(f64::from));
    let limit = match candidate_rounds(series).filter_map(|round| round.bound).last() {
        Some(Bound::Client) => "client",
        Some(Bound::Server) => "server",
        Some(Bound::Neither) => "neither is busy",
        None => "–",
    };
    [
        plain(&series.driver),
        count(rate),
        of(Metric::LatencyP50),
        of(Metric::ServerCpu),
        of(Metric::DriverCpu),
        seen.map_or("–".into(), count),
        limit.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_sorted_by_throughput() {
        let run: Run = serde_json::from_str(include_str!("../../../results/comparisons/C/run.json")).unwrap();
        let ids = ["ab", "wrk", "k6", "none"].map(|driver| format!("cross-check@http@{driver}"));
        let shown = section(&ids, &run);
        assert!(shown.starts_with("### One server, 3 clients"), "{shown}");
        let at = |client: &str| shown.find(&format!("| {client} |")).unwrap();
        assert!(at("wrk") < at("ab") && at("wrk") < at("k6"), "{shown}");
        assert_eq!(section(&ids[3..], &run), "");
    }
}
