//! What was counted of a series: figures, why one was refused, system calls, and the costliest functions.

use std::collections::BTreeSet;

use crate::report::counts::{cell, remarks};
use crate::report::format::{figure, number, three_digits};
use crate::report::status;
use crate::site::run_page::rounds::VARIANTS;
use crate::site::shown::{HTML, name};
use wirebench_record::counts::{Counts, FunctionCost, SHOWN_FUNCTIONS};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Series, Variant};

/// One counted series.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) anchor: String,
    pub(super) id: String,
    /// Its check mark: class, shape and word.
    pub(super) check: (&'static str, &'static str),
    /// The variants counted, each a column.
    pub(super) variants: Vec<&'static str>,
    /// A label and a cell for each variant.
    pub(super) figures: Vec<(&'static str, Vec<String>)>,
    pub(super) syscalls: Vec<(String, Vec<String>)>,
    /// The costliest functions by each count, after the label of the count.
    pub(super) functions: Vec<(&'static str, Vec<Function>)>,
    /// What is missing, and what to know.
    pub(super) remarks: Vec<String>,
}

/// A function's name, where it is in the project's own sources (empty when that is not known), cost, and share of the whole.
type Function = [String; 4];

impl Counted {
    pub(super) fn of(series: &Series, place: usize) -> Self {
        let counts: Vec<&Counts> = VARIANTS
            .into_iter()
            .filter_map(|variant| series.counts_of(variant))
            .collect();
        let metrics = Metric::COUNTED
            .into_iter()
            .filter(|metric| counts.iter().any(|one| one.figure(*metric).is_some()));
        let figures = |metric: Metric| {
            let cells = counts.iter().map(|one| cell(one.figure(metric)));
            (metric.label(), cells.collect())
        };
        let names: BTreeSet<&String> = counts.iter().flat_map(|one| one.syscalls.keys()).collect();
        let call = |one: &&Counts, call: &String| one.syscalls.get(call).map_or("–".into(), |count| number(*count));
        Self {
            anchor: format!("counted-{}", place + 1),
            id: name(&series.id),
            check: status::of_series(series.status).1,
            variants: counts.iter().map(|one| one.variant.name()).collect(),
            figures: metrics.map(figures).collect(),
            syscalls: (names.into_iter())
                .map(|called| (name(called), counts.iter().map(|one| call(one, called)).collect()))
                .collect(),
            functions: series.counts_of(Variant::Candidate).map(functions).unwrap_or_default(),
            remarks: remarks(series, &counts, HTML),
        }
    }
}

fn functions(counts: &Counts) -> Vec<(&'static str, Vec<Function>)> {
    let metrics: BTreeSet<Metric> = counts.functions.iter().map(|cost| cost.metric).collect();
    let table = |metric: Metric| {
        let whole = counts.value(metric).filter(|(value, _)| *value > 0.0);
        let function = |cost: &FunctionCost| {
            let share = whole.map_or("–".into(), |(whole, _)| {
                format!("{} %", three_digits(cost.cost / whole * 100.0))
            });
            let place = cost.source.as_ref();
            let place = place.map_or_else(String::new, |place| name(&format!("{}:{}", place.file, place.line)));
            [name(&cost.function), place, figure(metric, cost.cost), share]
        };
        let costs = counts.functions.iter().filter(|cost| cost.metric == metric);
        (metric.label(), costs.take(SHOWN_FUNCTIONS).map(function).collect())
    };
    metrics.into_iter().map(table).collect()
}
