//! Judges the stored runs of a history: a trace for each series and metric.

use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::follow::{TraceValues, stored_values};
use crate::judge::judge;
use crate::load::StoredRuns;
use crate::segment::NearZero;
use crate::trace::{Context, Point, RUNS_SOURCE, Timeline, UnjudgedTrace};
use crate::trend::TrendQuery;
use wirebench_record::history::{StoredMetric, StoredRun, StoredSeries};
use wirebench_record::metric::{Better, Metric};
use wirebench_record::run::short_commit;
use wirebench_record::trend::{Basis, Push, Trace};

/// After this many runs in a row, ratios are judged instead of values, or values instead of ratios.
const LASTING: usize = 5;

/// A series in a month, with the column of a metric if a run of the month has a value; `None` if the month does not have the series.
pub(super) type Column<'a> = Option<(&'a StoredSeries, Option<&'a StoredMetric>)>;

/// Judges every selected trace.
pub(super) fn judge_runs(stored: &StoredRuns, timeline: &Timeline, query: &TrendQuery) -> Vec<(Trace, TraceValues)> {
    let runs: Vec<&StoredRun> = stored.runs().collect();
    let is_wanted = |metric: &Metric| query.metric.is_none_or(|one| one == *metric);
    let metrics: Vec<Metric> = Metric::all().filter(is_wanted).collect();
    let selected: Vec<(&str, Vec<Option<&StoredSeries>>, Metric)> = stored
        .series()
        .into_iter()
        .filter(|(id, _)| query.selects(id))
        .flat_map(|(id, months)| metrics.iter().map(move |metric| (id, months.clone(), *metric)))
        .collect();
    let judged = selected.par_iter().map(|(id, months, metric)| {
        let columns = columns(months, *metric);
        // Most series have few of the metrics: their runs are not looked at for the others.
        if !columns.iter().flatten().any(|(_, column)| column.is_some()) {
            return None;
        }
        let unjudged = unjudged_trace(id, &columns, *metric, stored, &runs);
        let judged = || judge(&unjudged, timeline, query);
        (!unjudged.points.is_empty()).then(|| stored_values(judged(), &columns, stored))
    });
    judged.collect::<Vec<_>>().into_iter().flatten().collect()
}

/// The columns of a metric, by month.
fn columns<'a>(months: &[Option<&'a StoredSeries>], metric: Metric) -> Vec<Column<'a>> {
    let column = |series: &Option<&'a StoredSeries>| {
        let series = (*series)?;
        Some((series, series.metrics.iter().find(|one| one.metric == metric)))
    };
    months.iter().map(column).collect()
}

/// The pushes of the stored runs, in commit order.
pub(super) fn timeline(stored: &StoredRuns) -> Timeline {
    let runs: Vec<&StoredRun> = stored.runs().collect();
    let pushes = runs.iter().map(|run| Push {
        run: Some(run.id.clone()),
        commit: run.commit.clone(),
        at: Some(run.committed_at.clone().unwrap_or_else(|| run.started_at.clone())),
        message: None,
        author: None,
    });
    let accepted = runs.iter().enumerate().flat_map(|(place, run)| {
        // A record may have been edited: an acceptance whose glob is invalid covers nothing.
        let valid = run.accepted.iter().filter_map(|entry| entry.clone().compile().ok());
        valid.map(move |acceptance| (place, acceptance))
    });
    Timeline::new(pushes.collect(), accepted.collect())
}

/// The machine that measured a series in a run, and its processor. Of a further machine only the fingerprint is known.
fn machine_of<'a>(run: &'a StoredRun, series: &str) -> (&'a str, &'a str) {
    let mut others = run.elsewhere.iter();
    let other = others.find(|other| other.series.iter().any(|id| id == series));
    let own = || (run.host.as_str(), run.cpu_model.as_deref().unwrap_or("unknown"));
    other.map_or_else(own, |other| (other.host.as_str(), other.host.as_str()))
}

/// What the values of a metric depend on, besides the code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DependsOn {
    /// Bytes on the wire, system calls, allocations and sizes are the same everywhere.
    Nothing,
    /// Instructions differ between processors, because libraries choose their code by the processor.
    Processor,
    /// Everything else differs between machines.
    Machine,
}

