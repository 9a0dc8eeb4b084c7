//! The call paths that lead to a function: its callers, with the project's own functions that were inlined around each call.
//!
//! Who allocates, by the calls of a runtime's functions that do.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::count::profile::callgrind::format::{Call, Cost, Costs, context_frames};
use crate::count::profile::callgrind::functions::{Blamed, Functions};
use crate::count::profile::stacks::FrameId;
use wirebench_declare::runtime::UnderCallgrind;

/// The most paths kept for each context, the most expensive first; the cost of the others is added to these.
const PATHS: usize = 24;

/// One call path to a context.
#[derive(Debug, Clone)]
pub(super) struct CallPath {
    /// The functions around it, outermost first.
    pub(super) stack: Vec<FrameId>,
    /// The innermost function of the project's among them, with the line of the call.
    pub(super) blamed: Blamed,
    /// The share of the context's cost that came on this path; the shares of all paths add up to 1.
    pub(super) share: f64,
}

/// The call paths to each context, looked up once.
pub(super) struct CallPaths {
    /// Calls by the context called.
    calls: HashMap<usize, Vec<Call>>,
    known: HashMap<usize, Rc<[CallPath]>>,
}

impl CallPaths {
    pub(super) fn new(all: &[Call]) -> Self {
        let mut calls: HashMap<usize, Vec<Call>> = HashMap::new();
        for call in all {
            calls.entry(call.callee).or_default().push(*call);
        }
        Self {
            calls,
            known: HashMap::new(),
        }
    }

    /// The paths to a context; at least one.
    pub(super) fn of(&mut self, context: usize, functions: &mut Functions) -> Rc<[CallPath]> {
        if let Some(paths) = self.known.get(&context) {
            return paths.clone();
        }
        // Functions that call each other deeper than contexts name callers form a circle: it is entered at the context that
        // occurs first.
        let named: Rc<[CallPath]> = [path_by_name(context, functions)].into();
        self.known.insert(context, named.clone());
        let mut paths: Vec<CallPath> = Vec::new();
        for call in self.direct_calls(context, functions) {
            for path in self.through(&call, functions) {
                let same = |known: &&mut CallPath| known.stack == path.stack && known.blamed == path.blamed;
                match paths.iter_mut().find(same) {
                    Some(known) => known.share += path.share,
                    None => paths.push(path),
                }
            }
        }
        if paths.is_empty() {
            return named;
        }
        paths.sort_by(|one, other| other.share.total_cmp(&one.share));
        paths.truncate(PATHS);
        let sum: f64 = paths.iter().map(|path| path.share).sum();
        paths.iter_mut().for_each(|path| path.share /= sum);
        let paths: Rc<[CallPath]> = paths.into();
        self.known.insert(context, paths.clone());
        paths
    }

    /// Calls from the very context that the text names as the caller's. A text names a limited number of callers, so the
    /// caller's own text may go on where it ends.
    fn direct_calls(&self, context: usize, functions: &Functions) -> Vec<Call> {
        let Some((_, named)) = context_frames(functions.contexts[context].text).get(1).copied() else {
            return Vec::new();
        };
        let is_named = |caller: usize| {
            let rest = functions.contexts[caller].text.strip_prefix(named);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('\''))
        };
        let calls = self.calls.get(&context).into_iter().flatten();
        calls
            .filter(|call| is_named(call.caller) && call.instructions > 0)
            .copied()
            .collect()
    }

    /// The paths to one call; their shares add up to the call's cost.
    #[expect(clippy::cast_precision_loss, reason = "only the proportion counts")]
    fn through(&mut self, call: &Call, functions: &mut Functions) -> Vec<CallPath> {
        let object = functions.object(functions.contexts[call.caller].object);
        let called = functions.functions_at(object, call.address);
        let physical = functions.innermost(call.caller);
        let own = called.inlined.iter().copied().filter(|id| functions.is_own(*id));
        let here: Vec<FrameId> = physical.into_iter().chain(own).collect();
        let outer = self.of(call.caller, functions);
        let path = |outer: &CallPath| CallPath {
            stack: outer.stack.iter().chain(&here).copied().collect(),
            blamed: called.blamed.clone().or_else(|| outer.blamed.clone()),
            share: outer.share * call.instructions as f64,
        };
        outer.iter().map(path).collect()
    }
}

/// The path that the text of a context names, for contexts of which no calls are known.
fn path_by_name(context: usize, functions: &mut Functions) -> CallPath {
    let stack = functions.named_callers(context);
    let own = stack.iter().rfind(|id| functions.is_own(**id));
    CallPath {
        blamed: own.map(|id| (*id, None)),
        stack,
        share: 1.0,
    }
}

/// Splits a cost into whole numbers by the shares of others, which add up to 1; the parts add up to the cost.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count is rounded to a whole number no larger than the count"
)]
pub(super) fn split<T>(cost: u64, others: &[T], share_of: impl Fn(&T) -> f64) -> Vec<(&T, u64)> {
    let (mut share, mut assigned) = (0.0, 0);
    let mut parts = Vec::with_capacity(others.len());
    for (at, other) in others.iter().enumerate() {
        share += share_of(other);
        let upto = if at + 1 == others.len() {
            cost
        } else {
            ((cost as f64 * share).round() as u64).clamp(assigned, cost)
        };
        parts.push((other, upto - assigned));
        assigned = upto;
    }
    parts.retain(|(_, part)| *part > 0);
    parts
}

/// The longest chain of the runtime's functions from a call of it to the allocation.
const LONGEST: usize = 8;

/// The heap allocations of a run, each at the code that asks the runtime for it. If several places call the function of the runtime that
/// allocates, its allocations are divided in proportion to their calls.
#[expect(clippy::cast_precision_loss, reason = "only the proportion counts")]
pub(super) fn find_allocations(costs: &Costs, runtime: &UnderCallgrind) -> Vec<Cost> {
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

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::{CallPath, split};

    fn paths(weights: &[f64]) -> Vec<CallPath> {
        let sum: f64 = weights.iter().sum();
        let path = |weight: &f64| CallPath {
            stack: Vec::new(),
            blamed: None,
            share: weight / sum,
        };
        weights.iter().map(path).collect()
    }

    #[test]
    fn a_cost_is_split_as_the_calls_cost() {
        let paths = paths(&[3.0, 1.0, 0.0]);
        let parts: Vec<u64> = split(102, &paths, |path| path.share)
            .into_iter()
            .map(|(_, part)| part)
            .collect();
        assert_eq!(parts, [77, 25]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(cost in any::<u64>(), weights in vec(0.001f64..1e9, 1..24)) {
            let paths = paths(&weights);
            let sum: u64 = split(cost, &paths, |path| path.share).into_iter().map(|(_, part)| part).sum();
            prop_assert_eq!(sum, cost);
        }
    }
}
