//! What a history says about every series over time.

use std::path::Path;

use globset::GlobMatcher;
use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::error::HistoryError;
use crate::groups::grouped;
use crate::import::rows;
use crate::load::{Stored, load};
use crate::row::{Context, Judged, Names, Point, Row, Rules, SegmentPlaces, Timeline, judge};
use wirebench_record::accepted::Acceptance;
use wirebench_record::history::{StoredMetric, StoredRun, StoredSeries};
use wirebench_record::metric::Metric;
use wirebench_record::run::short_commit;
use wirebench_record::trend::{Basis, Push, SCHEMA, Trace, Trend, TrendMethod};
use wirebench_stats::change_point::{LEAST_AFTER, SMALLEST_STEP, WINDOW};

/// How many of the newest pushes count as recent when nothing else is said.
pub const NEWEST: usize = 5;

/// Runs in a row after which ratios take the place of values, or values that of ratios.
const LASTING: usize = 5;

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
    let mut judged = of_runs(&loaded.stored, &timeline, question, |judged, _| judged);
    if question.metric.is_none() {
        for (name, imported) in &loaded.imported {
            for suite in &imported.suites {
                let found = rows::of_suite(name, suite, question.rules(), |series| question.wants(series));
                judged.extend(found.rows.into_iter().map(|row| row.judged));
            }
        }
    }
    let not_indexed = loaded.not_indexed;
    Ok(Answer {
        trend: described(with_places(judged), question, loaded.stored.len(), loaded.skipped),
        not_indexed,
    })
}

fn with_places(judged: Vec<Judged>) -> Vec<(Trace, Vec<SegmentPlaces>)> {
    judged
        .into_iter()
        .map(|judged| (judged.trace, judged.segments))
        .collect()
}

/// The trend that these traces make, each with the places of its segments.
pub(super) fn described(
    judged: Vec<(Trace, Vec<SegmentPlaces>)>,
    question: &Question,
    runs: usize,
    skipped: Vec<String>,
) -> Trend {
    let placed: Vec<_> = judged
        .iter()
        .map(|(trace, places)| (trace, places.as_slice()))
        .collect();
    let groups = grouped(&placed);
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
        alerts: groups.iter().filter(|group| group.alert).count(),
        recent_alerts: groups.iter().filter(|group| group.recent).count(),
        groups,
        traces: judged.into_iter().map(|(trace, _)| trace).collect(),
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
    let traces = rows.par_iter().map(|(id, months, metric)| {
        let columns = columns(months, *metric);
        let row = row(id, &columns, *metric, stored, &contexts, &names);
        let judged = || judge(&row, timeline, question.rules(), &names);
        (!row.points.is_empty()).then(|| keep(judged(), &columns))
    });
    traces.collect::<Vec<_>>().into_iter().flatten().collect()
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
        message: None,
        author: None,
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

/// What a run was measured with, as numbers.
struct With<'a> {
    reference: u32,
    machine: u32,
    processor: u32,
    /// Further machines, with what they measured.
    elsewhere: Vec<(u32, &'a [String])>,
}

impl With<'_> {
    /// The machine that measured a series, and its processor. Of a further machine only its fingerprint is known.
    fn machine_of(&self, series: &str) -> (u32, u32) {
        let mut others = self.elsewhere.iter();
        let found = others.find(|(_, measured)| measured.iter().any(|id| id == series));
        found.map_or((self.machine, self.processor), |(machine, _)| (*machine, *machine))
    }
}

/// What each run was measured with, in commit order.
fn contexts<'a>(runs: &[&'a StoredRun], names: &mut Names) -> Vec<With<'a>> {
    let context = |run: &&'a StoredRun| With {
        reference: names.number(run.reference.as_deref().map_or("none", short_commit)),
        machine: names.number(&run.host),
        processor: names.number(run.cpu_model.as_deref().unwrap_or("unknown")),
        elsewhere: (run.elsewhere.iter())
            .map(|other| (names.number(&other.host), other.series.as_slice()))
            .collect(),
    };
    runs.iter().map(context).collect()
}

/// What a change of the machine does to raw values of a metric.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breaker {
    /// Nothing: what goes over the wire, system calls, allocations and sizes are the same everywhere.
    Nothing,
    /// Only another processor changes them: libraries choose their code by it.
    Processor,
    /// Every other machine does.
    Machine,
}

impl Breaker {
    fn of(metric: Metric) -> Self {
        if metric.unit() == Metric::Instructions.unit() {
            Self::Processor
        } else if metric.is_counted() {
            Self::Nothing
        } else {
            Self::Machine
        }
    }
}

