//! Concludes the better direction of each imported series, and excludes invalid values from judging. No value is deleted.

use serde_json::value::RawValue;

use crate::import::unit::{conclude, trimmed};
use wirebench_record::imported::{ImportedSeries, Suite};

/// Parses a value, also one that is written as text; `None` if it is no finite number.
pub fn number(value: &RawValue) -> Option<f64> {
    let written = value.get();
    let is_text = written.starts_with('"');
    let text: Option<String> = is_text.then(|| serde_json::from_str(written).ok()).flatten();
    let number: f64 = text.as_deref().unwrap_or(written).trim().parse().ok()?;
    number.is_finite().then_some(number)
}

/// Parses a value that may be judged. Zeros and wild values may: judging compares them with the values around them.
pub(super) fn sound(value: &RawValue) -> Option<f64> {
    number(value).filter(|number| *number >= 0.0)
}

/// The values of a series that may be judged, each with the index of its run.
pub fn sound_values(series: &ImportedSeries) -> impl Iterator<Item = (usize, f64)> + '_ {
    let values = series.values.iter().enumerate();
    values.filter_map(|(run, value)| Some((run, sound(value.as_deref()?)?)))
}

/// Sets the unsound values and the better direction of each series of a suite.
pub fn check(suite: &mut Suite) {
    let tool = suite.runs.iter().rev().find_map(|run| run.tool.as_deref());
    for series in &mut suite.series {
        direction(series, tool);
        let values = series.values.iter().enumerate();
        let unsound = values.filter(|(_, value)| value.as_deref().is_some_and(|value| sound(value).is_none()));
        series.unsound = unsound.map(|(run, _)| run).collect();
    }
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
