//! Turns callgrind's costs into call stacks of named functions.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::count::profile::callgrind::Instructions;
use crate::count::profile::callgrind::call_paths::{CallPaths, split};
use crate::count::profile::callgrind::format::{Call, Context, Cost, Costs, sum_of};
use crate::count::profile::callgrind::functions::{AddressFunctions, Blamed, Functions};
use crate::count::profile::frame::Rule;
use crate::count::profile::lines::RunCost;
use crate::count::profile::names;
use crate::count::profile::stacks::FrameId;
use crate::count::profile::tree::Tree;
use wirebench_record::counts::Source;

/// Resolves the costs of one file. `tree` says which sources are the project's own.
pub(super) fn resolve(read: Costs, tree: &Tree) -> Instructions {
    let Costs {
        contexts,
        costs,
        calls,
        total,
        allocations,
        mixes_up_callers,
    } = read;
    let rule = if mixes_up_callers {
        Rule::OwnInstructions
    } else {
        Rule::Instructions
    };
    let mut functions = Functions::new(contexts, &costs, tree, rule);
    let mut call_paths = CallPaths::new(&calls);
    let mut cost = run_cost(&costs, &mut functions, &mut call_paths);
    let remarks = remarks(&functions, &cost, total);
    cost.total = total;
    Instructions {
        calls: times_called(&calls, &mut functions),
        remarks,
        allocations: (!allocations.is_empty()).then(|| run_cost(&allocations, &mut functions, &mut call_paths)),
        cost,
    }
}

/// Costs by call stack and by line.
fn run_cost(costs: &[Cost], functions: &mut Functions, call_paths: &mut CallPaths) -> RunCost {
    let mut by_line: HashMap<(FrameId, Rc<Source>), u64> = HashMap::new();
    for ((context, inlined, blamed), cost) in by_functions(costs, functions) {
        let physical = functions.innermost(context);
        let paths = call_paths.of(context, functions);
        for (path, cost) in split(cost, &paths, |path| path.share) {
            let mut stack = path.stack.clone();
            stack.extend(physical);
            stack.extend_from_slice(&inlined);
            functions.stacks.add(&stack, cost.into());
            if let Some((function, Some(source))) = blamed.clone().or_else(|| path.blamed.clone()) {
                let sum = by_line.entry((function, source)).or_insert(0);
                *sum = sum.saturating_add(cost);
            }
        }
    }
    let mut cost = RunCost::new(functions.stacks.take(), sum_of(costs));
    for ((function, source), amount) in by_line {
        cost.add_line(functions.name(function), &source, amount);
    }
    cost
}

/// Own costs by context, by inlined functions, and by the function to blame.
fn by_functions(costs: &[Cost], functions: &mut Functions) -> HashMap<(usize, Rc<[FrameId]>, Blamed), u64> {
    let mut sums = HashMap::new();
    for cost in costs {
        let Context { text, object } = functions.contexts[cost.context];
        let object = functions.object(object);
        let unnamed = names::is_address(text.split('\'').next().unwrap_or(""));
        functions.objects[object].spent(cost.amount, unnamed);
        let AddressFunctions { inlined, blamed, .. } = functions.functions_at(object, cost.address);
        let sum = sums.entry((cost.context, inlined, blamed)).or_insert(0u64);
        *sum = sum.saturating_add(cost.amount);
    }
    sums
}

/// The number of calls of each of the project's functions, its copies together.
fn times_called(calls: &[Call], functions: &mut Functions) -> BTreeMap<String, u64> {
    let mut times = BTreeMap::new();
    for call in calls {
        if let Some(id) = functions.innermost(call.callee).filter(|id| functions.is_own(*id)) {
            let sum = times.entry(functions.name(id).to_owned()).or_insert(0u64);
            *sum = sum.saturating_add(call.times);
        }
    }
    times
}

fn remarks(functions: &Functions, cost: &RunCost, total: u64) -> Vec<String> {
    let objects = functions.objects.iter();
    let mut remarks: Vec<String> = objects.filter_map(|object| object.remark(total)).collect();
    let sum = cost.stacks.total();
    if sum != total.into() {
        remarks.push(format!(
            "the functions add up to {sum} instructions, callgrind counted {total}"
        ));
    }
    remarks
}
