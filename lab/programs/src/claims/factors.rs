//! One factor at a time: the effect of changing a single thing.

use crate::claims::figures::{marked, median_of, pair, payload};
use crate::claims::publication::Factor;
use wirebench_judge::summary::head_to_head::Multiple;
use wirebench_present::report::format::{count, plain};
use wirebench_present::report::table::{Table, number, text};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Run, Series};

/// The metrics that have a column.
const METRICS: [Metric; 4] = [
    Metric::Throughput,
    Metric::LatencyP50,
    Metric::ServerCpu,
    Metric::DriverCpu,
];

/// The table; empty without factors. Factors that the run did not measure have no figures.
pub(super) fn section(factors: &[Factor], run: &Run) -> String {
    if factors.is_empty() {
        return String::new();
    }
    let columns = [
        text("factor"),
        text("from → to"),
        number("requests/s ×"),
        number("p50 ×"),
        number("server CPU per request ×"),
        number("client CPU per request ×"),
        number("payload, bytes"),
        text("series"),
    ];
    format!(
        "### One factor at a time\n\nOnly the named thing differs between the two series; bold where equality lies outside the interval.\n\n{}\n",
        Table::new(columns, factors.iter().map(|factor| row(factor, run))).markdown()
    )
}

fn row(factor: &Factor, run: &Run) -> Vec<String> {
    let [from, to] = [&factor.sides[0], &factor.sides[1]].map(|side| plain(side));
    let [first, second] = [&factor.pair[0], &factor.pair[1]].map(|id| plain(id));
    let mut cells = vec![plain(&factor.what), format!("{from} → {to}")];
    match pair(run, &factor.pair) {
        Some([first, second]) => {
            cells.extend(METRICS.map(|metric| marked(Multiple::of(metric, second, first))));
            cells.push(payloads(first, second));
        }
        None => cells.extend(["not measured in this run", "–", "–", "–", "–"].map(str::to_owned)),
    }
    cells.push(format!("`{first}`, `{second}`"));
    cells
}

/// Bytes of a body or message; one number if both sides send the same.
fn payloads(first: &Series, second: &Series) -> String {
    match [first, second].map(|series| median_of(series, payload)) {
        [Some(from), Some(to)] if from == to => count(from),
        [Some(from), Some(to)] => format!("{} → {}", count(from), count(to)),
        _ => "–".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_has_its_ratios_or_says_that_it_was_not_measured() {
        let run: Run = serde_json::from_str(include_str!("../../../results/comparisons/C/run.json")).unwrap();
        let factor = |second: &str| Factor {
            what: "connections, ab".into(),
            sides: ["new for each request".into(), "kept".into()],
            pair: ["cross-check@http@ab".into(), format!("cross-check@http@{second}")],
        };
        let shown = section(&[factor("ab-keepalive"), factor("none")], &run);
        let lines: Vec<&str> = shown
            .lines()
            .filter(|line| line.starts_with("| connections, ab"))
            .collect();
        assert!(lines[0].contains("new for each request → kept | **× "), "{shown}");
        assert!(lines[1].contains("not measured in this run"), "{shown}");
        assert_eq!(section(&[], &run), "");
    }
}
