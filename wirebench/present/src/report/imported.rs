//! The result of an import: each suite, which direction of its values counts as better, and what is not judged.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::report::format::{direction, plain, plural};
use wirebench_history::import::number;
use wirebench_record::imported::{Imported, Suite};

/// The findings as text.
pub fn render(imported: &Imported) -> String {
    let mut out = String::new();
    for suite in &imported.suites {
        let values = suite.series.iter().flat_map(|series| &series.values).flatten();
        let _ = writeln!(
            out,
            "{}: {} runs, {} series, {} values, all kept",
            plain(&suite.name),
            suite.runs.len(),
            suite.series.len(),
            values.count()
        );
        for (words, count) in directions(suite) {
            let _ = writeln!(out, "  {count} series: {words}");
        }
        if let Some(refused) = refused(suite) {
            let _ = writeln!(out, "  {refused}");
        }
    }
    out
}

/// The number of series for each direction that counts as better, with the reason.
fn directions(suite: &Suite) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for series in &suite.series {
        let better = match series.better {
            Some(better) => direction(better),
            None => "direction unknown, no alerts",
        };
        let because = plain(&series.better_because);
        *found.entry(format!("{better}, because {because}")).or_default() += 1;
    }
    found
}

/// How many values are not judged, and the first with its cause.
fn refused(suite: &Suite) -> Option<String> {
    let all = || (suite.series.iter()).flat_map(|series| series.unsound.iter().map(move |run| (series, *run)));
    let (series, run) = all().next()?;
    let value = series.values.get(run)?.as_deref()?;
    let cause = number(value).map_or("no number", |_| "below zero");
    Some(format!(
        "{} not judged; first: \"{}\", run {}: {} ({cause})",
        plural(all().count(), "value"),
        plain(&series.name),
        run + 1,
        plain(value.get())
    ))
}
