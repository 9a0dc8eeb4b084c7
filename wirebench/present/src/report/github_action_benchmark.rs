//! A run as github-action-benchmark reads it: two suites, because that action fixes one direction for a whole suite.

use serde::Serialize;

use crate::report::format::plural;
use wirebench_judge::summary::{Row, counted, sections};
use wirebench_record::metric::{Better, Metric};
use wirebench_record::run::{Run, Series, Variant};

/// One value of its custom format (`customBiggerIsBetter`, `customSmallerIsBetter`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Series and metric.
    pub name: String,
    /// The value's unit.
    pub unit: &'static str,
    /// Median over the good rounds, or what was counted.
    pub value: f64,
    /// Half the range of the rounds, or the spread of a count, in the same unit.
    pub range: String,
    /// How many rounds, and what limited the throughput; or that it is counted.
    pub extra: String,
}

/// Every metric of every series, timed or counted, whose better direction is `better`; series without a good round are left out.
pub fn suite(run: &Run, better: Better) -> Vec<Entry> {
    let wanted = || Metric::OF_SERVER.into_iter().filter(|metric| metric.better() == better);
    let sections = sections(run);
    let rows = sections.iter().flat_map(|section| &section.rows);
    let timed = rows.flat_map(|row| wanted().filter_map(move |metric| timed_entry(row, metric)));
    let counted = counted(run).flat_map(|series| {
        let wanted = Metric::COUNTED.into_iter().filter(|metric| metric.better() == better);
        wanted.filter_map(|metric| counted_entry(series, metric))
    });
    timed.chain(counted).collect()
}

fn counted_entry(series: &Series, metric: Metric) -> Option<Entry> {
    let (value, spread) = series.counts_of(Variant::Candidate)?.value(metric)?;
    // A count may be exact: one event more in a hundred requests must be visible.
    Some(entry(series, metric, [value, spread], 100.0, "counted".into()))
}

fn timed_entry(row: &Row, metric: Metric) -> Option<Entry> {
    if !row.has_load() && metric == Metric::Throughput {
        return None;
    }
    let spread = row.spread(metric)?;
    let note = row.note();
    let separator = if note.is_empty() { "" } else { "; " };
    let extra = format!("median of {}{separator}{note}", plural(row.ok_rounds, "round"));
    let numbers = [spread.median, (spread.high - spread.low) / 2.0];
    // One decimal is far below the noise of any of these, and keeps the stored history small.
    Some(entry(row.series, metric, numbers, 10.0, extra))
}

/// An entry with a value and half its range, rounded to so many parts of a unit.
fn entry(series: &Series, metric: Metric, numbers: [f64; 2], parts: f64, extra: String) -> Entry {
    let [value, half_range] = numbers.map(|number| (number * parts).round() / parts);
    Entry {
        name: format!("{} {}", series.id, metric.label()),
        unit: metric.unit(),
        value,
        range: format!("± {half_range}"),
        extra,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_in_the_suite_of_its_direction() {
        let text = include_str!("../../../../results/reference/run.json");
        let run: Run = serde_json::from_str(text).unwrap();
        let (bigger, smaller) = (suite(&run, Better::Higher), suite(&run, Better::Lower));
        assert!(
            bigger
                .iter()
                .all(|entry| entry.name.ends_with(" throughput") && entry.unit == "req/s")
        );
        assert!(smaller.iter().all(|entry| !entry.name.ends_with(" throughput")));
        assert!(bigger.iter().all(|entry| !entry.name.starts_with("start-up")));
        assert!(
            smaller
                .iter()
                .any(|entry| entry.name == "start-up@http@hyperfine latency p50")
        );
        let mut names: Vec<&str> = bigger.iter().chain(&smaller).map(|entry| entry.name.as_str()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "names must be unique");
        assert!(
            bigger
                .iter()
                .chain(&smaller)
                .all(|entry| entry.value.is_finite() && entry.value > 0.0)
        );
    }
}
