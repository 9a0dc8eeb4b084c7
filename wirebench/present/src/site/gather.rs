//! Traces → series with their metrics, each with its page, its files' names and how it stands.

use crate::report::format::count;
use crate::report::values::figure;
use crate::site::names::{Pages, word};
use crate::site::shown::direction;
use crate::site::timeline::{Mark, mark, timeline};
use wirebench_history::follow::{FollowedHistory, RUNS_SOURCE, SourceTimeline, TraceValues};
use wirebench_history::standing::{TraceStanding, standing_since};
use wirebench_record::history::Released;
use wirebench_record::metric::Metric;
use wirebench_record::run::short_commit;
use wirebench_record::site::Timeline;
use wirebench_record::trend::{Basis, Trace};

/// A source with all its series.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) line: &'a SourceTimeline,
    pub(super) timeline: Timeline,
    /// The push that the newest one is compared with.
    pub(super) mark: Mark,
    pub(super) series: Vec<Series<'a>>,
}

/// A series with its metrics.
#[derive(Debug)]
pub(super) struct Series<'a> {
    /// `scenario@server@driver`, or the imported benchmark's name.
    pub(super) name: &'a str,
    /// The server, which decides the colour.
    pub(super) server: &'a str,
    /// The name of its page, without folder and ending.
    pub(super) page: String,
    pub(super) metrics: Vec<Drawn<'a>>,
}

/// A metric of a series.
#[derive(Debug)]
pub(super) struct Drawn<'a> {
    pub(super) trace: &'a Trace,
    pub(super) values: &'a TraceValues,
    /// The name of its files, without folder and ending.
    pub(super) column: String,
    /// The word that chooses it in the page's address.
    pub(super) word: String,
    pub(super) label: &'a str,
    pub(super) stands: TraceStanding,
    /// The reference that ratios are to: a release or a commit.
    pub(super) reference: Option<String>,
}

/// Every source, in the history's order.
pub(super) fn gather<'a>(followed: &'a FollowedHistory, releases: &[Released]) -> Vec<Source<'a>> {
    let mut pages = Pages::default();
    let mut sources: Vec<Source> = followed
        .timelines
        .iter()
        .map(|line| {
            let timeline = timeline(line, releases);
            Source {
                mark: mark(&timeline),
                line,
                timeline,
                series: Vec::new(),
            }
        })
        .collect();
    for (trace, values) in followed.trend.traces.iter().zip(&followed.values) {
        let source = &mut sources[values.timeline];
        if source.series.last().is_none_or(|series| series.name != trace.series) {
            source.series.push(Series {
                name: &trace.series,
                server: server(trace),
                page: pages.name(&trace.source, &trace.series),
                metrics: Vec::new(),
            });
        }
        let mark = source.mark.at;
        let reference = reference(source.line, trace, releases);
        let Some(series) = source.series.last_mut() else {
            continue;
        };
        let name = trace
            .metric
            .map_or_else(|| "value".to_owned(), |metric| word(metric.name()));
        series.metrics.push(Drawn {
            trace,
            values,
            column: format!("{}.{name}", series.page),
            word: trace.metric.map_or("value", Metric::name).to_owned(),
            label: label(trace),
            stands: standing_since(trace, values, mark),
            reference,
        });
    }
    sources
}

/// Whether there may be runs: imported histories have none.
pub(super) fn may_have_runs(sources: &[Source]) -> bool {
    sources.is_empty() || sources.iter().any(|source| source.line.source == RUNS_SOURCE)
}

/// What is drawn, in words.
fn label(trace: &Trace) -> &str {
    match trace.metric {
        Some(metric) => metric.label(),
        None if trace.unit.is_empty() => "value",
        None => &trace.unit,
    }
}

fn server(trace: &Trace) -> &str {
    match trace.metric {
        Some(_) => trace.series.split('@').nth(1).unwrap_or(&trace.series),
        None => &trace.series,
    }
}

