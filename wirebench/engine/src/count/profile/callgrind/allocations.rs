//! Finds who allocates, by the calls of a runtime's functions that do.

use std::collections::{BTreeMap, HashMap};

use crate::count::profile::callgrind::call_paths::split;
use crate::count::profile::callgrind::format::{Call, Cost, Costs};
use wirebench_declare::runtime::UnderCallgrind;

/// The longest chain of the runtime's functions from a call of it to the allocation.
const LONGEST: usize = 8;

/// The heap allocations of a run, each at the code that asks the runtime for it. If several places call the function of the runtime that
/// allocates, its allocations are divided in proportion to their calls.
#[expect(clippy::cast_precision_loss, reason = "only the proportion counts")]
pub(super) fn find(costs: &Costs, runtime: &UnderCallgrind) -> Vec<Cost> {
    let allocates = costs.by_context(|function| runtime.allocates(function));
    let is_of_runtime = costs.by_context(|function| runtime.is_of_runtime(function));
    let mut calls_of: HashMap<usize, Vec<&Call>> = HashMap::new();
    for call in &costs.calls {
        calls_of.entry(call.callee).or_default().push(call);
    }
    let charged = |call: &Call, amount: u64| Cost {
        context: call.caller,
        address: call.address,
        amount,
    };
    let asks = |call: &&Call| allocates[call.callee] && !allocates[call.caller];
    let mut left: Vec<Cost> = (costs.calls.iter().filter(asks))
        .map(|call| charged(call, call.times))
        .collect();
    let mut found = Vec::new();
    for _ in 0..LONGEST {
        let is_passed_on = |cost: &Cost| is_of_runtime[cost.context] && calls_of.contains_key(&cost.context);
        let (passed_on, asked): (Vec<Cost>, Vec<Cost>) = left.into_iter().partition(is_passed_on);
        found.extend(asked);
        let mut sums: BTreeMap<usize, u64> = BTreeMap::new();
        for cost in passed_on {
            let sum = sums.entry(cost.context).or_default();
            *sum = sum.saturating_add(cost.amount);
        }
        let to_callers = |(context, sum): (usize, u64)| {
            let calls = &calls_of[&context];
            let all: f64 = calls.iter().map(|call| call.times as f64).sum();
            let parts = split(sum, calls, |call| call.times as f64 / all);
            parts.into_iter().map(|(call, part)| charged(call, part))
        };
        left = sums.into_iter().flat_map(to_callers).collect();
    }
    found.extend(left);
    found
}
