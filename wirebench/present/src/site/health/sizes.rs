//! The smallest change that could have been seen, by series and metric: smaller ones are invisible here.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::percent::size;
use crate::site::shown::name;
use wirebench_record::comparison::Comparison;
use wirebench_record::metric::Metric;
use wirebench_record::trend::Trend;
use wirebench_stats::quantile::median;

/// A line for each series, a column for each metric.
#[derive(Debug)]
pub(super) struct Sizes {
    pub(super) metrics: Vec<&'static str>,
    /// The series of which least can be seen first.
    pub(super) lines: Vec<(String, Vec<String>)>,
}

type Found = BTreeMap<String, BTreeMap<Metric, Vec<f64>>>;

impl Sizes {
    /// Of comparisons: the median over all of them; none when none says so.
    pub(super) fn compared(comparisons: &[&Comparison]) -> Vec<Self> {
        let series = comparisons.iter().flat_map(|comparison| &comparison.series);
        let metrics = series.flat_map(|series| series.metrics.iter().map(|metric| (&*series.id, metric)));
        let timed = metrics.filter(|(_, metric)| !metric.metric.is_counted());
        Self::all(timed.filter_map(|(id, metric)| Some((id, metric.metric, metric.resolvable_percent?))))
    }

    /// Of a history: a step that would be seen within five pushes, in the newest segment; none when there is none.
    pub(super) fn followed(trend: &Trend) -> Vec<Self> {
        Self::all(trend.traces.iter().filter_map(|trace| {
            let percent = trace.segments.last()?.resolvable_percent?;
            Some((&*trace.series, trace.metric?, percent))
        }))
    }

    /// One for what is timed, one for what is counted: no series has both.
    fn all<'a>(sizes: impl Iterator<Item = (&'a str, Metric, f64)>) -> Vec<Self> {
        let mut found = Found::new();
        for (series, metric, percent) in sizes {
            let metrics = found.entry(name(series)).or_default();
            metrics.entry(metric).or_default().push(percent);
        }
        [false, true]
            .into_iter()
            .filter_map(|counted| Self::of(&found, counted))
            .collect()
    }

    fn of(found: &Found, counted: bool) -> Option<Self> {
        let metrics: BTreeSet<Metric> = found.values().flat_map(BTreeMap::keys).copied().collect();
        let wanted = |metric: &Metric| metrics.contains(metric) && metric.is_counted() == counted;
        let metrics: Vec<Metric> = Metric::all().filter(wanted).collect();
        let first = *metrics.first()?;
        let of = |values: &BTreeMap<Metric, Vec<f64>>, metric| values.get(&metric).and_then(|values| median(values));
        let mut lines: Vec<(Option<f64>, String, Vec<String>)> = (found.iter())
            .filter(|(_, values)| metrics.iter().any(|metric| values.contains_key(metric)))
            .map(|(series, values)| {
                let cells = metrics
                    .iter()
                    .map(|metric| of(values, *metric).map_or_else(String::new, size));
                (of(values, first), series.clone(), cells.collect())
            })
            .collect();
        lines.sort_by(|a, b| b.0.unwrap_or(f64::INFINITY).total_cmp(&a.0.unwrap_or(f64::INFINITY)));
        Some(Self {
            metrics: metrics.iter().map(|metric| metric.label()).collect(),
            lines: lines.into_iter().map(|(_, series, cells)| (series, cells)).collect(),
        })
    }
}
