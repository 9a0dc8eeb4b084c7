//! The functions that cause a change of a count, in words: the main one, and each with its own change.

use crate::report::escape::{Escape, TERMINAL};
use crate::report::format::{figure, number, signed};
use wirebench_judge::summary::comparison::{Findings, Row, RowStatus, Work};
use wirebench_record::comparison::{
    ComparedMetric, ComparedSeries, Comparison, FunctionChange, FunctionWorkChange, WorkKind,
};
use wirebench_record::counts::Source;
use wirebench_record::metric::{Better, Metric};

/// `+165 instructions per request (+1.0 %)`, `+3.7 µs per request (+7.0 %)`: the share is of the baseline's whole.
pub fn change(function: &FunctionChange) -> String {
    let difference = function.candidate - function.baseline;
    let sign = if difference < 0.0 { '−' } else { '+' };
    let size = if function.metric.is_timed() {
        figure(Metric::ServerCpu, difference.abs())
    } else {
        let (size, unit) = (number(difference.abs()), function.metric.unit().trim_end_matches('s'));
        let plural = if size == "1" { "" } else { "s" };
        format!("{size} {unit}{plural}")
    };
    format!("{sign}{size} per request ({} %)", signed(function.share_percent))
}

/// The caller of a system call, and the place of the function in the project's sources: `, called from shop::price,
/// src/price.rs:12`; empty if neither is known.
pub fn origin(function: &FunctionChange, escape: Escape) -> String {
    let place = function.source.as_ref().map_or_else(String::new, |source| {
        let place = format!("{}:{}", source.file, source.line);
        format!(", {}", escape.name(&place))
    });
    let caller = function.caller.as_deref();
    caller.map_or_else(String::new, |caller| format!(", called from {}", escape.name(caller))) + &place
}

/// A function whose work was counted, with its place, because callbacks have no name: `(anonymous) (server.js:12)`.
pub(super) fn placed(change: &FunctionWorkChange, escape: Escape) -> String {
    format!("{}{}", escape.name(&change.function), place(change, escape))
}

fn place(change: &FunctionWorkChange, escape: Escape) -> String {
    change.source.as_ref().map_or_else(String::new, |source| {
        format!(" ({})", escape.name(&format!("{}:{}", source.file, source.line)))
    })
}

/// What a function does more or less often, and where it is: `does 2 more blocks per request, 10 instead of 8 (server.js:12)`.
pub(super) fn work(change: &FunctionWorkChange, unit: &str, escape: Escape) -> String {
    does(change, unit, escape) + &place(change, escape)
}

fn does(change: &FunctionWorkChange, unit: &str, escape: Escape) -> String {
    match change.kind {
        WorkKind::Moved => return "is code that was moved, extracted or inlined".into(),
        WorkKind::Edited => {
            let unit = escape.sentence(unit);
            return format!(
                "was edited and executes as many {unit}s per request; work inside the runtime itself is not counted"
            );
        }
        WorkKind::Changed => {}
    }
    let difference = change.candidate - change.baseline;
    let more = if difference < 0.0 { "fewer" } else { "more" };
    let size = number(difference.abs());
    let plural = if size == "1" { "" } else { "s" };
    format!(
        "does {size} {more} {}{plural} per request, {} instead of {}",
        escape.sentence(unit),
        number(change.candidate),
        number(change.baseline)
    )
}

/// The function of the project that does more, or else one that was edited, and the unit of its work: where a time got worse, and
/// no cost by function is known.
pub(super) fn suspect<'a>(
    comparison: &'a Comparison,
    findings: &Findings<'a>,
) -> Option<(&'a FunctionWorkChange, &'a str)> {
    let mut worse = findings.gating_that(RowStatus::Regressed);
    // Samples may know only what other code costs more.
    let is_known = worse.any(|row| row.functions().any(|one| row.is_counted() || one.own_code));
    suspects(comparison, findings).next().filter(|_| !is_known)
}

/// The function of the project whose counted work grew most, and by how much. `None` unless a timed metric that gates is inconclusive,
/// or if no function's work grew by half or by 100 units.
pub(super) fn does_more(comparison: &Comparison, findings: &Findings, escape: Escape) -> Option<String> {
    let open = findings.work(comparison).into_iter().filter(|work| work.is_open);
    let mut functions = open.flat_map(|work| work.functions.into_iter().map(move |function| (function, work.unit)));
    // A few more of many are no cause of a change that a time could show.
    let is_more = |one: &FunctionWorkChange| {
        let (before, now) = (one.baseline, one.candidate);
        one.kind == WorkKind::Changed && (now >= before * 1.5 || now - before >= 100.0) && now > before
    };
    let (function, unit) = functions.find(|(function, _)| is_more(function))?;
    let name = escape.name(&function.function);
    Some(format!("{name} {}", work(function, unit, escape)))
}

