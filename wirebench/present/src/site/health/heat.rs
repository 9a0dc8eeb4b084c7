//! How noisy each series was, week by week, as a map: a line for each series, a square for each week.

use std::collections::BTreeMap;

use crate::report::format::{shortened, three_digits};
use crate::site::gather::{Drawn, Series, Source};
use crate::site::shown::name;
use crate::site::svg::{Anchor, Picture, Svg};
use crate::site::timeline::seconds;
use wirebench_history::levels::monday;

/// Weeks shown, the newest ones.
const WEEKS: i64 = 40;
/// Where a colour ends, percent.
const STEPS: [f64; 4] = [1.0, 2.0, 5.0, 10.0];
const CELL: f64 = 18.0;
const WIDE: f64 = 23.0;
const NAMES: f64 = 240.0;
/// Characters of a name.
const NAME: usize = 36;
const HEAD: f64 = 16.0;

/// The map.
#[derive(Debug)]
pub(super) struct Heat {
    pub(super) picture: Picture,
    /// What the colours stand for: class and words.
    pub(super) keys: Vec<(&'static str, String)>,
    /// The series that were noisiest in the newest week, most first: name, metric and noise.
    pub(super) noisiest: Vec<String>,
}

type Weeks = BTreeMap<i64, f64>;

impl Heat {
    /// Of the first metric of every series that is timed; none when no week has enough values.
    pub(super) fn of(sources: &[Source]) -> Option<Self> {
        let series = |source| {
            let source: &Source = source;
            source
                .series
                .iter()
                .filter_map(|series| line(source, series))
                .collect::<Vec<_>>()
        };
        let mut lines: Vec<(String, &str, Weeks)> = sources.iter().flat_map(series).collect();
        let newest = lines
            .iter()
            .filter_map(|(.., weeks)| weeks.keys().next_back())
            .max()
            .copied()?;
        let oldest = lines
            .iter()
            .filter_map(|(.., weeks)| weeks.keys().next())
            .min()
            .copied()?;
        let first = oldest.max(newest - WEEKS + 1);
        lines.retain(|(.., weeks)| weeks.range(first..).next().is_some());
        let picture = picture(&lines, (first, newest));
        lines.retain(|(.., weeks)| weeks.contains_key(&newest));
        lines.sort_by(|one, other| other.2[&newest].total_cmp(&one.2[&newest]));
        let noisiest = lines.iter().take(3);
        let noisiest =
            noisiest.map(|(name, label, weeks)| format!("{name} ({label}) {} %", three_digits(weeks[&newest])));
        Some(Self {
            picture,
            keys: keys(),
            noisiest: noisiest.collect(),
        })
    }
}

/// Name, metric and weeks of a series; none of what is counted, which has no noise, and of what no week tells.
fn line<'a>(source: &'a Source, series: &'a Series) -> Option<(String, &'a str, Weeks)> {
    let counted = |drawn: &&Drawn| {
        drawn
            .trace
            .metric
            .is_some_and(wirebench_record::metric::Metric::is_counted)
    };
    let drawn = series.metrics.first().filter(|drawn| !counted(drawn))?;
    let at = |place: usize| seconds(source.line.pushes.get(place)?);
    let weeks = drawn.values.weekly_noise(at);
    (!weeks.is_empty()).then(|| (name(series.name), drawn.label, weeks))
}

fn class(percent: f64) -> &'static str {
    let step = STEPS.iter().filter(|step| percent >= **step).count();
    ["heat-0", "heat-1", "heat-2", "heat-3", "heat-4"][step]
}

fn keys() -> Vec<(&'static str, String)> {
    let low = |step: usize| if step == 0 { 0.0 } else { STEPS[step - 1] };
    let words = |step: usize| match STEPS.get(step) {
        Some(high) => format!("{} to {high} %", low(step)),
        None => format!("{} % and more", low(step)),
    };
    (0..=STEPS.len()).map(|step| (class(low(step)), words(step))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a handful of weeks and series")]
fn picture(lines: &[(String, &str, Weeks)], (first, newest): (i64, i64)) -> Picture {
    let width = NAMES + WIDE * (newest - first + 1) as f64;
    let mut svg = Svg::new(width, HEAD + CELL * lines.len() as f64);
    let mut last_label = f64::NEG_INFINITY;
    for week in first..=newest {
        let x = NAMES + WIDE * (week - first) as f64;
        let Ok(start) = jiff::Timestamp::from_second(monday(week)) else {
            continue;
        };
        let day = start.strftime("%d").to_string();
        if day.as_str() <= "07" && x - last_label > 45.0 {
            svg.text("tick", (x, 11.0), Anchor::Start, &start.strftime("%b %Y").to_string());
            last_label = x + 20.0;
        }
    }
    for (number, (name, label, weeks)) in lines.iter().enumerate() {
        let top = HEAD + CELL * number as f64;
        svg.text("name", (NAMES - 8.0, top + 12.5), Anchor::End, &shortened(name, NAME));
        for (week, percent) in weeks.range(first..) {
            let x = NAMES + WIDE * (week - first) as f64;
            let start = jiff::Timestamp::from_second(monday(*week));
            let day = start.map_or_else(|_| String::new(), |start| start.strftime("%Y-%m-%d").to_string());
            let title = format!("{name}, {label}, week of {day}: {} %", three_digits(*percent));
            svg.cell(class(*percent), (x, top), (WIDE - 1.0, CELL - 1.0), &title);
        }
    }
    svg.finish(
        "heat",
        "Noise by series and week: the darker a square, the noisier; the noisiest series are named beside it.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_darker_the_noisier_and_their_keys_say_so() {
        assert_eq!(
            [0.2, 1.0, 4.9, 5.0, 80.0].map(class),
            ["heat-0", "heat-1", "heat-2", "heat-3", "heat-4"]
        );
        let keys = keys();
        assert_eq!(keys[0], ("heat-0", "0 to 1 %".into()));
        assert_eq!(keys[4], ("heat-4", "10 % and more".into()));
    }
}
