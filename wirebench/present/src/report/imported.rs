//! The result of an import: each suite, its faults, and which direction of its values counts as better.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::report::format::plain;
use wirebench_record::imported::{Fault, Imported, Suite};
use wirebench_record::metric::Better;

/// The findings as text.
#[must_use]
pub fn render(imported: &Imported) -> String {
    let mut out = String::new();
    for suite in &imported.suites {
        let values: usize = suite
            .series
            .iter()
            .map(|series| series.values.iter().flatten().count())
            .sum();
        let _ = writeln!(
            out,
            "{}: {} runs, {} series, {values} values, all kept",
            plain(&suite.name),
            suite.runs.len(),
            suite.series.len()
        );
        for (words, count) in directions(suite) {
            let _ = writeln!(out, "  {count} series: {words}");
        }
        for flag in &suite.flags {
            let _ = writeln!(
                out,
                "  {} × {}; first: {}",
                flag.count,
                words(flag.fault),
                plain(&flag.example)
            );
        }
    }
    out
}

/// The number of series for each direction that counts as better, with the reason.
fn directions(suite: &Suite) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for series in &suite.series {
        let better = match series.better {
            Some(Better::Lower) => "lower is better",
            Some(Better::Higher) => "higher is better",
            None => "direction unknown, no alerts",
        };
        let because = plain(&series.better_because);
        *found.entry(format!("{better}, because {because}")).or_default() += 1;
    }
    found
}

const fn words(fault: Fault) -> &'static str {
    match fault {
        Fault::NumberAsText => "number written as text (judged as the number)",
        Fault::NoNumber => "no number (not judged)",
        Fault::Negative => "below zero (not judged)",
        Fault::Zero => "zero (judged when three in a row are)",
        Fault::Absurd => "a thousand times off the series' median (judged when three in a row are)",
        Fault::DuplicateName => "name used again within a run (the first is judged)",
        Fault::RepeatedCommit => "commit measured again (each is a point)",
        Fault::ImpossibleQuantile => "higher quantile below a lower one (neither judged)",
        Fault::EmptyUnit => "series without a unit",
        Fault::CrowdedUnit => "unit that holds more than a unit (what stands before the first tab is taken)",
        Fault::UnitChange => "series whose unit changes (its trend breaks there)",
        Fault::UnitConverted => "series whose unit changes to another of the same thing (converted)",
        Fault::Contradiction => "series whose unit and tool contradict each other (the unit wins)",
        Fault::DateOutOfOrder => "run measured before the one that stands before it",
        Fault::NoCommitTime => "run without its commit's time (ordered by when it was measured)",
    }
}
