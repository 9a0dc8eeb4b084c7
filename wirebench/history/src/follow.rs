//! Reads a history with every value, for charts.

use std::fs;
use std::path::Path;

use crate::error::HistoryError;
use crate::files::read;
use crate::import::traces;
pub use crate::load::Beside;
use crate::load::{StoredRuns, TrendInput, load};
use crate::runs::{Column, failure, judge_runs, timeline};
pub use crate::trace::RUNS_SOURCE;
use crate::trace::{JudgedTrace, LeftOut};
use crate::trend::{TrendQuery, assemble};
use wirebench_record::history::{FACTS, Facts, StoredMetric, StoredRun, StoredSeries};
use wirebench_record::site::Level;
use wirebench_record::trend::{Basis, Push, Trace, Trend};
use wirebench_stats::quantile::median;

/// A history with every value.
#[derive(Debug)]
pub struct FollowedHistory {
    /// Facts about the whole history.
    pub facts: Facts,
    /// Its trend.
    pub trend: Trend,
    /// Every source: the history's runs first, if there are any, then imported suites.
    pub timelines: Vec<SourceTimeline>,
    /// The values of every trace of the trend, in the same order.
    pub values: Vec<TraceValues>,
    /// Runs that had to be read from their own files because no summary has them.
    pub not_indexed: usize,
}

/// The pushes of one source, in commit order.
#[derive(Debug, Default)]
pub struct SourceTimeline {
    /// `runs`, or `imported/NAME: SUITE`: the source of its traces.
    pub source: String,
    /// The repository of an imported history on GitHub, `owner/name`, if the history names it.
    pub repository: Option<String>,
    /// Its pushes.
    pub pushes: Vec<Push>,
    /// The stored facts of each run; empty for an imported suite.
    pub runs: Vec<StoredRun>,
    /// Places of provisional runs.
    pub provisional: Vec<usize>,
    /// Series without a trace that failed in the newest run, with the reason.
    pub failed: Vec<(String, String)>,
}

// The levels of a trace's values, for charts.

/// The values of one trace.
#[derive(Debug, Default)]
pub struct TraceValues {
    /// The index of its source in [`FollowedHistory::timelines`].
    pub timeline: usize,
    /// The value at each place; NaN if there is none.
    pub values: Vec<f64>,
    /// The ratio to the reference at each place; empty if its newest segment is judged by values.
    pub ratios: Vec<f64>,
    /// Half of the 95 % interval of the judged value, in thousandths, at each place; empty if no place has one.
    pub half_permille: Vec<f64>,
    /// Places without a judged value, with the reason.
    pub failures: Vec<(usize, String)>,
}

/// Follows every selected series through a history, and through what is given beside it.
///
/// # Errors
/// If the folder cannot be read. Broken files are skipped and named in the trend; an empty folder has no traces.
pub fn follow(history: Option<&Path>, beside: Beside, query: &TrendQuery) -> Result<FollowedHistory, HistoryError> {
    let mut loaded = load(history, beside)?;
    let facts = history.map_or_else(Facts::default, |folder| facts(folder, &mut loaded.skipped));
    Ok(followed(loaded, facts, query))
}

/// Judges every selected series of what was loaded.
pub(super) fn followed(loaded: TrendInput, facts: Facts, query: &TrendQuery) -> FollowedHistory {
    let (mut traces, mut values, mut timelines) = (Vec::new(), Vec::new(), Vec::new());
    if !loaded.stored.order.is_empty() {
        let timeline = timeline(&loaded.stored);
        (traces, values) = judge_runs(&loaded.stored, &timeline, query).into_iter().unzip();
        let failed = failed_in_newest_run(&loaded.stored, &traces, query);
        timelines.push(SourceTimeline {
            source: RUNS_SOURCE.into(),
            repository: None,
            pushes: timeline.pushes,
            runs: loaded.stored.runs().cloned().collect(),
            provisional: loaded.stored.provisional(),
            failed,
        });
    }
    // Imported values have no metric that could be asked for.
    for (name, imported) in loaded.imported.iter().filter(|_| query.metric.is_none()) {
        for suite in &imported.suites {
            let source = format!("imported/{name}: {}", suite.name);
            let (pushes, judged) = traces::of_suite(&source, suite, query);
            for (trace, its_values) in judged {
                traces.push(trace);
                values.push(TraceValues {
                    timeline: timelines.len(),
                    ..its_values
                });
            }
            timelines.push(SourceTimeline {
                source,
                repository: imported.repository.clone(),
                pushes,
                ..SourceTimeline::default()
            });
        }
    }
    let trend = assemble(traces, query, loaded.stored.order.len(), loaded.skipped);
    FollowedHistory {
        facts,
        trend,
        timelines,
        values,
        not_indexed: loaded.not_indexed,
    }
}

