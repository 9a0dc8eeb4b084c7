//! Finds faults in an imported suite, counts and reports them, and excludes the values from judging. No value is
//! deleted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;
use serde_json::value::RawValue;

use crate::import::direction::{Concluded, conclude, proper};
use crate::import::unit::scale;
use wirebench_record::imported::{Fault, Flag, ImportedSeries, Suite};
use wirebench_stats::quantile::median;

/// A value further than this factor from the series' median is reported.
const ABSURD: f64 = 1000.0;

/// `p50`, `p99`, `p99.9`, `p999` as a word of its own in a name.
static QUANTILE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\bp(100|99\.\d+|9{2,4}|\d{1,2})\b").expect("a constant pattern"));

/// Faults while they are counted.
#[derive(Default)]
struct Found(BTreeMap<Fault, (usize, String)>);

impl Found {
    fn add(&mut self, fault: Fault, example: impl FnOnce() -> String) {
        self.0.entry(fault).or_insert_with(|| (0, example())).0 += 1;
    }
}

/// A value as a number, and whether it was written as text; `None` if it is no finite number.
#[must_use]
pub fn number(value: &RawValue) -> Option<(f64, bool)> {
    let written = value.get();
    let text: Option<String> = written
        .starts_with('"')
        .then(|| serde_json::from_str(written).ok())
        .flatten();
    let number: f64 = text.as_deref().unwrap_or(written).trim().parse().ok()?;
    number.is_finite().then_some((number, text.is_some()))
}

/// The values of a series that may be judged, with the places of their runs.
pub fn sound_values(series: &ImportedSeries) -> impl Iterator<Item = (usize, f64)> + '_ {
    let unsound: HashSet<usize> = series.unsound.iter().copied().collect();
    let values = series.values.iter().enumerate();
    values.filter_map(move |(place, value)| {
        let (number, _) = number(value.as_deref()?)?;
        (!unsound.contains(&place)).then_some((place, number))
    })
}

/// Computes flags, unsound places and directions of a suite again.
pub fn check(suite: &mut Suite) {
    let mut found = Found::default();
    for series in &mut suite.series {
        series.unsound.clear();
    }
    runs(suite, &mut found);
    for series in &mut suite.series {
        let tool = suite.runs.iter().rev().find_map(|run| run.tool.as_deref());
        units(series, tool, &mut found);
        values(series, &mut found);
    }
    quantiles(suite, &mut found);
    suite.flags = found
        .0
        .into_iter()
        .map(|(fault, (count, example))| Flag { fault, count, example })
        .collect();
}

fn runs(suite: &Suite, found: &mut Found) {
    let mut commits = HashSet::new();
    for (place, run) in suite.runs.iter().enumerate() {
        let name = || format!("run {} of commit {}", place + 1, run.commit);
        if !commits.insert(&run.commit) {
            found.add(Fault::RepeatedCommit, name);
        }
        let sound = run
            .committed_at
            .as_ref()
            .is_some_and(|time| time.parse::<Timestamp>().is_ok());
        if !sound {
            found.add(Fault::NoCommitTime, name);
        }
        let before = place
            .checked_sub(1)
            .and_then(|before| suite.runs[before].measured_at_ms);
        if before.is_some_and(|before| run.measured_at_ms.is_some_and(|now| now < before)) {
            found.add(Fault::DateOutOfOrder, name);
        }
    }
}

