//! What was counted of a series: figures, why one was refused, system calls, and the costliest functions.

use std::collections::BTreeSet;

use crate::report::format::three_digits;
use crate::site::run_page::rounds::VARIANTS;
use wirebench_record::counts::{Counts, FunctionCost, SHOWN_FUNCTIONS};
use wirebench_record::metric::Metric;
use wirebench_record::run::Series;

/// The counts of each variant that was counted.
pub(super) fn by_variant(series: &Series) -> Vec<&Counts> {
    let counts = VARIANTS.into_iter().filter_map(|variant| series.counts_of(variant));
    counts.collect()
}

/// The metrics of which one of these has a figure.
pub(super) fn metrics(counts: &[&Counts]) -> Vec<Metric> {
    let has_figure = |metric: &Metric| counts.iter().any(|one| one.figure(*metric).is_some());
    Metric::COUNTED.into_iter().filter(has_figure).collect()
}

/// The system calls that one of these has.
pub(super) fn system_calls<'a>(counts: &[&'a Counts]) -> BTreeSet<&'a String> {
    counts.iter().flat_map(|one| one.syscalls.keys()).collect()
}

/// The costliest functions by each count.
pub(super) fn functions(counts: &Counts) -> Vec<(Metric, Vec<&FunctionCost>)> {
    let metrics: BTreeSet<Metric> = counts.functions.iter().map(|cost| cost.metric).collect();
    let costliest = |metric: Metric| {
        let costs = counts.functions.iter().filter(|cost| cost.metric == metric);
        (metric, costs.take(SHOWN_FUNCTIONS).collect())
    };
    metrics.into_iter().map(costliest).collect()
}

/// The share of a function's cost in the whole.
pub(super) fn share(cost: &FunctionCost, counts: &Counts) -> String {
    let whole = counts.value(cost.metric).filter(|(value, _)| *value > 0.0);
    whole.map_or("–".into(), |(whole, _)| {
        format!("{} %", three_digits(cost.cost / whole * 100.0))
    })
}
