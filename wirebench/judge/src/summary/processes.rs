//! The CPU time, memory and traffic of each process of a chain, over the rounds of a series.

use crate::summary::candidate_rounds;
use wirebench_record::run::{CpuTime, ProcessUsage, Round, RoundStatus, Series};
use wirebench_stats::quantile::median;

/// One process of a chain: medians over the good rounds; `None` if no round has the value.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessRow<'a> {
    /// The tier's name; for the front, the server's.
    pub name: &'a str,
    /// CPU time per request, ns.
    pub cpu_per_request_ns: Option<f64>,
    /// Largest resident memory, bytes.
    pub peak_rss_bytes: Option<f64>,
    /// Resident memory at the end of the load, bytes.
    pub rss_bytes: Option<f64>,
    /// Bytes received per second.
    pub received_bytes_per_s: Option<f64>,
    /// Bytes sent per second.
    pub sent_bytes_per_s: Option<f64>,
    /// Connections.
    pub connections: Option<f64>,
}

/// The processes of a chain, the front first; empty for a server of one process.
pub fn processes(series: &Series) -> Vec<ProcessRow<'_>> {
    let good = || candidate_rounds(series).filter(|round| round.status == RoundStatus::Ok);
    let Some(first) = good().find(|round| round.processes.len() > 1) else {
        return Vec::new();
    };
    let row = |name| {
        let values = |value: &dyn Fn(&Round, &ProcessUsage) -> Option<f64>| {
            let of = |round: &Round| {
                let process = round.processes.iter().find(|process| process.name == name)?;
                value(round, process)
            };
            median(&good().filter_map(of).collect::<Vec<f64>>())
        };
        ProcessRow {
            name,
            cpu_per_request_ns: values(&|round, process| {
                let requests = round.ok_count.filter(|count| *count > 0)?;
                Some(process.cpu_ns.map(CpuTime::total)? as f64 / requests as f64)
            }),
            peak_rss_bytes: values(&|_, process| process.peak_rss_bytes.map(|size| size as f64)),
            rss_bytes: values(&|_, process| process.rss_bytes.map(|size| size as f64)),
            received_bytes_per_s: values(&|_, process| process.received_bytes_per_s.map(|size| size as f64)),
            sent_bytes_per_s: values(&|_, process| process.sent_bytes_per_s.map(|size| size as f64)),
            connections: values(&|_, process| process.connections_seen.map(f64::from)),
        }
    };
    first
        .processes
        .iter()
        .map(|process| row(process.name.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::run::Variant;
    use wirebench_testing::reference;

    fn usage(name: &str, cpu: u64, rss: Option<u64>) -> ProcessUsage {
        ProcessUsage {
            name: name.into(),
            cpu_ns: Some(CpuTime { user: cpu, system: cpu }),
            peak_rss_bytes: rss,
            rss_bytes: rss,
            received_bytes_per_s: None,
            sent_bytes_per_s: None,
            connections_seen: Some(7),
        }
    }

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
                vec![usage("front", cpu, None), usage("store", 2 * cpu, Some(9))],
            )
        };
        let mut series = reference().series.remove(0);
        series.rounds = vec![
            chain(RoundStatus::Invalid, 1),
            chain(RoundStatus::Ok, 100),
            chain(RoundStatus::Ok, 300),
            chain(RoundStatus::Ok, 200),
        ];
        let rows = processes(&series);
        let cpu: Vec<_> = rows.iter().map(|row| (row.name, row.cpu_per_request_ns)).collect();
        assert_eq!(cpu, [("front", Some(40.0)), ("store", Some(80.0))]);
        assert_eq!((rows[0].rss_bytes, rows[1].rss_bytes), (None, Some(9.0)));
        assert_eq!((rows[1].connections, rows[1].sent_bytes_per_s), (Some(7.0), None));
        series.rounds = vec![round(RoundStatus::Ok, vec![usage("alone", 1, None)])];
        assert_eq!(processes(&series), []);
    }
}
