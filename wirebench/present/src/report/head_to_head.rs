//! Servers that one driver asked for the same work, beside the first of them: the effect with its interval, as text.

use std::fmt::Write as _;

use crate::report::columns::Columns;
use crate::report::format::three_digits;
use wirebench_judge::summary::multiple::{Bounds, Multiple};
use wirebench_judge::summary::{Relative, Section, relatives, sections};
use wirebench_record::run::Run;

/// What the bounds in these tables mean.
pub const BOUNDS: &str =
    "× is that of the first server, with the 95 % interval over the rounds; of fewer than 6 rounds, their range";

const COLUMNS: Columns = Columns {
    heads: &[
        "scenario",
        "driver",
        "server",
        "beside",
        "server CPU/req",
        "throughput",
        "p50",
    ],
    text: &["scenario", "driver", "server", "beside"],
    dispensable: &[
        &[],
        &["p50"],
        &["p50", "beside"],
        &["p50", "beside", "throughput"],
        &["p50", "beside", "throughput", "driver"],
    ],
};

/// `× 1.42 (1.38 to 1.44)`; a dash where there is nothing to set side by side.
#[must_use]
pub fn times(beside: Option<Multiple>) -> String {
    let Some(beside) = beside else { return "–".into() };
    let [middle, low, high] = [beside.times, beside.low, beside.high].map(three_digits);
    match beside.bounds {
        Bounds::Range(1) => format!("× {middle}"),
        Bounds::Range(_) | Bounds::Interval => format!("× {middle} ({low} to {high})"),
    }
}

/// Server CPU per request, throughput and median latency, each as a multiple of the first server's.
#[must_use]
pub fn cells(relative: &Relative) -> [String; 3] {
    [relative.server_cpu, relative.throughput, relative.latency_p50].map(times)
}

/// The table for a terminal of that width, over all scenarios; empty when no two servers were asked by one driver.
#[must_use]
pub fn terminal(run: &Run, width: Option<u16>) -> String {
    let sections = sections(run);
    let line = |section: &Section, relative: &Relative| {
        let names = [
            section.scenario,
            relative.driver,
            relative.row.series.server.as_str(),
            relative.first.series.server.as_str(),
        ];
        names.map(str::to_owned).into_iter().chain(cells(relative)).collect()
    };
    let lines: Vec<Vec<String>> = (sections.iter())
        .flat_map(|section| {
            relatives(section)
                .into_iter()
                .map(move |relative| line(section, &relative))
        })
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\nhead to head ({BOUNDS})\n{}\n", COLUMNS.fitting(&lines, width))
}

/// The table of one scenario for `report.md`; empty when no two servers were asked by one driver.
#[must_use]
pub fn markdown(section: &Section) -> String {
    let found = relatives(section);
    if found.is_empty() {
        return String::new();
    }
    let mut out = format!("Head to head, one driver for both sides, so that its own cost is equal ({BOUNDS}):\n\n");
    out.push_str(
        "| driver | server | beside | server CPU per request | throughput | p50 |\n|---|---|---|--:|--:|--:|\n",
    );
    for relative in &found {
        let _ = writeln!(
            out,
            "| {} | {} ({}) | {} ({}) | {} |",
            relative.driver,
            relative.row.series.server,
            relative.row.series.protocol,
            relative.first.series.server,
            relative.first.series.protocol,
            cells(relative).join(" | ")
        );
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference() -> Run {
        serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap()
    }

    #[test]
    fn every_report_sets_servers_of_one_driver_side_by_side() {
        let run = reference();
        let text = terminal(&run, None);
        assert!(text.contains("weather-fixed-count") && text.contains("× ") && text.contains(" to "));
        let sections = sections(&run);
        let fixed = sections
            .iter()
            .find(|section| section.scenario == "weather-fixed-count");
        let table = markdown(fixed.unwrap());
        assert!(table.contains("| h2load | grpc (grpc) | http (http) | × 1."), "{table}");
    }

    #[test]
    fn a_narrow_terminal_keeps_what_a_request_costs() {
        let text = terminal(&reference(), Some(80));
        assert!(text.contains("server CPU/req") && !text.contains("p50 "), "{text}");
        let table = text.lines().skip(2);
        assert!(
            table.map(|line| line.trim_end().chars().count()).max() <= Some(80),
            "{text}"
        );
    }

    #[test]
    fn one_server_alone_has_no_table() {
        let mut run = reference();
        run.series.retain(|series| series.server == "http");
        assert_eq!(terminal(&run, None), "");
    }
}
