//! What explains a change of time per request: functions whose sampled CPU time or waiting changed, and processes behind the server.
//! They name a cause, and never change a verdict.

use std::collections::BTreeMap;

use crate::compare::cell::{pairs, per_request};
use crate::compare::{Rules, paired};
use wirebench_record::comparison::{ComparedMetric, ComparedSeries, Comparison, FunctionChange, Verdict};
use wirebench_record::metric::{Better, Metric};
use wirebench_record::reason::MetricReason;
use wirebench_record::run::{ProcessUsage, Round, Run, Sampled, SampledFunction, SampledSides, Series};
use wirebench_stats::mann_whitney::{Level, differ, shift};

/// Functions listed.
const LISTED: usize = 10;
/// A change of a smaller share of the whole CPU time is not listed.
const LEAST_SHARE: f64 = 0.01;
/// A slowdown of more than so many times the change of CPU time is one of waiting.
const WAITS_BEYOND: f64 = 2.0;
/// Series whose functions are sampled, at most.
const SERIES: usize = 2;
/// A count names the cause only if it grew by this part of what CPU time grew by, in percent of the baseline.
const EXPLAINS_AT_LEAST: f64 = 0.3;
/// … and if one of the project's functions carries this part of the change.
const CARRIES_AT_LEAST: f64 = 0.1;

/// The series, by index, those with the largest change first, whose CPU time got worse, or may have, for a reason that no count names
/// ([`Metric::ServerCpu`]), or that are slower by more than CPU time explains, so that they wait ([`Metric::LatencyP50`]).
pub fn worth_sampling(run: &Run, rules: &Rules) -> Vec<(usize, Metric)> {
    let Ok(comparison) = paired(run, rules) else {
        return Vec::new();
    };
    let mut worse: Vec<_> = (comparison.series.iter().enumerate())
        .filter_map(|(index, series)| Some((index, wanted(series)?)))
        .filter(|(index, (metric, percent))| {
            *metric != Metric::ServerCpu || !is_named(&comparison, &comparison.series[*index], *percent)
        })
        .collect();
    worse.sort_by(|(_, (_, one)), (_, (_, other))| other.total_cmp(one));
    worse.truncate(SERIES);
    worse.into_iter().map(|(index, (metric, _))| (index, metric)).collect()
}

/// What explains that a series got worse, and by how many percent it did.
fn wanted(series: &ComparedSeries) -> Option<(Metric, f64)> {
    match (cpu_effect(series), slowdown(series)) {
        (None, slowdown) => Some((Metric::LatencyP50, slowdown?)),
        (Some(cpu), Some(slowdown)) if slowdown > WAITS_BEYOND * cpu => Some((Metric::LatencyP50, slowdown)),
        (Some(cpu), _) => Some((Metric::ServerCpu, cpu)),
    }
}

/// By how many percent the CPU time of a series got worse, or may have.
fn cpu_effect(series: &ComparedSeries) -> Option<f64> {
    let cpu = series.metrics.iter().find(|one| one.metric == Metric::ServerCpu)?;
    cpu.effect_percent.filter(|_| is_worse(cpu))
}

/// Whether a metric got worse, or may have: its interval or every pair is worse, or only the server's sleeps keep it from a verdict.
fn is_worse(metric: &ComparedMetric) -> bool {
    let nearest = match metric.better {
        Better::Lower => metric.effect_low_percent,
        Better::Higher => metric.effect_high_percent.map(|high| -high),
    };
    let may_be = matches!(
        metric.reason,
        MetricReason::SleepsDiffer { .. } | MetricReason::WorseInEveryPair { .. }
    );
    match metric.verdict {
        Verdict::Regressed => true,
        Verdict::Inconclusive => may_be || nearest.is_some_and(|nearest| nearest > 0.0),
        _ => false,
    }
}

/// By how many percent a request in the middle, or by the throughput, takes longer; 0 if only the slowest do, `None` if none does.
fn slowdown(series: &ComparedSeries) -> Option<f64> {
    let slower = slower_metrics(&series.metrics).map(|one| match one.metric {
        Metric::LatencyP99 => 0.0,
        Metric::Throughput => one.effect_percent.map_or(0.0, |effect| 1e4 / (100.0 + effect) - 100.0),
        _ => one.effect_percent.unwrap_or(0.0),
    });
    slower.max_by(f64::total_cmp)
}

fn slower_metrics(metrics: &[ComparedMetric]) -> impl Iterator<Item = &ComparedMetric> {
    metrics.iter().filter(|one| one.metric.is_of_waiting() && is_worse(one))
}