impl DependsOn {
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
fn unjudged_trace<'a>(
    id: &'a str,
    columns: &[Column<'a>],
    metric: Metric,
    stored: &StoredRuns,
    runs: &[&'a StoredRun],
) -> UnjudgedTrace<'a> {
    let depends_on = DependsOn::of(metric);
    let measured = measured(columns, stored, depends_on);
    let (mut points, mut left_out) = (Vec::with_capacity(measured.len()), Vec::new());
    for (run, basis) in measured.iter().zip(bases(&measured)) {
        let stored = runs[run.place];
        let (machine, processor) = machine_of(stored, id);
        let reference = stored.reference.as_deref().map_or("none", short_commit);
        let (value, compared_on) = match (basis, depends_on) {
            (Basis::Ratio, _) => (run.ratio, reference),
            (Basis::Value, DependsOn::Nothing) => (run.value, ""),
            (Basis::Value, DependsOn::Processor) => (run.value, processor),
            (Basis::Value, DependsOn::Machine) => (run.value, machine),
        };
        let context = Context {
            digest: run.digest,
            basis,
            compared_on,
        };
        match value {
            Some(value) => points.push(Point {
                place: run.place,
                value,
                half: run.half,
                context,
                processor,
            }),
            None => left_out.push((run.place, run.value, run.missing.to_owned())),
        }
    }
    UnjudgedTrace {
        source: RUNS_SOURCE,
        series: id,
        metric: Some(metric),
        unit: metric.unit(),
        better: Some(metric.better()),
        compared_on: if depends_on == DependsOn::Processor {
            "processor"
        } else {
            "machine"
        },
        // Times and memory of something that was measured are never near zero.
        near_zero: match metric.better() {
            Better::Lower => NearZero::Failure,
            Better::Higher => NearZero::Value,
        },
        not_judged: None,
        left_out,
        points,
    }
}

/// The value and the ratio of a metric in one run.
struct Measured<'a> {
    place: usize,
    value: Option<f64>,
    ratio: Option<f64>,
    /// Half of the value's interval, as a share of it.
    half: Option<f64>,
    digest: &'a str,
    /// Why it has no value to judge, if it has none.
    missing: &'a str,
}

/// The value and the ratio of a metric in each run that has a value, or in which the series failed, in commit order.
fn measured<'a>(columns: &[Column<'a>], stored: &StoredRuns, depends_on: DependsOn) -> Vec<Measured<'a>> {
    let usable = |value: f64| (value.is_finite() && value >= 0.0).then_some(value);
    let of_run = |(place, (month, index)): (usize, &(usize, usize))| {
        let (series, column) = columns[*month]?;
        let value = column.and_then(|column| usable(column.values[*index]));
        let missing = match value {
            Some(_) => "no ratio: the reference was not measured",
            None => failure(series, *index)?,
        };
        let ratio = column.and_then(|column| column.ratios.get(*index).copied().and_then(usable));
        let half = column.and_then(|column| column.half_permille.get(*index).copied().and_then(usable));
        Some(Measured {
            place,
            value,
            half: half.map(|permille| permille / 1e3),
            ratio: ratio.filter(|_| depends_on != DependsOn::Nothing),
            digest: digest_at(series, *index),
            missing,
        })
    };
    stored.order.iter().enumerate().filter_map(of_run).collect()
}

/// Why a series has no good round in a run of its month.
pub(super) fn failure(series: &StoredSeries, index: usize) -> Option<&str> {
    let failure = series.failures.iter().find(|failure| failure.at == index)?;
    Some(&failure.why)
}

/// The digest of a series in a run of its month.
fn digest_at(series: &StoredSeries, index: usize) -> &str {
    let place = series
        .digests
        .partition_point(|one| one.from <= index)
        .saturating_sub(1);
    series.digests.get(place).map_or("", |one| &one.digest)
}

/// Decides for each run whether its ratio or its value is judged: the one that several runs in a row have. A few runs with a
/// reference, or a few without, do not change that.
fn bases(runs: &[Measured]) -> Vec<Basis> {
    let basis = |run: &Measured| run.ratio.map_or(Basis::Value, |_| Basis::Ratio);
    let with_value: Vec<&Measured> = runs.iter().filter(|run| run.value.is_some()).collect();
    let lasting: Vec<(Basis, usize)> = with_value
        .chunk_by(|one, next| basis(one) == basis(next))
        .filter(|stretch| stretch.len() >= LASTING)
        .map(|stretch| (basis(stretch[0]), stretch[0].place))
        .collect();
    // Without a lasting stretch, the majority decides.
    let ratios = with_value.iter().filter(|run| run.ratio.is_some()).count();
    let majority = if 2 * ratios > with_value.len() {
        Basis::Ratio
    } else {
        Basis::Value
    };
    let first = lasting.first().map_or(majority, |(basis, _)| *basis);
    let at = |place: usize| {
        let begun = lasting.partition_point(|(_, from)| *from <= place);
        begun.checked_sub(1).map_or(first, |newest| lasting[newest].0)
    };
    runs.iter().map(|run| at(run.place)).collect()
}
