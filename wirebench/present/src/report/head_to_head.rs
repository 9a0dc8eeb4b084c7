//! Servers that one driver loaded in the same scenario, each as a multiple of the first of them, with its interval.

use crate::report::format::three_digits;
use crate::report::table::{Table, number, text};
use wirebench_judge::summary::Section;
use wirebench_judge::summary::head_to_head::{Bounds, Multiple, Relative, relatives};

/// What the bounds in these tables mean.
pub const BOUNDS: &str =
    "× is that of the first server, with the 95 % interval over the rounds; of fewer than 6 rounds, their range";

/// `× 1.42 (1.38 to 1.44)`; a dash if one of the two has no value.
pub fn times(ratio: Option<Multiple>) -> String {
    let Some(ratio) = ratio else { return "–".into() };
    let [times, low, high] = [ratio.times, ratio.low, ratio.high].map(three_digits);
    match ratio.bounds {
        Bounds::Range(1) => format!("× {times}"),
        Bounds::Range(_) | Bounds::Interval => format!("× {times} ({low} to {high})"),
    }
}

/// Server CPU per request, throughput and median latency, each as a multiple of the first server's.
pub fn cells(relative: &Relative) -> [String; 3] {
    [relative.server_cpu, relative.throughput, relative.latency_p50].map(times)
}

/// A row for each server and driver of these scenarios; empty when no driver loaded two servers.
pub(super) fn table(sections: &[Section]) -> Table {
    let columns = [
        text("scenario").terminal_only(),
        text("driver").dispensable(4),
        text("server").terminal_only(),
        text("beside").terminal_only().dispensable(2),
        text("server").markdown_only(),
        text("beside").markdown_only(),
        number("server CPU/req").in_markdown("server CPU per request"),
        number("throughput").dispensable(3),
        number("p50").dispensable(1),
    ];
    let row = |scenario: &str, relative: &Relative| {
        let (server, first) = (relative.row.series, relative.first.series);
        let names = [scenario, &server.driver, &server.server, &first.server].map(str::to_owned);
        let with_protocol = [server, first].map(|series| format!("{} ({})", series.server, series.protocol));
        let cells = names.into_iter().chain(with_protocol).chain(cells(relative));
        cells.collect::<Vec<String>>()
    };
    let rows = sections.iter().flat_map(|section| {
        let rows = relatives(section).into_iter();
        rows.map(move |relative| row(section.scenario, &relative))
    });
    Table::new(columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_judge::summary::sections;
    use wirebench_record::run::Run;

    fn reference() -> Run {
        serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap()
    }

    fn shown(run: &Run, width: Option<u16>) -> String {
        table(&sections(run)).terminal(width)
    }

    #[test]
    fn every_report_compares_servers_of_one_driver() {
        let run = reference();
        let text = shown(&run, None);
        assert!(text.contains("weather-fixed-count") && text.contains("× ") && text.contains(" to "));
        let sections = sections(&run);
        let fixed = sections
            .iter()
            .find(|section| section.scenario == "weather-fixed-count");
        let table = table(std::slice::from_ref(fixed.unwrap())).markdown();
        assert!(table.contains("| h2load | grpc (grpc) | http (http) | × 1."), "{table}");
    }

    #[test]
    fn a_narrow_terminal_keeps_the_cost_of_a_request() {
        let text = shown(&reference(), Some(80));
        assert!(text.contains("server CPU/req") && !text.contains("p50 "), "{text}");
        let lines = text.lines();
        assert!(
            lines.map(|line| line.trim_end().chars().count()).max() <= Some(80),
            "{text}"
        );
    }

    #[test]
    fn one_server_alone_has_no_table() {
        let mut run = reference();
        run.series.retain(|series| series.server == "http");
        assert!(table(&sections(&run)).is_empty());
    }
}
