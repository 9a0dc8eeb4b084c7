//! How noisy the machines are: the spread c of each timed metric, from run to run when nothing changes, by machine.

use std::collections::BTreeMap;

use crate::report::format::machine;
use crate::report::percent::size;
use crate::site::shown::name;
use wirebench_judge::summary::Spread;
use wirebench_record::comparison::Comparison;
use wirebench_record::metric::Metric;

/// A line for each machine, a column for each metric.
#[derive(Debug)]
pub(super) struct Noise {
    pub(super) metrics: Vec<&'static str>,
    pub(super) lines: Vec<Line>,
}

/// One machine.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) machine: String,
    pub(super) fingerprint: String,
    pub(super) comparisons: usize,
    /// Median and range over series and comparisons.
    pub(super) cells: Vec<(String, String)>,
}

type Values = BTreeMap<Metric, Vec<f64>>;

impl Noise {
    /// Of the comparisons whose sides were measured in turns; none when there are none.
    pub(super) fn of(comparisons: &[&Comparison]) -> Option<Self> {
        let mut machines: BTreeMap<(String, &str), (usize, Values)> = BTreeMap::new();
        for comparison in comparisons.iter().filter(|comparison| comparison.paired) {
            let host = (machine(&comparison.host), comparison.host.fingerprint.as_str());
            let (count, values) = machines.entry(host).or_default();
            *count += 1;
            let timed = comparison.series.iter().flat_map(|series| &series.metrics);
            for metric in timed.filter(|metric| !metric.metric.is_counted()) {
                values.entry(metric.metric).or_default().extend(metric.spread_percent);
            }
        }
        let known = |metric: &Metric| {
            let mut all = machines.values().filter_map(|(_, values)| values.get(metric));
            all.any(|values| !values.is_empty())
        };
        let metrics: Vec<Metric> = Metric::OF_SERVER.into_iter().filter(known).collect();
        let cell = |values: &Values, metric: &Metric| {
            let spread = values.get(metric).and_then(|values| Spread::of(values));
            spread.map_or(("–".into(), String::new()), |spread| {
                let range = format!("{} to {}", size(spread.low).trim_end_matches(" %"), size(spread.high));
                (size(spread.median), range)
            })
        };
        let lines = machines.iter().map(|((machine, fingerprint), (count, values))| Line {
            machine: name(machine),
            fingerprint: name(fingerprint),
            comparisons: *count,
            cells: metrics.iter().map(|metric| cell(values, metric)).collect(),
        });
        let lines: Vec<Line> = lines.collect();
        (!metrics.is_empty()).then(|| Self {
            metrics: metrics.iter().map(|metric| metric.label()).collect(),
            lines,
        })
    }
}