/// Whether a count of the same server says which of the project's own functions makes CPU time grow by so many percent. In Go they are
/// counted without the functions that they call, and so may carry next to nothing; a cache miss is one instruction more.
fn is_named(comparison: &Comparison, series: &ComparedSeries, cpu_percent: f64) -> bool {
    let server = |id: &str| id.split('@').nth(1).map(str::to_owned);
    let mut of_server = (comparison.series.iter()).filter(|one| server(&one.id) == server(&series.id));
    of_server.any(|one| {
        one.functions
            .iter()
            .filter(|function| function.own_code)
            .any(|function| {
                let Some(counted) = one.metrics.iter().find(|found| found.metric == function.metric) else {
                    return false;
                };
                let change = (counted.candidate.zip(counted.baseline)).map_or(0.0, |(after, before)| after - before);
                let explains = counted
                    .effect_percent
                    .is_none_or(|percent| percent >= EXPLAINS_AT_LEAST * cpu_percent);
                explains && function.candidate - function.baseline > CARRIES_AT_LEAST * change.max(0.0)
            })
    })
}

/// What explains a change of time: the functions whose sampled time changed, and the processes behind the server (a database) whose
/// CPU time did; these go first if they carry most of it. `metrics` are those of the series. What it waits for is told of the first
/// metric that got worse.
pub(super) fn causes(series: &Series, stage: u32, metrics: &[ComparedMetric]) -> Vec<FunctionChange> {
    let mut causes = series.sampled.as_ref().map(functions).unwrap_or_default();
    if let Some(slower) = slower_metrics(metrics).next() {
        let waits = causes.iter_mut().filter(|cause| cause.metric.is_of_waiting());
        waits.for_each(|wait| wait.metric = slower.metric);
    }
    let cpu = metrics.iter().find(|one| one.metric == Metric::ServerCpu);
    let Some(cpu) = cpu.filter(|cpu| cpu.verdict != Verdict::Unchanged) else {
        return causes;
    };
    let processes = functions(&Sampled {
        metric: Metric::ServerCpu,
        whole: sides(series, stage, |round| Some(round.server_cpu_ns?.total())),
        functions: processes(series, stage),
        stacks: BTreeMap::new(),
    });
    let change = cpu
        .candidate
        .zip(cpu.baseline)
        .map_or(0.0, |(candidate, baseline)| candidate - baseline);
    let carries = |one: &FunctionChange| (one.candidate - one.baseline) / change > 0.5;
    let place = if processes.iter().any(carries) { 0 } else { causes.len() };
    causes.splice(place..place, processes);
    causes
}

/// The CPU time per request of each process behind the one that the driver asked.
fn processes(series: &Series, stage: u32) -> Vec<SampledFunction> {
    let first = pairs(series, stage).next().map(|(baseline, _)| &baseline.processes);
    let behind = first.into_iter().flatten().skip(1);
    let process = |process: &ProcessUsage| SampledFunction {
        function: format!("process {}", process.name),
        source: None,
        time: sides(series, stage, |round| {
            let same = round.processes.iter().find(|one| one.name == process.name)?;
            Some(same.cpu_ns?.total())
        }),
    };
    behind.map(process).collect()
}

fn sides(series: &Series, stage: u32, read: impl Fn(&Round) -> Option<u64>) -> SampledSides {
    let (baseline, candidate) = per_request(series, stage, read);
    SampledSides { baseline, candidate }
}

