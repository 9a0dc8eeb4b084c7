//! Sorts the rows of a comparison for readers, the most alarming first. Judges nothing: every verdict is from the
//! record.

mod row;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeMap;

pub use row::{Row, RowStatus};

use crate::summary::Spread;
use wirebench_record::comparison::{
    ComparedMetric, ComparedSeries, Comparison, FunctionChange, FunctionWorkChange, Presence, Verdict, WorkKind,
};
use wirebench_record::metric::Metric;
use wirebench_record::reason::SeriesReason;

/// The rows of a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings<'a> {
    /// The rows that decide the overall verdict, the most alarming first.
    pub gating: Vec<Row<'a>>,
    /// The others, the most alarming first.
    pub informative: Vec<Row<'a>>,
    /// Series that only the candidate has.
    pub added: Vec<&'a ComparedSeries>,
    /// Series that only the baseline has.
    pub removed: Vec<&'a ComparedSeries>,
    /// Series on both sides without any result, such as those that an interrupted run did not reach.
    pub unmeasured: Vec<&'a ComparedSeries>,
    /// Series of which both sides run the same program: unchanged without measuring.
    pub same: Vec<&'a ComparedSeries>,
}

/// What the project's own functions do more or less often in a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Work<'a> {
    /// The counted series.
    pub series: &'a ComparedSeries,
    /// What is counted, in the singular.
    pub unit: &'a str,
    /// Whether a timed metric of the same server got worse or looks worse.
    pub explains: bool,
    /// Whether a timed metric of the same server that gates cannot be told.
    pub is_open: bool,
    /// The functions, the largest increase first.
    pub functions: Vec<&'a FunctionWorkChange>,
}

impl<'a> Findings<'a> {
    /// Sorts a comparison's series and metrics.
    pub fn of(comparison: &'a Comparison) -> Self {
        let mut findings = Self::default();
        for series in &comparison.series {
            match series.presence {
                Presence::Added => findings.added.push(series),
                Presence::Removed => findings.removed.push(series),
                Presence::Both => findings.add_compared(series, comparison.paired),
            }
        }
        for rows in [&mut findings.gating, &mut findings.informative] {
            rows.sort_by(|a, b| {
                let open = |row: &Row| row.status == RowStatus::Inconclusive && row.looks_worse();
                let looks = open(b).cmp(&open(a));
                (a.status.cmp(&b.status))
                    .then(looks)
                    .then(b.size().total_cmp(&a.size()))
            });
        }
        findings
    }

