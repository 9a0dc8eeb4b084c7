//! One factor at a time: what changing a single thing does, all else the same.

use std::fmt::Write as _;

use crate::claims::answer::{marked, middle, payload};
use crate::report::format::{count, plain};
use wirebench_declare::claims::Factor;
use wirebench_judge::summary::multiple::Multiple;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Run, Series};

/// The table; empty where there are no factors. Those that the run did not measure are there without figures.
pub(super) fn section(factors: &[Factor], run: &Run) -> String {
    if factors.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "### One factor at a time\n\nOnly the named thing differs between the two series; bold where equality lies outside the interval.\n\n\
         | factor | from → to | requests/s × | p50 × | server CPU per request × | client CPU per request × | payload, bytes | series |\n|---|---|--:|--:|--:|--:|--:|---|\n",
    );
    for factor in factors {
        let _ = writeln!(out, "{}", row(factor, run));
    }
    out.push('\n');
    out
}

fn row(factor: &Factor, run: &Run) -> String {
    let of = |id: &String| run.series.iter().find(|series| series.id == *id);
    let both = of(&factor.pair[0]).zip(of(&factor.pair[1]));
    let ratio = |metric| marked(both.and_then(|(first, second)| Multiple::of(metric, second, first)));
    let ratios = [
        Metric::Throughput,
        Metric::LatencyP50,
        Metric::ServerCpu,
        Metric::DriverCpu,
    ]
    .map(ratio);
    format!(
        "| {} | {} → {} | {} | `{}`, `{}` |",
        plain(&factor.what),
        plain(&factor.sides[0]),
        plain(&factor.sides[1]),
        if let Some((first, second)) = both {
            format!("{} | {}", ratios.join(" | "), payloads(first, second))
        } else {
            "not measured in this run | – | – | – | –".into()
        },
        plain(&factor.pair[0]),
        plain(&factor.pair[1])
    )
}

/// Bytes of a body or message, once where both sides send the same.
fn payloads(first: &Series, second: &Series) -> String {
    match [first, second].map(|series| middle(series, &payload)) {
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
        let run: Run = serde_json::from_str(include_str!("../../../../results/comparisons/C/run.json")).unwrap();
        let factor = |second: &str| Factor {
            what: "connections, ab".into(),
            sides: ["new for each request".into(), "kept".into()],
            pair: ["cross-check@http@ab".into(), format!("cross-check@http@{second}")],
        };
        let said = section(&[factor("ab-keepalive"), factor("none")], &run);
        let lines: Vec<&str> = said
            .lines()
            .filter(|line| line.starts_with("| connections, ab"))
            .collect();
        assert!(lines[0].contains("new for each request → kept | **× "), "{said}");
        assert!(lines[1].contains("not measured in this run"), "{said}");
        assert_eq!(section(&[], &run), "");
    }
}