/// The reference of the newest ratios: a release's name, else a commit.
fn reference(line: &SourceTimeline, trace: &Trace, releases: &[Released]) -> Option<String> {
    if trace.basis == Basis::Value || line.source != RUNS_SOURCE {
        return None;
    }
    let newest = line.runs.iter().rev().find_map(|run| run.reference.as_deref())?;
    let named = releases
        .iter()
        .find(|release| release.commit.len() >= 7 && newest.starts_with(&release.commit));
    Some(named.map_or_else(|| short_commit(newest).to_owned(), |release| release.name.clone()))
}

/// A value of any unit with at most four digits that mean something, times in the unit that fits: `1.255 µs/op`, `3 extra/op`.
fn imported(number: f64, unit: &str) -> String {
    const TIMES: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (first, rest) = unit.split_at(unit.find('/').unwrap_or(unit.len()));
    let time = TIMES.iter().find(|(name, _)| *name == first);
    match time {
        Some((_, ns)) if number > 0.0 && number.is_finite() => {
            let whole = number * ns;
            let fits = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];
            let (name, size) = fits.into_iter().find(|(_, size)| whole >= *size).unwrap_or(("ns", 1.0));
            format!("{} {name}{rest}", four_digits(whole / size))
        }
        _ => format!("{} {unit}", four_digits(number)).trim_end().to_owned(),
    }
}

/// At most four digits that mean something, without zeros at the end: `8,123,000`, `37.02`, `0.001235`.
fn four_digits(number: f64) -> String {
    let size = number.abs();
    if size >= 1e15 || (size > 0.0 && size < 1e-6) {
        return format!("{number:.2e}");
    }
    if size == 0.0 || !number.is_finite() {
        return count(number + 0.0);
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -6 and 15")]
    let magnitude = size.log10().floor() as i32;
    let step = 10_f64.powi(magnitude - 3);
    let rounded = (number / step).round() * step;
    if magnitude >= 3 {
        return count(rounded);
    }
    let places = usize::try_from(3 - magnitude).unwrap_or(0);
    let text = format!("{rounded:.places$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Drawn<'_> {
    /// The words before a value: the metric; empty for imported series, whose name says it.
    pub(super) fn what(&self) -> String {
        self.trace
            .metric
            .map_or_else(String::new, |metric| format!("{} ", metric.label()))
    }

    /// The newest value, with its unit, whether it is judged or not.
    pub(super) fn newest(&self) -> String {
        match &self.trace.newest {
            Some(newest) if newest.left_out.is_some() => {
                let value = newest
                    .value
                    .map_or_else(|| "no number".into(), |value| self.text(value));
                format!("{value} (not judged)")
            }
            _ => {
                let newest = self.values.values.iter().rev().copied().find(|value| value.is_finite());
                newest.map_or_else(|| "–".into(), |newest| self.text(newest))
            }
        }
    }

    /// A value with its unit.
    pub(super) fn text(&self, number: f64) -> String {
        match self.trace.metric {
            Some(metric) => figure(metric, number),
            None => imported(number, &self.trace.unit),
        }
    }

    /// The judged numbers: ratios if there are any, else values.
    pub(super) fn judged(&self) -> &[f64] {
        if self.values.ratios.is_empty() {
            &self.values.values
        } else {
            &self.values.ratios
        }
    }

    /// The smallest step that would be seen within five pushes, percent.
    pub(super) fn resolvable(&self) -> Option<f64> {
        self.trace.segments.last()?.resolvable_percent
    }

    /// Which way is better, in words; empty when nothing says so.
    pub(super) fn direction(&self) -> &'static str {
        self.trace.better.map_or("", direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_values_have_four_digits_and_times_a_unit_that_fits() {
        let found = [
            (1_255.3, "ns/op"),
            (8_123_456.0, "ns/iter"),
            (0.0, "allocs/op"),
            (3.0, "extra/op"),
            (261.04, "sec"),
            (12_345_678.0, "B"),
            (0.001_234_56, ""),
            (2_500.0, "ms"),
        ]
        .map(|(number, unit)| imported(number, unit));
        let expected = [
            "1.255 µs/op",
            "8.123 ms/iter",
            "0 allocs/op",
            "3 extra/op",
            "261 sec",
            "12,350,000 B",
            "0.001235",
            "2.5 s",
        ];
        assert_eq!(found, expected);
    }
}