/// The function of the project whose sampled CPU time grew most, or else the call that waits longer, and by how much, where a timed
/// metric that gates is inconclusive.
pub(super) fn costs_more(findings: &Findings, escape: Escape) -> Option<String> {
    let open = || findings.gating_that(RowStatus::Inconclusive);
    let is_more =
        |one: &&FunctionChange| one.metric == Metric::ServerCpu && one.own_code && one.candidate > one.baseline;
    let cost = open().flat_map(Row::functions).find(is_more).map(|function| {
        let (name, place) = (escape.name(&function.function), origin(function, escape));
        format!("{name} costs {}{place}", more(function))
    });
    cost.or_else(|| open().find_map(|row| waits_more(row.series, escape)))
}

/// What the threads of a series wait in longer, and by how much.
fn waits_more(series: &ComparedSeries, escape: Escape) -> Option<String> {
    let mut waits = series.functions.iter().filter(|one| one.metric.is_of_waiting());
    let longer = waits.find(|one| one.candidate > one.baseline)?;
    let (call, place) = (escape.name(&longer.function), origin(longer, escape));
    Some(format!("waits {} in {call}{place}", more(longer)))
}

/// `41 µs more per request (+12 %)`.
fn more(function: &FunctionChange) -> String {
    let more = figure(Metric::ServerCpu, function.candidate - function.baseline);
    format!("{more} more per request ({} %)", signed(function.share_percent))
}

/// Functions of the project that do more, then those that were edited, where a time got worse.
fn suspects<'a>(
    comparison: &'a Comparison,
    findings: &Findings<'a>,
) -> impl Iterator<Item = (&'a FunctionWorkChange, &'a str)> {
    let explaining = findings.work(comparison).into_iter().filter(|work| work.explains);
    explaining
        .flat_map(|work| work.functions.into_iter().map(move |function| (function, work.unit)))
        .filter(|(function, _)| function.kind != WorkKind::Moved && function.candidate >= function.baseline)
}

/// Where the functions are that made something that gates worse, and what each does, in plain text: those whose cost is known,
/// the largest first; then those that do more or were edited.
pub fn causes(comparison: &Comparison) -> Vec<(&Source, String)> {
    let findings = Findings::of(comparison);
    let mut costs: Vec<(&str, &FunctionChange)> = (findings.gating_that(RowStatus::Regressed))
        .flat_map(|row| row.functions().map(|function| (row.series.id.as_str(), function)))
        .filter(|(_, function)| function.candidate > function.baseline)
        .collect();
    costs.sort_by(|one, other| other.1.share_percent.total_cmp(&one.1.share_percent));
    let costs = costs.into_iter().filter_map(|(series, function)| {
        let message = format!("{}: {} on {series}", function.function, change(function));
        Some((function.source.as_ref()?, message))
    });
    let is_worse = findings.gating_that(RowStatus::Regressed).next().is_some();
    let works = suspects(comparison, &findings).filter(|_| is_worse);
    let works = works.filter_map(|(function, unit)| {
        let message = format!("{} {}", function.function, does(function, unit, TERMINAL));
        Some((function.source.as_ref()?, message))
    });
    costs.chain(works).collect()
}

/// The heading of a list of functions that do more or less often.
pub(super) fn work_head(work: &Work, escape: Escape) -> String {
    format!(
        "{}, what the project's own functions do more or less often (a count of work, not a cost: it never gates)",
        escape.name(&work.series.id)
    )
}

/// The function with the largest change in the direction of the metric's: `most of it in NAME`. If the metric's functions are not
/// known, that of a cost of the same requests which moved the same way: `server CPU: most of it in NAME`. `None` if no function is
/// known.
pub(super) fn leading(row: &Row, escape: Escape) -> Option<String> {
    let metric = row.metric?;
    if let Some(waits) = waits_more(row.series, escape).filter(|_| metric.metric.is_of_waiting()) {
        return Some(waits);
    }
    if row.functions().next().is_some() {
        return carrier(row.series, metric, escape);
    }
    let costs = match metric.metric {
        Metric::Allocations => [Metric::Instructions].as_slice(),
        Metric::Throughput | Metric::LatencyP50 | Metric::LatencyP99 => &[Metric::ServerCpu, Metric::Instructions],
        _ => &[],
    };
    costs.iter().find_map(|cost| {
        let other = row.series.metrics.iter().find(|one| one.metric == *cost)?;
        let moved = worsening(other)? * worsening(metric)? > 0.0;
        let function = carrier(row.series, other, escape).filter(|_| moved)?;
        Some(format!("{}: {function}", cost.short()))
    })
}

