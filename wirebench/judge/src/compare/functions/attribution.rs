//! Moves cost between functions of the project, to the functions whose own code changed.

use std::collections::BTreeMap;

use crate::compare::functions::costs::Costs;

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
        let additional = costs[callee].additional_calls();
        let is_caller = |name: &&str| {
            let one = costs[name];
            one.additional_calls().abs() <= 0.0
                && one.inclusive > *inclusive
                && one.inclusive_change * additional.signum() >= additional.abs() * CALLER_HOLDS_CALLS
        };
        let caller = outwards[at + 1..].iter().map(|(name, _)| *name).find(is_caller);
        if let Some(caller) = caller.filter(|_| additional.abs() > 0.0) {
            move_change(costs, callee, caller, additional);
        }
    }
}

/// The same without call stacks: to the only function of the project's that changed and is called as often as before.
pub(super) fn charge_only_caller(costs: &mut BTreeMap<&str, Costs>) {
    let own = || costs.iter().filter(|(_, one)| one.own_code && !one.is_one_sided());
    let callers: Vec<&str> = (own().filter(|(_, one)| one.additional_calls().abs() <= 0.0))
        .map(|(name, _)| *name)
        .collect();
    let callees: Vec<(&str, f64)> = own().map(|(name, one)| (*name, one.additional_calls())).collect();
    if let [caller] = callers[..] {
        for (callee, additional) in callees {
            move_change(costs, callee, caller, additional);
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