/// The functions that changed, those that cost more first, of these the project's own, of these the largest change. Each is tested
/// by ranks over rounds at one in a thousand, so that equal code lists one of thirty in three of a hundred runs.
fn functions(sampled: &Sampled) -> Vec<FunctionChange> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let whole = mean(&sampled.whole.baseline);
    let change = |one: &SampledFunction| {
        differ(&one.time.baseline, &one.time.candidate, Level::Thousandth)?;
        let difference = shift(&one.time.baseline, &one.time.candidate)?.estimate;
        let baseline = mean(&one.time.baseline);
        (difference.abs() >= LEAST_SHARE * whole).then(|| FunctionChange {
            metric: sampled.metric,
            function: one.function.clone(),
            baseline,
            candidate: (baseline + difference).max(0.0),
            share_percent: difference / whole * 100.0,
            own_code: one.source.is_some(),
            caller: None,
            source: one.source.clone(),
        })
    };
    let mut changes: Vec<FunctionChange> = sampled.functions.iter().filter_map(change).collect();
    let order = |one: &FunctionChange| (one.share_percent < 0.0, !one.own_code);
    changes.sort_by(|one, other| {
        (order(one).cmp(&order(other))).then(other.share_percent.abs().total_cmp(&one.share_percent.abs()))
    });
    changes.truncate(LISTED);
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wirebench_record::counts::Source;

    /// A function whose rounds are these, in thousandths of the whole.
    fn function(name: &str, own: bool, baseline: &[f64], candidate: &[f64]) -> SampledFunction {
        SampledFunction {
            function: name.into(),
            source: own.then(|| Source::at("server.js", 4)),
            time: SampledSides {
                baseline: baseline.to_vec(),
                candidate: candidate.to_vec(),
            },
        }
    }

    fn listed(functions: Vec<SampledFunction>, rounds: usize) -> Vec<(String, bool)> {
        let whole = SampledSides {
            baseline: vec![1000.0; rounds],
            candidate: vec![1000.0; rounds],
        };
        let metric = Metric::ServerCpu;
        let changes = super::functions(&Sampled {
            metric,
            whole,
            functions,
            stacks: BTreeMap::new(),
        });
        let names = changes.into_iter().map(|one| (one.function, one.share_percent > 0.0));
        names.collect()
    }

    #[test]
    fn own_functions_that_cost_more_are_listed_first_and_small_or_uncertain_changes_not_at_all() {
        let around = |value: f64| -> Vec<f64> { (0..8_i32).map(|i| value + f64::from(i % 3)).collect() };
        let functions = vec![
            function("malloc", false, &around(100.0), &around(300.0)),
            function("copied", true, &around(50.0), &around(90.0)),
            function("gone", true, &around(80.0), &[0.0; 8]),
            function("small", true, &around(50.0), &around(57.0)),
            function(
                "noisy",
                true,
                &around(50.0),
                &[20.0, 90.0, 30.0, 95.0, 40.0, 99.0, 10.0, 120.0],
            ),
        ];
        let expected = [("copied", true), ("malloc", true), ("gone", false)];
        assert_eq!(
            listed(functions.clone(), 8),
            expected.map(|(name, more)| (name.to_owned(), more))
        );
        // Of fewer rounds the test could not tell such a difference from chance.
        let few = functions.into_iter().map(|mut one| {
            one.time.baseline.truncate(6);
            one.time.candidate.truncate(6);
            one
        });
        assert!(listed(few.collect(), 6).is_empty());
    }

    #[test]
    fn a_count_names_a_cause_if_an_own_function_carries_a_part_of_it() {
        let mut comparison = wirebench_testing::golden("counted-regressed");
        let series = &mut comparison.series[0];
        series.functions.truncate(1);
        let of_function = series.functions[0].metric;
        let metric = series.metrics.iter().find(|one| one.metric == of_function).unwrap();
        let change = metric.candidate.unwrap() - metric.baseline.unwrap();
        let percent = metric.effect_percent.unwrap();
        for (part, own, cpu_percent, named) in [
            (0.2, true, 2.0 * percent, true),
            (0.2, true, 4.0 * percent, false),
            (0.05, true, percent, false),
            (0.2, false, percent, false),
            (-0.2, true, percent, false),
        ] {
            let function = &mut comparison.series[0].functions[0];
            function.own_code = own;
            function.candidate = function.baseline + part * change;
            let found = is_named(&comparison, &comparison.series[0], cpu_percent);
            assert_eq!(found, named, "{part} {own} {cpu_percent}");
        }
    }

    #[test]
    fn what_is_slower_by_more_than_its_cpu_time_explains_waits() {
        let worst = |effects: &[(Metric, f64)]| {
            let mut series = wirebench_testing::golden("regressed").series.swap_remove(0);
            for metric in &mut series.metrics {
                let effect = effects.iter().find(|(of, _)| *of == metric.metric);
                metric.verdict = effect.map_or(Verdict::Unchanged, |_| Verdict::Regressed);
                metric.effect_percent = Some(effect.map_or(0.0, |(_, percent)| *percent));
            }
            wanted(&series).map(|(metric, _)| metric)
        };
        use Metric::{LatencyP50, LatencyP99, ServerCpu, Throughput};
        assert_eq!(worst(&[]), None);
        assert_eq!(worst(&[(LatencyP50, 30.0)]), Some(LatencyP50));
        let mut open = wirebench_testing::golden("regressed").series[0].metrics[0].clone();
        (open.verdict, open.better) = (Verdict::Inconclusive, Better::Higher);
        for (low, high, worse) in [(-9.0, -4.0, true), (-9.0, 1.0, false), (2.0, 4.0, false)] {
            (open.effect_low_percent, open.effect_high_percent) = (Some(low), Some(high));
            assert_eq!(is_worse(&open), worse, "{low} {high}");
        }
        open.reason = MetricReason::WorseInEveryPair { usable: 5, needed: 8 };
        assert!(is_worse(&open));
        assert_eq!(worst(&[(LatencyP99, 30.0)]), Some(LatencyP50));
        assert_eq!(
            worst(&[(ServerCpu, 30.0), (LatencyP50, 40.0), (LatencyP99, 90.0)]),
            Some(ServerCpu)
        );
        assert_eq!(worst(&[(ServerCpu, 10.0), (Throughput, -40.0)]), Some(LatencyP50));
    }

    proptest! {
        #[test]
        fn equal_rounds_in_any_order_list_nothing(values in prop::collection::vec(0.0f64..1e6, 1..12)) {
            let mut other = values.clone();
            other.reverse();
            prop_assert!(listed(vec![function("same", true, &values, &other)], values.len()).is_empty());
        }
    }
}
