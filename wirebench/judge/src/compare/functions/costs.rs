//! The cost per request of every function or system call, on both sides.

use std::collections::BTreeMap;

use wirebench_record::counts::{Counts, FunctionCost};
use wirebench_record::metric::Metric;

/// Calls per request that differ by a smaller share are equal.
const EQUAL_CALLS: f64 = 0.02;
/// Costs that differ by a smaller share are equal.
const EQUAL_COSTS: f64 = 0.1;

/// The share of the whole cost that may move between the project's functions and other code. If more moves, and the total
/// does not follow, one side's program does not tell which functions are the project's.
const MOVED_AT_MOST: f64 = 0.2;

/// Own costs that differ by less, in instructions and as a share, are those of one program: what a goroutine runs twice when its
/// stack grows took up to 10.
const SAME_BY_ITSELF: (f64, f64) = (12.0, 0.001);

/// The cost of one function or system call. Functions with one name are added up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Costs {
    /// Per request, of the baseline and of the candidate.
    pub(super) sides: [f64; 2],
    /// The same, without any function that it calls.
    by_itself: [f64; 2],
    /// With all that it calls, on the side where that is more.
    pub(super) inclusive: f64,
    /// The increase of the inclusive cost on the candidate, all functions of this name together.
    pub(super) inclusive_change: f64,
    /// Calls per request, of the baseline and of the candidate; 0 if unknown.
    calls: [f64; 2],
    pub(super) own_code: bool,
    /// Whether `sides` is what it costs by itself, because call stacks are not whole.
    pub(super) is_exact: bool,
}

impl Costs {
    pub(super) const fn change(&self) -> f64 {
        self.sides[1] - self.sides[0]
    }

    /// Whether it is the project's, and its own code does more or less.
    pub(super) fn is_exactly_changed(&self) -> bool {
        self.own_code && (self.by_itself[1] - self.by_itself[0]).abs() > self.exactness()
    }

    /// Takes what it costs by itself, exactly, instead of what it costs with others.
    pub(super) const fn take_exact(&mut self) {
        self.sides = self.by_itself;
        self.is_exact = true;
    }

    /// Up to which its costs by itself are those of one program.
    fn exactness(&self) -> f64 {
        let (few, share) = SAME_BY_ITSELF;
        few.max(self.by_itself[0].max(self.by_itself[1]) * share)
    }

    /// Whether it changed by more than chance, which is this much for a cost that is not exact.
    pub(super) fn is_beyond(&self, noise: f64) -> bool {
        self.change().abs() > if self.is_exact { self.exactness() } else { noise }
    }

    /// Whether only one side has it.
    pub(super) fn is_one_sided(&self) -> bool {
        self.by_itself.contains(&0.0)
    }

    /// The cost of the additional calls per request (below 0: of those saved); 0 for a function that only one side has.
    pub(super) fn additional_calls(&self) -> f64 {
        let [before, after] = self.known_calls();
        if before <= 0.0 || after <= 0.0 || (after - before).abs() <= before * EQUAL_CALLS {
            return 0.0;
        }
        let [baseline, candidate] = self.sides;
        let cost_of_one = if after > before {
            candidate / after
        } else {
            baseline / before
        };
        cost_of_one * (after - before)
    }

    /// Calls on both sides. A side that inlines the function reports no calls: it is taken to run once if its cost
    /// equals that of one call on the other side.
    fn known_calls(&self) -> [f64; 2] {
        let is_one = |inlined: f64, cost: f64, calls: f64| {
            inlined > 0.0 && calls > 0.0 && (inlined - cost / calls).abs() <= inlined * EQUAL_COSTS
        };
        let [baseline, candidate] = self.sides;
        match self.calls {
            [before, after] if before <= 0.0 && is_one(baseline, candidate, after) => [1.0, after],
            [before, after] if after <= 0.0 && is_one(candidate, baseline, before) => [before, 1.0],
            known => known,
        }
    }

    /// The increase of the cost of the project's functions that it calls.
    pub(super) const fn callees_change(&self) -> f64 {
        self.inclusive_change - self.change()
    }
}

/// The number of calls of every system call.
pub(super) fn of_syscalls<'a>(baseline: &'a Counts, candidate: &'a Counts) -> BTreeMap<&'a str, Costs> {
    let mut costs: BTreeMap<&str, Costs> = BTreeMap::new();
    for (side, counts) in [baseline, candidate].into_iter().enumerate() {
        for (name, calls) in &counts.syscalls {
            costs.entry(name).or_default().sides[side] += calls;
        }
    }
    costs
}

/// Whether a function is the project's. Older records have no blamed cost, and code outside the repository has no source.
fn is_own(one: &FunctionCost) -> bool {
    one.blamed.is_some() && one.source.is_some()
}

/// Whether call stacks are whole. A program that goes from stack to stack, as goroutines do, loses callers: then only what functions
/// cost by themselves is exact, and what its scheduler does is not counted.
pub(in crate::compare) fn has_whole_stacks(counts: &Counts) -> bool {
    let mut functions = counts.functions.iter();
    !functions.any(|one| is_own(one) && one.inclusive.is_none())
}

/// Whether both sides know the project's functions. Blamed costs and the rest add up to the total; where one gains what the
/// other loses, a program names other source files than its repository has, such as one that was built elsewhere.
pub(super) fn are_comparable(baseline: &Counts, candidate: &Counts, metric: Metric, totals: [f64; 2]) -> bool {
    let blamed = |counts: &Counts| -> f64 {
        let own = counts
            .functions
            .iter()
            .filter(|one| one.metric == metric && is_own(one));
        own.filter_map(|one| one.blamed).sum()
    };
    let [before, after] = totals;
    let own_change = blamed(candidate) - blamed(baseline);
    let other_change = (after - before) - own_change;
    let moved = own_change.abs().min(other_change.abs());
    own_change * other_change >= 0.0 || moved <= MOVED_AT_MOST * before.max(after)
}

/// The costs of functions: the project's own with the other code that they call, others by themselves.
pub(super) fn of_functions<'a>(
    baseline: &'a Counts,
    candidate: &'a Counts,
    metric: Metric,
) -> BTreeMap<&'a str, Costs> {
    let of = |counts: &'a Counts| counts.functions.iter().filter(move |one| one.metric == metric);
    let mut costs: BTreeMap<&str, Costs> = BTreeMap::new();
    for one in of(baseline).chain(of(candidate)).filter(|one| is_own(one)) {
        costs.entry(&one.function).or_default().own_code = true;
    }
    for (side, sign, counts) in [(0, -1.0, baseline), (1, 1.0, candidate)] {
        for one in of(counts) {
            let sum = costs.entry(&one.function).or_default();
            let inclusive = one.inclusive.unwrap_or(0.0);
            sum.by_itself[side] += one.cost;
            sum.sides[side] += one.blamed.filter(|_| sum.own_code).unwrap_or(one.cost);
            sum.inclusive = sum.inclusive.max(inclusive);
            sum.inclusive_change += sign * inclusive;
            sum.calls[side] += one.calls.unwrap_or(0.0);
        }
    }
    for sum in costs.values_mut() {
        // Noise makes the slope of work that requests do not cause negative.
        sum.sides = sum.sides.map(|cost| cost.max(0.0));
    }
    costs
}