fn units(series: &mut ImportedSeries, tool: Option<&str>, found: &mut Found) {
    let name = || format!("\"{}\"", series.name);
    let mut own: Vec<&str> = series.units.iter().map(|from| proper(&from.unit)).collect();
    own.dedup();
    if own.contains(&"") {
        found.add(Fault::EmptyUnit, name);
    }
    if series.units.iter().any(|from| proper(&from.unit) != from.unit.trim()) {
        found.add(Fault::CrowdedUnit, name);
    }
    if own.len() > 1 {
        let first = scale(own[0]).of;
        let fault = if own.iter().all(|unit| scale(unit).of == first) {
            Fault::UnitConverted
        } else {
            Fault::UnitChange
        };
        found.add(fault, || format!("{}: {}", name(), own.join(" → ")));
    }
    if series.occurrence > 1 {
        found.add(Fault::DuplicateName, name);
    }
    let concluded: Vec<Concluded> = own.iter().map(|unit| conclude(unit, tool)).collect();
    if concluded.iter().any(|one| one.contradiction) {
        found.add(Fault::Contradiction, name);
    }
    // If units disagree about the direction, it stays unknown.
    let Some(last) = concluded.last() else { return };
    let agreed = concluded.iter().all(|one| one.better == last.better);
    let (better, because) = if agreed {
        (last.better, last.because.clone())
    } else {
        (None, "its units disagree".into())
    };
    series.better = better;
    series.better_because = because;
}

fn values(series: &mut ImportedSeries, found: &mut Found) {
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
    for (place, value) in series.values.iter().enumerate() {
        let Some(written) = value else { continue };
        let name = || format!("\"{}\", run {}: {}", series.name, place + 1, written.get());
        // Zeros and wild values are judged or not by the values around them.
        let (fault, refused) = match numbers[place] {
            None => (Some(Fault::NoNumber), true),
            Some((value, _)) if value < 0.0 => (Some(Fault::Negative), true),
            Some((0.0, _)) => (Some(Fault::Zero), false),
            Some((value, _)) if value > middle * ABSURD || value < middle / ABSURD => (Some(Fault::Absurd), false),
            Some(_) => (None, false),
        };
        if numbers[place].is_some_and(|(_, as_text)| as_text) {
            found.add(Fault::NumberAsText, name);
        }
        if let Some(fault) = fault {
            found.add(fault, name);
        }
        if refused {
            series.unsound.push(place);
        }
    }
}

/// Of series that differ in a quantile's name only, finds the runs in which a higher one lies below a lower one.
fn quantiles(suite: &mut Suite, found: &mut Found) {
    let mut families: HashMap<String, Vec<(f64, usize)>> = HashMap::new();
    for (place, series) in suite.series.iter().enumerate() {
        if series.occurrence > 1 {
            continue;
        }
        if let Some(word) = QUANTILE.captures(&series.name) {
            let family = QUANTILE.replace(&series.name, "p?").into_owned();
            families.entry(family).or_default().push((share(&word[1]), place));
        }
    }
    let mut families: Vec<_> = families.into_iter().filter(|(_, members)| members.len() > 1).collect();
    families.sort_by(|one, other| one.0.cmp(&other.0));
    for (_, mut members) in families {
        members.sort_by(|one, other| one.0.total_cmp(&other.0));
        for pair in members.windows(2) {
            let [(_, lower), (_, higher)] = [pair[0], pair[1]];
            for run in impossible(&suite.series[lower], &suite.series[higher]) {
                let names = [lower, higher].map(|place| suite.series[place].name.clone());
                found.add(Fault::ImpossibleQuantile, || {
                    format!("run {}: \"{}\" above \"{}\"", run + 1, names[0], names[1])
                });
                for place in [lower, higher] {
                    suite.series[place].unsound.push(run);
                }
            }
        }
    }
    for series in &mut suite.series {
        series.unsound.sort_unstable();
        series.unsound.dedup();
    }
}

/// Runs in which the lower quantile lies above the higher one.
fn impossible(lower: &ImportedSeries, higher: &ImportedSeries) -> Vec<usize> {
    if lower.units.last().map(|from| &from.unit) != higher.units.last().map(|from| &from.unit) {
        return Vec::new();
    }
    let above = |place: &usize| {
        let [low, high] = [lower, higher].map(|series| series.values[*place].as_deref().and_then(number));
        low.zip(high).is_some_and(|((low, _), (high, _))| low > high)
    };
    (0..lower.values.len()).filter(above).collect()
}

/// `50` → 50, `99.9` → 99.9, `999` → 99.9.
fn share(digits: &str) -> f64 {
    let written: f64 = digits.parse().unwrap_or_default();
    match digits {
        "999" => 99.9,
        "9999" => 99.99,
        _ => written,
    }
}
