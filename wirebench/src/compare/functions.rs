//! The functions and system calls that carry a change of a counted series: matched by name, the largest changes first.

use std::collections::BTreeMap;

use crate::record::comparison::{ComparedMetric, FunctionChange, Verdict};
use crate::record::counts::{Counts, Source};
use crate::record::metric::Metric;

/// Functions listed of each metric.
const LISTED: usize = 10;

/// The largest changes: of instructions always, of the others when the metric regressed or improved. A change within the
/// spread of the metric is left out; a function that only one side has costs 0 on the other.
pub(super) fn changes(baseline: &Counts, candidate: &Counts, metrics: &[ComparedMetric]) -> Vec<FunctionChange> {
    let worth = |metric: &Metric| {
        let verdict = metrics.iter().find(|one| one.metric == *metric).map(|one| one.verdict);
        match verdict {
            None | Some(Verdict::Invalid) => false,
            Some(Verdict::Regressed | Verdict::Improved) => true,
            Some(_) => *metric == Metric::Instructions,
        }
    };
    (Metric::BY_NAME.into_iter().filter(worth))
        .flat_map(|metric| of(baseline, candidate, metric))
        .collect()
}

fn of(baseline: &Counts, candidate: &Counts, metric: Metric) -> Vec<FunctionChange> {
    let (Some((base, base_spread)), Some((head, head_spread))) = (baseline.value(metric), candidate.value(metric))
    else {
        return Vec::new();
    };
    let noise = base_spread.max(head_spread);
    let whole = if base > 0.0 { base } else { head };
    // One name may stand for several copies of a function: their costs add up.
    let mut costs: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (name, cost) in named(baseline, metric) {
        costs.entry(name).or_default().0 += cost;
    }
    for (name, cost) in named(candidate, metric) {
        costs.entry(name).or_default().1 += cost;
    }
    let mut found: Vec<FunctionChange> = (costs.into_iter())
        .filter(|(_, (base, head))| (head - base).abs() > noise && whole > 0.0)
        .map(|(function, (baseline, candidate))| FunctionChange {
            metric,
            function: function.to_owned(),
            baseline,
            candidate,
            share_percent: (candidate - baseline) / whole * 100.0,
            source: None,
        })
        .collect();
    found.sort_by(|one, other| {
        let size = |change: &FunctionChange| (change.candidate - change.baseline).abs();
        size(other)
            .total_cmp(&size(one))
            .then_with(|| one.function.cmp(&other.function))
    });
    found.truncate(LISTED);
    for change in &mut found {
        change.source = source(candidate, metric, &change.function);
    }
    found
}

/// Where a function is in the candidate's sources; the most expensive copy of it when there are several.
fn source(candidate: &Counts, metric: Metric, function: &str) -> Option<Source> {
    let mut of_name = (candidate.functions.iter()).filter(|one| one.metric == metric && one.function == function);
    of_name.find_map(|one| one.source.clone())
}

/// Cost per request by name: of system calls the kernel's names, of everything else those of functions.
fn named(counts: &Counts, metric: Metric) -> Vec<(&str, f64)> {
    if metric == Metric::Syscalls {
        let calls = counts.syscalls.iter();
        return calls.map(|(name, calls)| (name.as_str(), *calls)).collect();
    }
    let functions = counts.functions.iter().filter(|one| one.metric == metric);
    functions.map(|one| (one.function.as_str(), one.cost)).collect()
}
