//! What a history says about every series over time.

use std::path::Path;

use globset::GlobMatcher;

use crate::history::error::HistoryError;
use crate::history::import::rows;
use crate::history::load::{Stored, load, side_by_side};
use crate::history::row::{Judged, Names, Point, Row, Rules, Timeline, judge};
use crate::record::accepted::Acceptance;
use crate::record::history::{StoredMetric, StoredRun, StoredSeries};
use crate::record::metric::Metric;
use crate::record::run::short_commit;
use crate::record::trend::{Basis, Push, SCHEMA, Trace, Trend, TrendMethod};
use crate::stats::change_point::{LEAST_AFTER, SMALLEST_STEP, WINDOW};

/// How many of the newest pushes count as recent when nothing else is said.
pub const NEWEST: usize = 5;

/// What is asked of a history.
#[derive(Debug)]
pub struct Question {
    /// Which series; none means every one.
    pub series: Option<GlobMatcher>,
    /// Which metric; none means every one, and imported values.
    pub metric: Option<Metric>,
    /// The project's acceptances.
    pub accepted: Vec<Acceptance>,
    /// How many of the newest pushes count as recent.
    pub newest: usize,
}

/// What was found.
#[derive(Debug)]
pub struct Answer {
    /// The trend.
    pub trend: Trend,
    /// Runs that had to be read from their own files because no summary holds them.
    pub not_indexed: usize,
}

/// Follows every series × metric of the history in `history` in commit order.
///
/// # Errors
/// When the folder cannot be read or holds no history. Broken files are skipped and named in the trend.
pub fn trend(history: &Path, question: &Question) -> Result<Answer, HistoryError> {
    let loaded = load(Some(history), &[])?;
    if loaded.is_empty() {
        return Err(HistoryError::empty(history));
    }
    let timeline = timeline(&loaded.stored);
    let mut traces = of_runs(&loaded.stored, &timeline, question, |judged, _| judged.trace);
    if question.metric.is_none() {
        for (name, imported) in &loaded.imported {
            for suite in &imported.suites {
                let found = rows::of_suite(name, suite, question.rules(), |series| question.wants(series));
                traces.extend(found.rows.into_iter().map(|row| row.judged.trace));
            }
        }
    }
    let not_indexed = loaded.not_indexed;
    Ok(Answer {
        trend: described(traces, question, loaded.stored.len(), loaded.skipped),
        not_indexed,
    })
}

/// The trend that these traces make.
pub(super) fn described(traces: Vec<Trace>, question: &Question, runs: usize, skipped: Vec<String>) -> Trend {
    let alerts = || {
        let segments = traces.iter().flat_map(|trace| &trace.segments);
        segments
            .flat_map(|segment| &segment.change_points)
            .filter(|point| point.alert)
    };
    Trend {
        schema: SCHEMA.into(),
        runs,
        method: TrendMethod {
            window: WINDOW,
            least_after: LEAST_AFTER,
            p: 0.001,
            smallest_step_percent: 100.0 * SMALLEST_STEP.exp_m1(),
            newest: question.newest,
        },
        skipped,
        alerts: alerts().count(),
        recent_alerts: alerts().filter(|point| point.recent).count(),
        traces,
    }
}

impl Question {
    pub(super) fn rules(&self) -> Rules<'_> {
        Rules {
            accepted: &self.accepted,
            newest: self.newest,
        }
    }

    pub(super) fn wants(&self, series: &str) -> bool {
        self.series.as_ref().is_none_or(|glob| glob.is_match(series))
    }
}

/// Judges every wanted row of the stored runs. `keep` takes of each what is wanted, with the columns it was made of, by
/// month.
pub(super) fn of_runs<T: Send>(
    stored: &Stored,
    timeline: &Timeline,
    question: &Question,
    keep: impl Fn(Judged, &[Option<(&StoredSeries, &StoredMetric)>]) -> T + Sync,
) -> Vec<T> {
    let runs: Vec<&StoredRun> = stored.runs().collect();
    let wanted = |metric: &Metric| question.metric.is_none_or(|one| one == *metric);
    let metrics: Vec<Metric> = Metric::all().filter(wanted).collect();
    let mut names = Names::default();
    let contexts = contexts(&runs, &mut names);
    let rows: Vec<(&str, Vec<Option<&StoredSeries>>, Metric)> = stored
        .series()
        .into_iter()
        .filter(|(id, _)| question.wants(id))
        .flat_map(|(id, months)| metrics.iter().map(move |metric| (id, months.clone(), *metric)))
        .collect();
    for (_, months, _) in &rows {
        for from in months.iter().flatten().flat_map(|series| &series.digests) {
            names.number(&from.digest);
        }
    }
    let traces = side_by_side(&rows, |(id, months, metric)| {
        let columns = columns(months, *metric);
        let row = row(id, &columns, *metric, stored, &contexts, &names);
        let word = match row.basis {
            Basis::Ratio => "reference",
            Basis::Value => "machine",
        };
        let judged = || judge(&row, timeline, question.rules(), ["question", word], &names);
        (!row.points.is_empty()).then(|| keep(judged(), &columns))
    });
    traces.into_iter().flatten().collect()
}

