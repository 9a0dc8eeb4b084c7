//! Judges the stored runs of a history: a trace for each series and metric.

use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::follow::{TraceValues, stored_values};
use crate::judge::judge;
use crate::load::StoredRuns;
use crate::segment::NearZero;
use crate::trace::{Context, Names, Point, RUNS_SOURCE, Timeline, UnjudgedTrace};
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
    let mut names = Names::default();
    let contexts = contexts(&runs, &mut names);
    let selected: Vec<(&str, Vec<Option<&StoredSeries>>, Metric)> = stored
        .series()
        .into_iter()
        .filter(|(id, _)| query.selects(id))
        .flat_map(|(id, months)| metrics.iter().map(move |metric| (id, months.clone(), *metric)))
        .collect();
    for (_, months, _) in &selected {
        for from in months.iter().flatten().flat_map(|series| &series.digests) {
            names.number(&from.digest);
        }
    }
    let judged = selected.par_iter().map(|(id, months, metric)| {
        let columns = columns(months, *metric);
        // Most series have few of the metrics: their runs are not looked at for the others.
        if !columns.iter().flatten().any(|(_, column)| column.is_some()) {
            return None;
        }
        let unjudged = unjudged_trace(id, &columns, *metric, stored, &contexts, &names);
        let judged = || judge(&unjudged, timeline, query, &names);
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

/// What measured a run, as numbers of a [`Names`].
struct RunContext<'a> {
    reference: u32,
    machine: u32,
    processor: u32,
    /// Further machines, with the series that each measured.
    other_machines: Vec<(u32, &'a [String])>,
}

impl RunContext<'_> {
    /// The machine that measured a series, and its processor. Of a further machine only the fingerprint is known.
    fn machine_of(&self, series: &str) -> (u32, u32) {
        let mut others = self.other_machines.iter();
        let other = others.find(|(_, measured)| measured.iter().any(|id| id == series));
        other.map_or((self.machine, self.processor), |(machine, _)| (*machine, *machine))
    }
}

/// The contexts of runs, in their order.
fn contexts<'a>(runs: &[&'a StoredRun], names: &mut Names) -> Vec<RunContext<'a>> {
    let context = |run: &&'a StoredRun| RunContext {
        reference: names.number(run.reference.as_deref().map_or("none", short_commit)),
        machine: names.number(&run.host),
        processor: names.number(run.cpu_model.as_deref().unwrap_or("unknown")),
        other_machines: (run.elsewhere.iter())
            .map(|other| (names.number(&other.host), other.series.as_slice()))
            .collect(),
    };
    runs.iter().map(context).collect()
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
    columns: &[Column],
    metric: Metric,
    stored: &StoredRuns,
    contexts: &[RunContext],
    names: &Names,
) -> UnjudgedTrace<'a> {
    let depends_on = DependsOn::of(metric);
    let measured = measured(columns, stored, depends_on, names);
    let (mut points, mut left_out) = (Vec::with_capacity(measured.len()), Vec::new());
    for (run, basis) in measured.iter().zip(bases(&measured)) {
        let run_context = &contexts[run.place];
        let (machine, processor) = run_context.machine_of(id);
        let (value, compared_on) = match (basis, depends_on) {
            (Basis::Ratio, _) => (run.ratio, run_context.reference),
            (Basis::Value, DependsOn::Nothing) => (run.value, Names::UNKNOWN),
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
    digest: u32,
    /// Why it has no value to judge, if it has none.
    missing: &'a str,
}

/// The value and the ratio of a metric in each run that has a value, or in which the series failed, in commit order.
fn measured<'a>(
    columns: &[Column<'a>],
    stored: &StoredRuns,
    depends_on: DependsOn,
    names: &Names,
) -> Vec<Measured<'a>> {
    let digests: Vec<Vec<(usize, u32)>> = columns.iter().map(|column| digests(column, names)).collect();
    let usable = |value: f64| (value.is_finite() && value >= 0.0).then_some(value);
    let of_run = |(place, (month, index)): (usize, &(usize, usize))| {
        let (series, column) = columns[*month]?;
        let value = column.and_then(|column| usable(column.values[*index]));
        let missing = match value {
            Some(_) => "no ratio: the reference was not measured",
            None => failure(series, *index)?,
        };
        let ratio = column.and_then(|column| column.ratios.get(*index).copied().and_then(usable));
        Some(Measured {
            place,
            value,
            ratio: ratio.filter(|_| depends_on != DependsOn::Nothing),
            digest: digest_at(&digests[*month], *index),
            missing,
        })
    };
    stored.order().iter().enumerate().filter_map(of_run).collect()
}

/// Why a series has no good round in a run of its month.
pub(super) fn failure(series: &StoredSeries, index: usize) -> Option<&str> {
    let failure = series.failures.iter().find(|failure| failure.at == index)?;
    Some(&failure.why)
}

/// The digests of a series in a month, each with the index of its first run.
fn digests(column: &Column, names: &Names) -> Vec<(usize, u32)> {
    let digests = column.iter().flat_map(|(series, _)| &series.digests);
    digests.map(|one| (one.from, names.find(&one.digest))).collect()
}

fn digest_at(digests: &[(usize, u32)], index: usize) -> u32 {
    let place = digests.partition_point(|(from, _)| *from <= index).saturating_sub(1);
    digests.get(place).map_or(Names::UNKNOWN, |(_, digest)| *digest)
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
