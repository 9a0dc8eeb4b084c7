//! The functions and system calls that carry a change of a counted series: matched by name, the one to blame first.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use wirebench_record::comparison::{ComparedMetric, FunctionChange, Verdict};
use wirebench_record::counts::{Counts, FunctionCost, Source};
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
    } else if has_whole_stacks {
        let mut costs = of_functions(baseline, candidate, metric);
        charge_callers(&mut costs);
        undo_inlining(&mut costs);
        costs
    } else {
        costs_without_stacks(metric, is_changed, baseline, candidate)
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

/// The costs of functions whose callers are not known. If the own instructions of a function of the project changed, other functions of
/// the project are left out of the instructions. Empty if neither a function nor the metric changed.
fn costs_without_stacks<'a>(
    metric: Metric,
    is_changed: bool,
    baseline: &'a Counts,
    candidate: &'a Counts,
) -> BTreeMap<&'a str, Costs> {
    let mut exact = of_functions(baseline, candidate, Metric::Instructions);
    let is_known = exact.values().any(Costs::is_exactly_changed);
    if !is_known && !is_changed {
        return BTreeMap::new();
    }
    let callers = if is_known { keep_exact(&mut exact) } else { Vec::new() };
    let mut costs = if metric == Metric::Instructions {
        exact
    } else {
        let mut costs = of_functions(baseline, candidate, metric);
        take_calls(&mut costs, &exact, &callers);
        costs
    };
    charge_only_caller(&mut costs, &callers);
    costs
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

// The cost per request of every function or system call, on both sides.

/// Calls per request that differ by a smaller share are equal.
const EQUAL_CALLS: f64 = 0.02;
/// Costs that differ by a smaller share are equal.
const EQUAL_COSTS: f64 = 0.1;

/// The share of the whole cost that may move between the project's functions and other code. If more moves, and the total
/// does not follow, one side's program does not tell which functions are the project's.
const MOVED_AT_MOST: f64 = 0.2;

/// Two own costs of a function are taken for equal if they differ by at most this many instructions per request, or by this share.
const SAME_BY_ITSELF: (f64, f64) = (12.0, 0.001);
/// Calls per request by which an unchanged function of a goroutine may seem to be called more often: on a busy machine a handler that is
/// called once had between 0.88 and 1.34 calls under callgrind.
const ENTERED_ONCE_MORE: f64 = 0.5;
/// The own cost of one such call, instructions: that handler's rose by 30.
const COST_OF_ENTERING: f64 = 32.0;

