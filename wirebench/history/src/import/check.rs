//! Finds the faults of an imported suite, counts them, and excludes invalid values from judging. No value is deleted.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;
use serde_json::value::RawValue;

use crate::import::direction::{ConcludedDirection, conclude, trimmed};
use crate::import::unit::scale;
use wirebench_record::imported::{Fault, Flag, ImportedSeries, Suite};
use wirebench_stats::quantile::median;

/// A value further than this factor from the median of the series is reported.
const ABSURD: f64 = 1000.0;

/// The name of a quantile, such as `p50`, `p99`, `p99.9` or `p999`, as a word in the name of a series.
static QUANTILE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\bp(100|99\.\d+|9{2,4}|\d{1,2})\b").expect("a constant pattern"));

/// The number of faults of each kind so far, and an example.
#[derive(Default)]
struct Faults(BTreeMap<Fault, (usize, String)>);

impl Faults {
    fn add(&mut self, fault: Fault, example: impl FnOnce() -> String) {
        self.0.entry(fault).or_insert_with(|| (0, example())).0 += 1;
    }
}

/// Parses a value. Returns the number, and whether it is written as a string; `None` if it is no finite number.
#[must_use]
pub fn number(value: &RawValue) -> Option<(f64, bool)> {
    let written = value.get();
    let is_text = written.starts_with('"');
    let text: Option<String> = is_text.then(|| serde_json::from_str(written).ok()).flatten();
    let number: f64 = text.as_deref().unwrap_or(written).trim().parse().ok()?;
    number.is_finite().then_some((number, text.is_some()))
}

/// The values of a series that may be judged, each with the index of its run.
pub fn sound_values(series: &ImportedSeries) -> impl Iterator<Item = (usize, f64)> + '_ {
    let unsound: HashSet<usize> = series.unsound.iter().copied().collect();
    let values = series.values.iter().enumerate();
    values.filter_map(move |(run, value)| {
        let (number, _) = number(value.as_deref()?)?;
        (!unsound.contains(&run)).then_some((run, number))
    })
}

/// Sets the flags of a suite, and the unsound values and better direction of each series.
pub fn check(suite: &mut Suite) {
    let mut faults = Faults::default();
    for series in &mut suite.series {
        series.unsound.clear();
    }
    runs(suite, &mut faults);
    for series in &mut suite.series {
        let tool = suite.runs.iter().rev().find_map(|run| run.tool.as_deref());
        units(series, tool, &mut faults);
        values(series, &mut faults);
    }
    quantiles(suite, &mut faults);
    suite.flags = faults
        .0
        .into_iter()
        .map(|(fault, (count, example))| Flag { fault, count, example })
        .collect();
}

fn runs(suite: &Suite, faults: &mut Faults) {
    let mut commits = HashSet::new();
    for (index, run) in suite.runs.iter().enumerate() {
        let name = || format!("run {} of commit {}", index + 1, run.commit);
        if !commits.insert(&run.commit) {
            faults.add(Fault::RepeatedCommit, name);
        }
        let committed_at = run.committed_at.as_ref();
        if committed_at.is_none_or(|time| time.parse::<Timestamp>().is_err()) {
            faults.add(Fault::NoCommitTime, name);
        }
        let previous = index
            .checked_sub(1)
            .and_then(|previous| suite.runs[previous].measured_at_ms);
        if previous
            .zip(run.measured_at_ms)
            .is_some_and(|(previous, now)| now < previous)
        {
            faults.add(Fault::DateOutOfOrder, name);
        }
    }
}

fn units(series: &mut ImportedSeries, tool: Option<&str>, faults: &mut Faults) {
    let name = || format!("\"{}\"", series.name);
    let mut own: Vec<&str> = series.units.iter().map(|from| trimmed(&from.unit)).collect();
    own.dedup();
    if own.contains(&"") {
        faults.add(Fault::EmptyUnit, name);
    }
    if series.units.iter().any(|from| trimmed(&from.unit) != from.unit.trim()) {
        faults.add(Fault::CrowdedUnit, name);
    }
    if own.len() > 1 {
        let first = scale(own[0]).dimension;
        let fault = if own.iter().all(|unit| scale(unit).dimension == first) {
            Fault::UnitConverted
        } else {
            Fault::UnitChange
        };
        faults.add(fault, || format!("{}: {}", name(), own.join(" → ")));
    }
    if series.occurrence > 1 {
        faults.add(Fault::DuplicateName, name);
    }
    let concluded: Vec<ConcludedDirection> = own.iter().map(|unit| conclude(unit, tool)).collect();
    if concluded.iter().any(|one| one.contradiction) {
        faults.add(Fault::Contradiction, name);
    }
    let Some(last) = concluded.last() else { return };
    (series.better, series.better_because) = if concluded.iter().all(|one| one.better == last.better) {
        (last.better, last.because.clone())
    } else {
        (None, "its units disagree".into())
    };
}

fn values(series: &mut ImportedSeries, faults: &mut Faults) {
    let numbers: Vec<Option<(f64, bool)>> = series
        .values
        .iter()
        .map(|value| value.as_deref().and_then(number))
        .collect();
    let positive: Vec<f64> = numbers
        .iter()
        .flatten()
        .map(|(value, _)| *value)
        .filter(|value| *value > 0.0)
        .collect();
    let middle = median(&positive).unwrap_or(1.0);
    for (index, value) in series.values.iter().enumerate() {
        let Some(written) = value else { continue };
        let name = || format!("\"{}\", run {}: {}", series.name, index + 1, written.get());
        let fault = match numbers[index] {
            None => Some(Fault::NoNumber),
            Some((value, _)) if value < 0.0 => Some(Fault::Negative),
            // Zeros and wild values stay: judging compares them with the values around them.
            Some((0.0, _)) => Some(Fault::Zero),
            Some((value, _)) if value > middle * ABSURD || value < middle / ABSURD => Some(Fault::Absurd),
            Some(_) => None,
        };
        if numbers[index].is_some_and(|(_, as_text)| as_text) {
            faults.add(Fault::NumberAsText, name);
        }
        if let Some(fault) = fault {
            faults.add(fault, name);
        }
        if matches!(fault, Some(Fault::NoNumber | Fault::Negative)) {
            series.unsound.push(index);
        }
    }
}

/// Finds the runs in which a higher quantile lies below a lower one, among series whose names differ only in the quantile.
fn quantiles(suite: &mut Suite, faults: &mut Faults) {
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
        for pair in members.windows(2) {
            let [(_, lower), (_, higher)] = [pair[0], pair[1]];
            for run in impossible(&suite.series[lower], &suite.series[higher]) {
                let [low, high] = [lower, higher].map(|index| &suite.series[index].name);
                faults.add(Fault::ImpossibleQuantile, || {
                    format!("run {}: \"{low}\" above \"{high}\"", run + 1)
                });
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
        let [low, high] = [lower, higher].map(|series| series.values[*run].as_deref().and_then(number));
        low.zip(high).is_some_and(|((low, _), (high, _))| low > high)
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