/// The columns of a metric, by month.
fn columns<'a>(
    months: &[Option<&'a StoredSeries>],
    metric: Metric,
) -> Vec<Option<(&'a StoredSeries, &'a StoredMetric)>> {
    let of = |series: &&'a StoredSeries| {
        let column = series.metrics.iter().find(|one| one.metric == metric)?;
        Some((*series, column))
    };
    months.iter().map(|series| series.as_ref().and_then(of)).collect()
}

/// The pushes of the stored runs, in commit order.
pub(super) fn timeline(stored: &Stored) -> Timeline {
    let runs: Vec<&StoredRun> = stored.runs().collect();
    let pushes = runs.iter().map(|run| Push {
        run: Some(run.id.clone()),
        commit: run.commit.clone(),
        at: Some(run.committed_at.clone().unwrap_or_else(|| run.started_at.clone())),
    });
    let carried = runs.iter().enumerate().flat_map(|(place, run)| {
        // A record may have been edited: an entry whose glob is none covers nothing.
        let sound = run.accepted.iter().filter_map(|entry| entry.clone().compile().ok());
        sound.map(move |acceptance| (place, acceptance))
    });
    Timeline {
        pushes: pushes.collect(),
        accepted: carried.collect(),
    }
}

/// What must stay the same for the values of a run to be followed, as numbers.
struct Context<'a> {
    reference: u32,
    machine: u32,
    /// Further machines, with what they measured.
    elsewhere: Vec<(u32, &'a [String])>,
}

impl Context<'_> {
    /// The machine that measured a series.
    fn machine_of(&self, series: &str) -> u32 {
        let mut others = self.elsewhere.iter();
        let found = others.find(|(_, measured)| measured.iter().any(|id| id == series));
        found.map_or(self.machine, |(machine, _)| *machine)
    }
}

/// The context of each run, in commit order.
fn contexts<'a>(runs: &[&'a StoredRun], names: &mut Names) -> Vec<Context<'a>> {
    let context = |run: &&'a StoredRun| Context {
        reference: names.number(run.reference.as_deref().map_or("none", short_commit)),
        machine: names.number(&run.host),
        elsewhere: (run.elsewhere.iter())
            .map(|other| (names.number(&other.host), other.series.as_slice()))
            .collect(),
    };
    runs.iter().map(context).collect()
}

/// The values of a metric in commit order: ratios when there are any, else raw values.
fn row<'a>(
    id: &'a str,
    columns: &[Option<(&StoredSeries, &StoredMetric)>],
    metric: Metric,
    stored: &Stored,
    contexts: &[Context],
    names: &Names,
) -> Row<'a> {
    let basis = if columns.iter().flatten().any(|(_, column)| !column.ratios.is_empty()) {
        Basis::Ratio
    } else {
        Basis::Value
    };
    let mut digests: Vec<Vec<(usize, u32)>> = Vec::with_capacity(columns.len());
    for month in columns {
        let known = month.iter().flat_map(|(series, _)| &series.digests);
        digests.push(known.map(|one| (one.from, names.find(&one.digest))).collect());
    }
    let (mut points, mut left_out) = (Vec::with_capacity(stored.len()), 0);
    for (place, (month, inside)) in stored.order().iter().enumerate() {
        let Some((_, column)) = columns[*month] else { continue };
        let value = match basis {
            Basis::Ratio => column.ratios.get(*inside).copied(),
            Basis::Value => Some(column.values[*inside]),
        };
        match value.filter(|value| value.is_finite() && *value > 0.0) {
            Some(value) => {
                let ranges = &digests[*month];
                let range = ranges.partition_point(|(from, _)| from <= inside).saturating_sub(1);
                let digest = ranges.get(range).map_or(u32::MAX, |(_, digest)| *digest);
                let other = match basis {
                    Basis::Ratio => contexts[place].reference,
                    Basis::Value => contexts[place].machine_of(id),
                };
                points.push(Point {
                    place,
                    value,
                    context: [digest, other],
                });
            }
            None => left_out += 1,
        }
    }
    Row {
        source: "runs",
        series: id,
        metric: Some(metric),
        unit: metric.unit(),
        better: Some(metric.better()),
        basis,
        left_out,
        points,
    }
}