    /// Every row, the gating ones first.
    fn rows(&self) -> impl Iterator<Item = &Row<'a>> {
        self.gating.iter().chain(&self.informative)
    }

    fn metrics(&self) -> impl Iterator<Item = &'a ComparedMetric> {
        self.rows().filter_map(|row| row.metric)
    }

    /// Adds the rows of a series that is on both sides.
    fn add_compared(&mut self, series: &'a ComparedSeries, paired: bool) {
        let invalid = series.verdict == Some(Verdict::Invalid);
        let shows_it = |metric: &ComparedMetric| metric.primary && metric.verdict == Verdict::Invalid;
        if invalid && !series.metrics.iter().any(shows_it) {
            self.gating.push(Row::new(series, None, paired));
        } else if series.metrics.is_empty() && series.same_program {
            self.same.push(series);
        } else if series.metrics.is_empty() {
            self.unmeasured.push(series);
        }
        for metric in &series.metrics {
            let row = Row::new(series, Some(metric), paired);
            if metric.primary {
                self.gating.push(row);
            } else {
                self.informative.push(row);
            }
        }
    }

    /// Remarks on compared series, each once, with the ids of its series.
    pub fn remarks(comparison: &'a Comparison) -> Vec<(&'a SeriesReason, Vec<&'a str>)> {
        let mut remarks: Vec<(&SeriesReason, Vec<&str>)> = Vec::new();
        for series in &comparison.series {
            let judged = series.presence == Presence::Both
                && !series.metrics.is_empty()
                && series.verdict != Some(Verdict::Invalid);
            let Some(reason) = series.reason.as_ref().filter(|_| judged) else {
                continue;
            };
            match remarks.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, ids)) => ids.push(&series.id),
                None => remarks.push((reason, vec![&series.id])),
            }
        }
        remarks
    }

    /// The gating rows with this status.
    pub fn gating_that(&self, status: RowStatus) -> impl Iterator<Item = &Row<'a>> {
        self.gating.iter().filter(move |row| row.status == status)
    }

    /// Informative metrics that are confirmed to be worse: no verdict may hide them.
    pub fn worse_without_gating(&self) -> impl Iterator<Item = &Row<'a>> {
        self.informative.iter().filter(|row| row.status == RowStatus::Regressed)
    }

    /// System calls that only the candidate makes, with the series they are made in.
    pub fn new_calls(comparison: &'a Comparison) -> Vec<(&'a ComparedSeries, &'a FunctionChange)> {
        let of = |series: &'a ComparedSeries| {
            let new = series.functions.iter().filter(|one| is_new_call(one));
            new.map(move |call| (series, call))
        };
        let compared = (comparison.series.iter()).filter(|series| series.presence == Presence::Both);
        compared.flat_map(of).collect()
    }

    /// Whether every series is on both sides and run by the same program.
    pub fn all_the_same_program(comparison: &Comparison) -> bool {
        !comparison.series.is_empty() && comparison.series.iter().all(|series| series.same_program)
    }

    /// The difference of the baseline's program from itself, percent: of each gating metric the largest, with its pairs of rounds.
    pub fn nulls(&self) -> Vec<(Metric, f64, u32)> {
        let mut nulls: Vec<(Metric, f64, u32)> = Vec::new();
        for metric in self.gating.iter().filter_map(|row| row.metric) {
            let Some(percent) = metric.null_percent else { continue };
            match nulls.iter_mut().find(|(known, ..)| *known == metric.metric) {
                Some(known) if known.1.abs() < percent.abs() => *known = (metric.metric, percent, metric.null_pairs),
                Some(_) => {}
                None => nulls.push((metric.metric, percent, metric.null_pairs)),
            }
        }
        nulls
    }

    /// The largest worsening that the unchanged gating metrics leave possible, percent.
    pub fn unchanged_at_most_percent(&self) -> Option<f64> {
        self.gating_that(RowStatus::Unchanged)
            .filter_map(|row| row.metric?.worse_at_most_percent)
            .max_by(f64::total_cmp)
    }

    /// Counts that changed and have a list of functions or a flame graph, and times whose functions were sampled, the most alarming
    /// first.
    pub fn explained(&self) -> impl Iterator<Item = &Row<'a>> {
        self.rows().filter(|row| {
            let changed = matches!(
                row.status,
                RowStatus::Regressed | RowStatus::Accepted | RowStatus::Improved
            );
            let drawn = row.metric.is_some_and(|metric| metric.flame_graph.is_some());
            let known = drawn || row.functions().next().is_some();
            known && (changed || !row.is_counted() || row.functions().any(is_new_call))
        })
    }

    /// What the project's own functions do more or less often, by series; and whether a timed metric of the same server got
    /// worse or looks worse, so that it explains something. Where it explains nothing, only functions that do more or less are there.
    pub fn work(&self, comparison: &'a Comparison) -> Vec<Work<'a>> {
        let is_timed =
            |row: &Row, server| !row.is_counted() && row.metric.is_some() && row.series.id.split('@').nth(1) == server;
        let is_slower =
            |row: &Row| matches!(row.status, RowStatus::Regressed | RowStatus::Accepted) || row.looks_worse();
        let all = comparison.series.iter().filter_map(|series| {
            let work = series.work.as_ref()?;
            let server = series.id.split('@').nth(1);
            let explains = self.rows().filter(|row| is_timed(row, server)).any(is_slower);
            let mut open = self.gating_that(RowStatus::Inconclusive);
            let functions = work
                .functions
                .iter()
                .filter(|one| explains || one.kind == WorkKind::Changed);
            Some(Work {
                series,
                unit: &work.unit,
                explains,
                is_open: open.any(|row| is_timed(row, server)),
                functions: functions.collect(),
            })
        });
        all.filter(|work| !work.functions.is_empty()).collect()
    }

    /// The run-to-run spread of each timed metric over all series, percent; metrics that gate in the most series come first.
    pub fn spreads(&self) -> Vec<(Metric, Spread)> {
        let mut values: BTreeMap<Metric, Vec<f64>> = BTreeMap::new();
        for metric in self.metrics().filter(|metric| !metric.metric.is_counted()) {
            values.entry(metric.metric).or_default().extend(metric.spread_percent);
        }
        let mut spreads: Vec<(Metric, Spread)> = (values.into_iter())
            .filter_map(|(metric, values)| Some((metric, Spread::of(&values)?)))
            .collect();
        let gating = |metric: Metric| {
            let gating = self.gating.iter().filter_map(|row| row.metric);
            gating.filter(|one| one.metric == metric).count()
        };
        spreads.sort_by_key(|(metric, _)| Reverse(gating(*metric)));
        spreads
    }

    /// Pairs left out because the baseline's round, and because the candidate's round, was far from its neighbours.
    pub fn dropped(&self) -> (u64, u64) {
        let sum = |of: fn(&ComparedMetric) -> u32| -> u64 { self.metrics().map(|metric| u64::from(of(metric))).sum() };
        (
            sum(|metric| metric.dropped_baseline),
            sum(|metric| metric.dropped_candidate),
        )
    }
}

/// Whether a change is a system call that the baseline does not make.
pub fn is_new_call(change: &FunctionChange) -> bool {
    change.metric == Metric::Syscalls && change.baseline <= 0.0 && change.candidate > 0.0
}

// Checks that the verdicts of a comparison agree with each other.

/// A verdict that contradicts the comparison's rows, in one sentence: the overall verdict must be as alarming as that of the
/// most alarming series, and the verdict of a series as alarming as that of its most alarming gating metric. `None` if all
/// agree.
pub fn contradiction(comparison: &Comparison) -> Option<String> {
    for series in &comparison.series {
        let worst = Verdict::over_gating(&series.metrics);
        if worst.is_some_and(|worst| series.verdict.is_none_or(|verdict| verdict > worst)) {
            return Some(format!("{} is less alarming than its own metrics", series.id));
        }
        if series.verdict.is_some_and(|verdict| comparison.verdict > verdict) {
            return Some(format!(
                "the overall verdict is less alarming than that of {}",
                series.id
            ));
        }
    }
    if comparison.paired && comparison.verdict != Verdict::over(&comparison.series) {
        return Some("the overall verdict is not that of its series".into());
    }
    None
}