/// Calls per request that are equal: they have two decimal places.
const SAME_CALLS: f64 = 0.005;
/// The fewest instructions that a caller needs for one more call.
const COST_OF_A_CALL: f64 = 4.0;

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

    /// Whether it is called as often as before and does a little more by itself, as one more call takes.
    fn may_call_more(&self) -> bool {
        let [before, after] = self.calls;
        let more = self.by_itself[1] - self.by_itself[0];
        self.own_code && before > 0.0 && (after - before).abs() < SAME_CALLS && more >= COST_OF_A_CALL
    }

    /// How likely it is the caller of what is called more often, the smaller the likelier; `None` if it is not.
    fn caller_rank(&self) -> Option<u8> {
        if self.additional_calls(ENTERED_ONCE_MORE).abs() > 0.0 {
            None
        } else if self.calls[1] > 0.0 && self.is_exactly_changed() {
            Some(0)
        } else if self.may_call_more() {
            Some(1)
        } else {
            // It is inlined: its cost is that of functions around it.
            self.is_exactly_changed().then_some(2)
        }
    }

    /// Takes what it costs by itself, exactly, instead of what it costs with others.
    pub(super) const fn take_exact(&mut self) {
        self.sides = self.by_itself;
        self.is_exact = true;
    }

    /// Up to which its costs by itself are those of one program.
    fn exactness(&self) -> f64 {
        let (few, share) = SAME_BY_ITSELF;
        let entered = (self.calls[1] - self.calls[0]).abs();
        let by_chance = if entered <= ENTERED_ONCE_MORE { entered } else { 0.0 };
        few.max(self.by_itself[0].max(self.by_itself[1]) * share) + by_chance * COST_OF_ENTERING
    }

    /// Whether it changed by more than chance, which is this much for a cost that is not exact.
    pub(super) fn is_beyond(&self, noise: f64) -> bool {
        self.change().abs() > if self.is_exact { self.exactness() } else { noise }
    }

    /// Whether only one side has it.
    pub(super) fn is_one_sided(&self) -> bool {
        self.by_itself.contains(&0.0)
    }

    /// The cost of the additional calls per request (below 0: of those saved), if they are more than by chance; 0 for a function that
    /// only one side has.
    pub(super) fn additional_calls(&self, by_chance: f64) -> f64 {
        let [before, after] = self.known_calls();
        if before <= 0.0 || after <= 0.0 || (after - before).abs() <= by_chance.max(before * EQUAL_CALLS) {
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

// The order in which functions are listed, the one to blame first.

/// A function of the project is listed before other code only if its change is at least this share of the metric's change, or
/// exact.
const LEADS: f64 = 0.05;
/// A function with more than this share of the whole cost, with all that it calls, is around everything else, as `main` and
/// the loop that serves connections are.
const AROUND_ALL: f64 = 0.8;
/// The weight of such a function's change in the order: it is to blame only if no other function of the project is.
const AROUND_ALL_WEIGHT: f64 = 0.2;

/// The order of two functions.
pub(super) struct Ranking {
    /// The sign of the metric's change.
    direction: f64,
    /// The change from which a function of the project is listed before other code.
    leads_from: f64,
    /// The inclusive cost from which a function is around everything else.
    around_all: f64,
}

impl Ranking {
    /// For a metric with these values.
    pub(super) fn new(baseline: f64, candidate: f64) -> Self {
        Self {
            direction: if candidate < baseline { -1.0 } else { 1.0 },
            leads_from: LEADS * (candidate - baseline).abs(),
            around_all: AROUND_ALL * baseline.max(candidate),
        }
    }

    /// Functions that changed in the metric's direction first; of these the project's own; of these the largest change.
    pub(super) fn order(&self, one: &Costs, other: &Costs) -> Ordering {
        let (weight, other_weight) = (self.weight(one), self.weight(other));
        let is_late = |costs: &Costs, weight: f64| {
            let opposite = costs.change() * self.direction < 0.0;
            (
                opposite,
                !(costs.is_exact || (costs.own_code && weight >= self.leads_from)),
            )
        };
        is_late(one, weight)
            .cmp(&is_late(other, other_weight))
            .then_with(|| other_weight.total_cmp(&weight))
    }

    fn weight(&self, costs: &Costs) -> f64 {
        let size = costs.change().abs();
        if costs.own_code && costs.inclusive >= self.around_all {
            size * AROUND_ALL_WEIGHT
        } else {
            size
        }
    }
}

// Moves cost between functions of the project, to the functions whose own code changed.

/// The increase of a caller must be at least this share of the cost of the additional calls that are charged to it.
const CALLER_HOLDS_CALLS: f64 = 0.8;
/// The decrease of a caller must be at least this share of the increase of a function that it calls, for inlining to be
/// the cause.
const INLINED_AT_LEAST: f64 = 0.5;

/// Charges additional calls of a function of the project to its caller: a function that costs the same for each call is
/// not to blame for being called twice. The caller is the innermost function around it that grew by as much and is
/// itself called as often as before.
pub(super) fn charge_callers(costs: &mut BTreeMap<&str, Costs>) {
    let own = costs.iter().filter(|(_, one)| one.own_code && one.inclusive > 0.0);
    let mut outwards: Vec<(&str, f64)> = own.map(|(name, one)| (*name, one.inclusive)).collect();
    outwards.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    for (at, (callee, inclusive)) in outwards.iter().enumerate() {
        let additional = costs[callee].additional_calls(0.0);
        let is_caller = |name: &&str| {
            let one = costs[name];
            one.additional_calls(0.0).abs() <= 0.0
                && one.inclusive > *inclusive
                && one.inclusive_change * additional.signum() >= additional.abs() * CALLER_HOLDS_CALLS
        };
        let caller = outwards[at + 1..].iter().map(|(name, _)| *name).find(is_caller);
        if let Some(caller) = caller.filter(|_| additional.abs() > 0.0) {
            move_change(costs, callee, caller, additional);
        }
    }
}

/// Keeps, of the project's functions, those whose own code does more or less, or may, with what they cost by themselves. Returns the
/// possible callers of functions that are called more often: those that changed and are called as often as before. If no function changed
/// beyond chance, these are the functions that execute a few instructions more.
fn keep_exact<'a>(costs: &mut BTreeMap<&'a str, Costs>) -> Vec<&'a str> {
    costs.retain(|_, one| !one.own_code || one.is_exactly_changed() || one.may_call_more());
    let own = costs.values_mut().filter(|one| one.own_code);
    own.for_each(Costs::take_exact);
    let ranks = || own_on_both_sides(costs).filter_map(|(name, one)| Some((name, one.caller_rank()?)));
    let likeliest = ranks().map(|(_, rank)| rank).min();
    let callers = ranks().filter(|(_, rank)| Some(*rank) == likeliest);
    callers.map(|(name, _)| name).collect()
}

