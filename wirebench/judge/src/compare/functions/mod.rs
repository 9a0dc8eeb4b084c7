//! The functions and system calls that carry a change of a counted series: matched by name, the one to blame first.

mod costs;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub(super) use self::costs::has_whole_stacks;
use self::costs::{
    Costs, Ranking, are_comparable, charge_callers, charge_only_caller, of_functions, of_syscalls, undo_inlining,
};
use wirebench_record::comparison::{ComparedMetric, FunctionChange, Verdict};
use wirebench_record::counts::{Counts, Source};
use wirebench_record::metric::Metric;

/// Functions listed of each metric.
const LISTED: usize = 10;

/// The largest changes: of instructions always, of the others when the metric regressed or improved. A change within the
/// spread of the metric is left out; a function that only one side has costs 0 on the other. Nothing is listed if only one
/// side knows which functions are the project's.
pub(super) fn changes(baseline: &Counts, candidate: &Counts, metrics: &[ComparedMetric]) -> Vec<FunctionChange> {
    let verdict = |metric: Metric| metrics.iter().find(|one| one.metric == metric).map(|one| one.verdict);
    let by_name = Metric::COUNTED.into_iter().filter(|metric| metric.is_counted_by_name());
    let changes = by_name.map(|metric| match verdict(metric) {
        None | Some(Verdict::Invalid) => Vec::new(),
        Some(Verdict::Regressed | Verdict::Improved) => changes_of(metric, true, baseline, candidate),
        Some(_) if metric == Metric::Instructions => changes_of(metric, false, baseline, candidate),
        Some(_) => Vec::new(),
    });
    changes.flatten().collect()
}

/// The changes of a metric, whose value itself changed or not.
fn changes_of(metric: Metric, is_changed: bool, baseline: &Counts, candidate: &Counts) -> Vec<FunctionChange> {
    let values = (baseline.value(metric), candidate.value(metric));
    let (Some((before, baseline_spread)), Some((after, candidate_spread))) = values else {
        return Vec::new();
    };
    let has_whole_stacks = has_whole_stacks(baseline) && has_whole_stacks(candidate);
    if has_whole_stacks && !are_comparable(baseline, candidate, metric, [before, after]) {
        return Vec::new();
    }
    let noise = baseline_spread.max(candidate_spread);
    let whole = if before > 0.0 { before } else { after };
    let costs = if metric == Metric::Syscalls {
        of_syscalls(baseline, candidate)
    } else {
        let mut costs = of_functions(baseline, candidate, metric);
        if has_whole_stacks {
            charge_callers(&mut costs);
            undo_inlining(&mut costs);
        } else if costs.values().any(Costs::is_exactly_changed) {
            costs.retain(|_, one| !one.own_code || one.is_exactly_changed());
            costs
                .values_mut()
                .filter(|one| one.own_code)
                .for_each(Costs::take_exact);
            charge_only_caller(&mut costs);
        } else if !is_changed {
            return Vec::new();
        }
        costs
    };
    let ranking = Ranking::new(before, after);
    let mut listed: Vec<(&str, Costs)> = costs.into_iter().collect();
    listed.retain(|(_, costs)| costs.is_beyond(noise) && whole > 0.0);
    listed.sort_by(|(one, its), (other, others)| ranking.order(its, others).then_with(|| one.cmp(other)));
    listed.truncate(LISTED);
    let change = |(function, costs): (&str, Costs)| {
        let change = FunctionChange {
            metric,
            function: function.to_owned(),
            baseline: costs.sides[0],
            candidate: costs.sides[1],
            share_percent: costs.change() / whole * 100.0,
            own_code: costs.own_code,
            caller: None,
            source: source(candidate, metric, function),
        };
        if metric == Metric::Syscalls {
            with_caller(change, baseline, candidate)
        } else {
            change
        }
    };
    listed.into_iter().map(change).collect()
}

/// A changed system call with the function that makes it, and that function's source line.
pub(super) fn with_caller(call: FunctionChange, baseline: &Counts, candidate: &Counts) -> FunctionChange {
    let caller = caller(&call, baseline, candidate);
    let source = (caller.as_ref()).and_then(|caller| source(candidate, Metric::Instructions, caller));
    FunctionChange { source, caller, ..call }
}

/// The function that makes more of a system call, or fewer if it is made less often: the one whose cost in the C library
/// changed most.
fn caller(call: &FunctionChange, baseline: &Counts, candidate: &Counts) -> Option<String> {
    let direction = (call.candidate - call.baseline).signum();
    let mut costs: BTreeMap<&str, f64> = BTreeMap::new();
    for (counts, sign) in [(baseline, -direction), (candidate, direction)] {
        for one in counts.callers.iter().filter(|one| one.syscall == call.function) {
            *costs.entry(&one.function).or_default() += one.cost * sign;
        }
    }
    let (function, cost) = costs.into_iter().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    (cost > 0.0).then(|| function.to_owned())
}

/// The source line of a function in the candidate; of several functions with one name, of the most expensive one.
fn source(candidate: &Counts, metric: Metric, function: &str) -> Option<Source> {
    let mut of_name = (candidate.functions.iter()).filter(|one| one.metric == metric && one.function == function);
    of_name.find_map(|one| one.source.clone())
}