/// By how much a metric got worse, percent of the baseline; negative if it got better.
fn worsening(metric: &ComparedMetric) -> Option<f64> {
    let worse = match metric.better {
        Better::Lower => 1.0,
        Better::Higher => -1.0,
    };
    metric.effect_percent.map(|effect| effect * worse)
}

/// Other code than the project's own that carries less of a change is not named beside it.
const CARRIES_AT_LEAST: f64 = 0.1;

/// The function that carries a metric's change most.
fn carrier(series: &ComparedSeries, metric: &ComparedMetric, escape: Escape) -> Option<String> {
    let whole = metric.candidate? - metric.baseline?;
    let difference = |function: &FunctionChange| function.candidate - function.baseline;
    let mut functions = series
        .functions
        .iter()
        .filter(|function| function.metric == metric.metric);
    let first = functions.find(|function| {
        let least = if function.own_code { 0.0 } else { CARRIES_AT_LEAST };
        difference(function) / whole > least
    })?;
    let part = if difference(first) / whole > 0.5 {
        "most of it"
    } else {
        "first of all"
    };
    Some(format!(
        "{part} in {}{}",
        escape.name(&first.function),
        origin(first, escape)
    ))
}

/// The heading of a list of a row's functions.
pub fn head(row: &Row, escape: Escape) -> String {
    let label = row.metric.map_or("", |metric| metric.metric.label());
    let what = match row.functions().next() {
        Some(call) if call.metric == Metric::Syscalls => "the calls whose number changed most",
        Some(wait) if wait.metric.is_of_waiting() => "the calls in which its threads waited longer, sampled",
        Some(sampled) if sampled.metric.is_timed() => {
            "the functions whose sampled time changed most (the project's own with all other code that they call), and processes behind the server"
        }
        Some(_) if row.functions().any(|function| function.own_code) => {
            "the functions that changed most: the project's own with the other code that they call (Go: without it), then others"
        }
        Some(_) => "the functions whose own cost changed most",
        None => "no function's cost changed by more than the spread",
    };
    format!("{} {label}, {what}", escape.name(&row.series.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::comparison::ComparedMetric;
    use wirebench_testing::golden;

    #[test]
    fn causes_are_functions_that_cost_more_of_metrics_that_gate_and_got_worse() {
        let with = |function: fn(&mut FunctionChange), metric: fn(&mut ComparedMetric)| {
            let mut comparison = golden("counted-regressed");
            let series = &mut comparison.series[0];
            series.functions.truncate(1);
            series.functions[0].source = Some(Source::at("src/a.rs", 3));
            function(&mut series.functions[0]);
            series.metrics.iter_mut().for_each(metric);
            let causes = causes(&comparison);
            causes.iter().map(|(source, _)| source.line).collect::<Vec<_>>()
        };
        assert_eq!(with(|_| (), |_| ()), [3]);
        assert!(with(|function| function.baseline = 1e6, |_| ()).is_empty());
        assert!(with(|function| function.source = None, |_| ()).is_empty());
        assert!(with(|_| (), |metric| metric.primary = false).is_empty());
        assert!(with(|_| (), |metric| metric.accepted = Some("yes".into())).is_empty());
    }

    #[test]
    fn a_time_without_functions_is_explained_by_a_cost_that_moved_the_same_way() {
        let p50_after = |function: fn(&mut FunctionChange), cpu: fn(&mut ComparedMetric)| {
            let mut comparison = golden("regressed");
            let mut known = golden("counted-regressed").series[0].functions[0].clone();
            (known.function, known.metric, known.own_code) = ("shop::price".into(), Metric::ServerCpu, true);
            (known.baseline, known.candidate, known.source) = (0.0, 1e9, None);
            function(&mut known);
            let series = &mut comparison.series[0];
            series.functions = vec![known];
            for metric in &mut series.metrics {
                metric.primary = metric.metric == Metric::LatencyP50;
                if metric.metric == Metric::ServerCpu {
                    cpu(metric);
                }
            }
            let row = Findings::of(&comparison).gating.into_iter().next().unwrap();
            leading(&row, TERMINAL)
        };
        let said = p50_after(|_| (), |_| ());
        assert_eq!(said.as_deref(), Some("server CPU: most of it in shop::price"));
        assert_eq!(p50_after(|function| function.metric = Metric::PeakRss, |_| ()), None);
        assert_eq!(p50_after(|_| (), |cpu| cpu.effect_percent = Some(-3.0)), None);
    }
}
