//! The result of an import: each suite, which direction of its values counts as better, and what is not judged.

use std::collections::BTreeMap;

use askama::Template;

use crate::report::format::{direction, plain, plural};
use wirebench_history::import::number;
use wirebench_record::imported::{Imported, Suite};

#[derive(Template)]
#[template(path = "imported.txt")]
struct Text<'a> {
    imported: &'a Imported,
}

/// The findings as text.
pub fn render(imported: &Imported) -> String {
    let text = Text { imported }.render();
    text.expect("the template only writes into a string")
}

/// How many values a suite has.
fn values(suite: &Suite) -> usize {
    suite.series.iter().flat_map(|series| &series.values).flatten().count()
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
