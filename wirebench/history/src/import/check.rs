//! Concludes the better direction of each imported series, and excludes invalid values from judging. No value is deleted.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::value::RawValue;

use crate::import::unit::{conclude, trimmed};
use wirebench_record::imported::{ImportedSeries, Suite};

/// The name of a quantile, such as `p50`, `p99`, `p99.9` or `p999`, as a word in the name of a series.
static QUANTILE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\bp(100|99\.\d+|9{2,4}|\d{1,2})\b").expect("a constant pattern"));

/// Parses a value, also one that is written as text; `None` if it is no finite number.
pub fn number(value: &RawValue) -> Option<f64> {
    let written = value.get();
    let is_text = written.starts_with('"');
    let text: Option<String> = is_text.then(|| serde_json::from_str(written).ok()).flatten();
    let number: f64 = text.as_deref().unwrap_or(written).trim().parse().ok()?;
    number.is_finite().then_some(number)
}

/// The values of a series that may be judged, each with the index of its run.
pub fn sound_values(series: &ImportedSeries) -> impl Iterator<Item = (usize, f64)> + '_ {
    let unsound: HashSet<usize> = series.unsound.iter().copied().collect();
    let values = series.values.iter().enumerate();
    values.filter_map(move |(run, value)| {
        let number = number(value.as_deref()?)?;
        (!unsound.contains(&run)).then_some((run, number))
    })
}

/// Sets the unsound values and the better direction of each series of a suite.
pub fn check(suite: &mut Suite) {
    let tool = suite.runs.iter().rev().find_map(|run| run.tool.as_deref());
    for series in &mut suite.series {
        direction(series, tool);
        let values = series.values.iter().enumerate();
        // Zeros and wild values stay: judging compares them with the values around them.
        let unsound = values.filter(|(_, value)| {
            let value = value.as_deref();
            value.is_some_and(|value| number(value).is_none_or(|number| number < 0.0))
        });
        series.unsound = unsound.map(|(run, _)| run).collect();
    }
    quantiles(suite);
}

fn direction(series: &mut ImportedSeries, tool: Option<&str>) {
    let mut own: Vec<&str> = series.units.iter().map(|from| trimmed(&from.unit)).collect();
    own.dedup();
    let mut concluded = own.into_iter().rev().map(|unit| conclude(unit, tool));
    let Some(newest) = concluded.next() else { return };
    (series.better, series.better_because) = if concluded.all(|(better, _)| better == newest.0) {
        newest
    } else {
        (None, "its units disagree".into())
    };
}

/// Finds the runs in which a higher quantile lies below a lower one, among series whose names differ only in the quantile.
fn quantiles(suite: &mut Suite) {
    let mut families: BTreeMap<String, Vec<(f64, usize)>> = BTreeMap::new();
    for (index, series) in suite
        .series
        .iter()
        .enumerate()
        .filter(|(_, series)| series.occurrence <= 1)
    {
        if let Some(word) = QUANTILE.captures(&series.name) {
            let family = QUANTILE.replace(&series.name, "p?").into_owned();
            families.entry(family).or_default().push((percentage(&word[1]), index));
        }
    }
    for mut members in families.into_values() {
        members.sort_by(|one, other| one.0.total_cmp(&other.0));
        for &[(_, lower), (_, higher)] in members.array_windows() {
            for run in impossible(&suite.series[lower], &suite.series[higher]) {
                for index in [lower, higher] {
                    suite.series[index].unsound.push(run);
                }
            }
        }
    }
    for series in &mut suite.series {
        series.unsound.sort_unstable();
        series.unsound.dedup();
    }
}

/// The runs in which the lower quantile lies above the higher one.
fn impossible(lower: &ImportedSeries, higher: &ImportedSeries) -> Vec<usize> {
    if lower.units.last().map(|from| &from.unit) != higher.units.last().map(|from| &from.unit) {
        return Vec::new();
    }
    let above = |run: &usize| {
        let [low, high] = [lower, higher].map(|series| number(series.values.get(*run)?.as_deref()?));
        low.zip(high).is_some_and(|(low, high)| low > high)
    };
    (0..lower.values.len()).filter(above).collect()
}

/// `50` → 50, `99.9` → 99.9, `999` → 99.9.
fn percentage(digits: &str) -> f64 {
    match digits {
        "999" => 99.9,
        "9999" => 99.99,
        _ => digits.parse().unwrap_or_default(),
    }
}