/// The values of a metric in commit order.
fn row<'a>(
    id: &'a str,
    columns: &[Option<(&StoredSeries, &StoredMetric)>],
    metric: Metric,
    stored: &Stored,
    contexts: &[With],
    names: &Names,
) -> Row<'a> {
    let breaker = Breaker::of(metric);
    let digests = digests(columns, names);
    let usable = |value: f64| (value.is_finite() && value >= 0.0).then_some(value);
    let mut found = Vec::with_capacity(stored.len());
    for (place, (month, inside)) in stored.order().iter().enumerate() {
        let Some((_, column)) = columns[*month] else { continue };
        found.push(Measured {
            place,
            value: usable(column.values[*inside]),
            ratio: (column.ratios.get(*inside).copied())
                .and_then(usable)
                .filter(|_| breaker != Breaker::Nothing),
            question: question_at(&digests[*month], *inside),
        });
    }
    let (mut points, mut left_out) = (Vec::with_capacity(found.len()), Vec::new());
    for (one, basis) in found.iter().zip(bases(&found)) {
        let with = &contexts[one.place];
        let (machine, processor) = with.machine_of(id);
        let (value, other) = match (basis, breaker) {
            (Basis::Ratio, _) => (one.ratio, with.reference),
            (Basis::Value, Breaker::Nothing) => (one.value, u32::MAX),
            (Basis::Value, Breaker::Processor) => (one.value, processor),
            (Basis::Value, Breaker::Machine) => (one.value, machine),
        };
        let context = Context {
            question: one.question,
            basis,
            other,
        };
        match value {
            Some(value) => points.push(Point {
                place: one.place,
                value,
                context,
                kind: processor,
            }),
            None => left_out.push((one.place, one.value, one.missing())),
        }
    }
    Row {
        source: "runs",
        series: id,
        metric: Some(metric),
        unit: metric.unit(),
        better: Some(metric.better()),
        breaker: if breaker == Breaker::Processor {
            "processor"
        } else {
            "machine"
        },
        not_judged: None,
        left_out,
        points,
    }
}

/// What a run has of a metric.
struct Measured {
    place: usize,
    value: Option<f64>,
    ratio: Option<f64>,
    question: u32,
}

impl Measured {
    /// Why it is left out.
    fn missing(&self) -> String {
        let why = if self.value.is_some() {
            "no ratio: the reference was not measured"
        } else {
            "not measured"
        };
        why.into()
    }
}

/// Digests of what is asked, by month, each with the place where it begins.
fn digests(columns: &[Option<(&StoredSeries, &StoredMetric)>], names: &Names) -> Vec<Vec<(usize, u32)>> {
    let of = |month: &Option<(&StoredSeries, &StoredMetric)>| {
        let known = month.iter().flat_map(|(series, _)| &series.digests);
        known.map(|one| (one.from, names.find(&one.digest))).collect()
    };
    columns.iter().map(of).collect()
}

fn question_at(ranges: &[(usize, u32)], inside: usize) -> u32 {
    let range = ranges.partition_point(|(from, _)| *from <= inside).saturating_sub(1);
    ranges.get(range).map_or(u32::MAX, |(_, digest)| *digest)
}

/// Of each run, whether its ratio or its value is judged: whichever there is for several runs in a row. A few runs
/// without a reference, or with one, do not change that.
fn bases(found: &[Measured]) -> Vec<Basis> {
    let of = |one: &Measured| {
        if one.ratio.is_some() {
            Basis::Ratio
        } else {
            Basis::Value
        }
    };
    let measured: Vec<&Measured> = found.iter().filter(|one| one.value.is_some()).collect();
    let stretches: Vec<(Basis, usize, usize)> = measured
        .chunk_by(|one, next| of(one) == of(next))
        .map(|runs| (of(runs[0]), runs[0].place, runs.len()))
        .collect();
    let lasting: Vec<(Basis, usize)> = stretches
        .iter()
        .filter(|(_, _, runs)| *runs >= LASTING)
        .map(|(basis, from, _)| (*basis, *from))
        .collect();
    // Where nothing lasts: what most of them have.
    let ratios = measured.iter().filter(|one| one.ratio.is_some()).count();
    let most = if 2 * ratios > measured.len() {
        Basis::Ratio
    } else {
        Basis::Value
    };
    let first = lasting.first().map_or(most, |(basis, _)| *basis);
    let at = |place: usize| {
        let newest = lasting.partition_point(|(_, from)| *from <= place);
        newest.checked_sub(1).map_or(first, |number| lasting[number].0)
    };
    found.iter().map(|one| at(one.place)).collect()
}