fn own_on_both_sides<'c, 'a>(costs: &'c BTreeMap<&'a str, Costs>) -> impl Iterator<Item = (&'a str, &'c Costs)> {
    let own = costs.iter().filter(|(_, one)| one.own_code && !one.is_one_sided());
    own.map(|(name, one)| (*name, one))
}

/// Gives the costs of another metric the calls per request, which only instructions have, and each caller an entry.
fn take_calls<'a>(costs: &mut BTreeMap<&'a str, Costs>, exact: &BTreeMap<&'a str, Costs>, callers: &[&'a str]) {
    for caller in callers {
        costs.entry(caller).or_default().own_code = true;
    }
    for (name, one) in costs {
        one.calls = exact.get(name).map_or_else(Default::default, |code| code.calls);
    }
}

/// Charges additional calls to the only function that may make them. If there are several, nobody knows which of them it is: the callee
/// is not to blame all the same.
fn charge_only_caller(costs: &mut BTreeMap<&str, Costs>, callers: &[&str]) {
    if callers.is_empty() {
        return;
    }
    let own = own_on_both_sides(costs);
    let callees: Vec<(&str, f64)> = own
        .map(|(name, one)| (name, one.additional_calls(ENTERED_ONCE_MORE)))
        .collect();
    for (callee, additional) in callees {
        let change = costs[callee].change();
        // Calls that only entered it once more make each look cheaper.
        let explains_all = additional * change.signum() >= change.abs() * CALLER_HOLDS_CALLS;
        let moved = if explains_all { change } else { additional };
        match callers {
            [caller] => move_change(costs, callee, caller, moved),
            _ => costs.entry(callee).or_default().sides[1] -= moved,
        }
    }
}

/// Undoes cost that inlining moved between functions of the project. If the compiler inlines a call on one side only,
/// one function loses what the other gains, and the caller's inclusive cost stays. That cost is moved back to where the
/// baseline has it, so that only real changes remain.
pub(super) fn undo_inlining(costs: &mut BTreeMap<&str, Costs>) {
    for sign in [1.0, -1.0] {
        let callers: Vec<&str> = (costs.iter())
            .filter(|(_, one)| one.own_code && one.inclusive > 0.0)
            .filter(|(_, one)| one.change() * sign < 0.0 && one.callees_change() * sign > 0.0)
            .map(|(name, _)| *name)
            .collect();
        for caller in callers {
            let from = costs[caller];
            let moved = |one: &Costs| (one.change() * sign).min(from.callees_change() * sign);
            let callee = (costs.iter())
                .filter(|(name, one)| **name != caller && one.own_code && moved(one) > 0.0)
                .map(|(name, one)| (*name, moved(one)))
                .max_by(|(_, one), (_, other)| one.total_cmp(other));
            let Some((callee, moved)) = callee else { continue };
            if moved * INLINED_AT_LEAST <= from.change().abs() {
                move_change(costs, callee, caller, moved * sign);
            }
        }
    }
}

/// Takes a part of the candidate's cost from one function and adds it to another.
fn move_change(costs: &mut BTreeMap<&str, Costs>, from: &str, to: &str, cost: f64) {
    for (name, cost) in [(from, -cost), (to, cost)] {
        if let Some(costs) = costs.get_mut(name) {
            costs.sides[1] += cost;
        }
    }
}