/// The series that never had a value, and failed in the newest run, with the reason.
fn failed_in_newest_run(stored: &StoredRuns, traces: &[Trace], query: &TrendQuery) -> Vec<(String, String)> {
    let Some((month, index)) = stored.order.last() else {
        return Vec::new();
    };
    let is_new = |id: &str| query.selects(id) && traces.iter().all(|trace| trace.series != id);
    let failed = |(id, months): (&str, Vec<Option<&StoredSeries>>)| {
        let reason = failure(months[*month]?, *index)?;
        is_new(id).then(|| (id.to_owned(), reason.to_owned()))
    };
    stored.series().into_iter().filter_map(failed).collect()
}

/// Reads `history.json`; a broken file is reported and ignored.
fn facts(history: &Path, skipped: &mut Vec<String>) -> Facts {
    let file = history.join("history.json");
    if !fs::exists(&file).unwrap_or(false) {
        return Facts::default();
    }
    read(&file, FACTS, |facts: &Facts| &facts.schema).unwrap_or_else(|error| {
        skipped.push(error.to_string());
        Facts::default()
    })
}

/// The trace and the values of a metric of the stored runs.
pub(super) fn stored_values(
    (trace, wild): JudgedTrace,
    columns: &[Column],
    stored: &StoredRuns,
) -> (Trace, TraceValues) {
    let spread = |part: fn(&StoredMetric) -> &[f64]| -> Vec<f64> {
        let at = |(month, index): &(usize, usize)| part(columns[*month]?.1?).get(*index).copied();
        let values: Vec<f64> = stored.order.iter().map(|place| at(place).unwrap_or(f64::NAN)).collect();
        if values.iter().all(|value| value.is_nan()) {
            return Vec::new();
        }
        values
    };
    let failed = |(place, (month, index)): (usize, &(usize, usize))| {
        let (series, _) = columns[*month]?;
        Some((place, failure(series, *index)?.to_owned()))
    };
    let failures = stored.order.iter().enumerate().filter_map(failed).collect();
    let values = TraceValues {
        timeline: 0,
        failures: with_wild(failures, wild),
        values: spread(|column| &column.values),
        ratios: match trace.basis {
            Basis::Ratio => spread(|column| &column.ratios),
            Basis::Value => Vec::new(),
        },
        half_permille: spread(|column| &column.half_permille),
    };
    (trace, values)
}

/// The reasons by place, including those of wild values.
pub(super) fn with_wild(mut reasons: LeftOut, wild: LeftOut) -> LeftOut {
    reasons.extend(wild);
    reasons.sort_by_key(|(place, _)| *place);
    reasons
}

impl TraceValues {
    /// The judged values: ratios if there are any, otherwise the values themselves.
    pub fn judged(&self) -> &[f64] {
        if self.ratios.is_empty() {
            &self.values
        } else {
            &self.ratios
        }
    }

    /// The medians of the judged values between breaks and steps. Only segments with the basis of the newest one have levels,
    /// because levels of values cannot be drawn among ratios.
    pub fn levels(&self, trace: &Trace) -> Vec<Level> {
        let mut found = Vec::new();
        let newest = trace.segments.last().map(|segment| segment.basis);
        for segment in trace.segments.iter().filter(|segment| Some(segment.basis) == newest) {
            let (mut from, last) = segment.places;
            let steps = segment.change_points.iter().map(|step| step.places);
            let ends = steps.map(|step| (step.last_before, step.first_after));
            for (to, next) in ends.chain([(last, last)]) {
                let within = self.judged().get(from..=to).unwrap_or_default().iter().copied();
                let within: Vec<f64> = within.filter(|value| value.is_finite()).collect();
                if let Some(level) = median(&within) {
                    found.push(Level { from, to, level });
                }
                from = next;
            }
        }
        found
    }
}
