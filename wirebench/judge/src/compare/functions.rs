//! The functions and system calls that carry a change of a counted series: matched by name, the one to blame first.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use wirebench_record::comparison::{ComparedMetric, FunctionChange, Verdict};
use wirebench_record::counts::{Counts, FunctionCost, Source};
use wirebench_record::metric::Metric;

/// Functions listed of each metric.
const LISTED: usize = 10;
/// A function of the project is not listed before other code if its change is a smaller share of the metric's change
/// than this.
const LEADS: f64 = 0.05;
/// A function with more than this share of the whole cost, with all that it calls, is around everything else, as `main` and
/// the loop that serves connections are.
const AROUND_ALL: f64 = 0.8;
/// The weight of such a function's change in the order: it is to blame only if no other function of the project is.
const AROUND_ALL_WEIGHT: f64 = 0.2;
/// Calls per request that differ by a smaller share are equal.
const CALLED_AS_OFTEN: f64 = 0.02;
/// Costs that differ by a smaller share are the same.
const COSTS_THE_SAME: f64 = 0.1;
/// The increase of a caller must be at least this share of the cost of the additional calls that are charged to it.
const HOLDS_THE_CALLS: f64 = 0.8;
/// The decrease of a caller must be at least this share of the increase of a function that it calls, for inlining to be
/// the cause.
const MOVED_IN_PART: f64 = 0.5;

/// The largest changes: of instructions always, of the others when the metric regressed or improved. A change within the
/// spread of the metric is left out; a function that only one side has costs 0 on the other.
pub(super) fn changes(baseline: &Counts, candidate: &Counts, metrics: &[ComparedMetric]) -> Vec<FunctionChange> {
    let worth = |metric: &Metric| {
        let verdict = metrics.iter().find(|one| one.metric == *metric).map(|one| one.verdict);
        match verdict {
            None | Some(Verdict::Invalid) => false,
            Some(Verdict::Regressed | Verdict::Improved) => true,
            Some(_) => *metric == Metric::Instructions,
        }
    };
    let by_name = Metric::COUNTED.into_iter().filter(|metric| metric.is_counted_by_name());
    (by_name.filter(worth))
        .flat_map(|metric| of(baseline, candidate, metric))
        .collect()
}

fn of(baseline: &Counts, candidate: &Counts, metric: Metric) -> Vec<FunctionChange> {
    let (Some((base, base_spread)), Some((head, head_spread))) = (baseline.value(metric), candidate.value(metric))
    else {
        return Vec::new();
    };
    let noise = base_spread.max(head_spread);
    let whole = if base > 0.0 { base } else { head };
    let costs = match metric {
        Metric::Syscalls => syscalls(baseline, candidate),
        _ => functions(baseline, candidate, metric),
    };
    let ranked = Ranked {
        way: if head < base { -1.0 } else { 1.0 },
        leads_from: LEADS * (head - base).abs(),
        around_all: AROUND_ALL * base.max(head),
    };
    let mut found: Vec<(&str, Costs)> = costs.into_iter().collect();
    found.retain(|(_, costs)| costs.change().abs() > noise && whole > 0.0);
    found.sort_by(|(one, its), (other, others)| ranked.order(its, others).then_with(|| one.cmp(other)));
    found.truncate(LISTED);
    let change = |(function, costs): (&str, Costs)| FunctionChange {
        metric,
        function: function.to_owned(),
        baseline: costs.baseline,
        candidate: costs.candidate,
        share_percent: costs.change() / whole * 100.0,
        own_code: costs.own_code,
        caller: None,
        source: source(candidate, metric, function),
    };
    let found = found.into_iter().map(change);
    match metric {
        Metric::Syscalls => found.map(|change| with_caller(change, baseline, candidate)).collect(),
        _ => found.collect(),
    }
}

pub(super) fn with_caller(change: FunctionChange, baseline: &Counts, candidate: &Counts) -> FunctionChange {
    let caller = caller(baseline, candidate, &change);
    let place = |caller: &String| source(candidate, Metric::Instructions, caller);
    FunctionChange {
        source: caller.as_ref().and_then(place),
        caller,
        ..change
    }
}

/// The cost of one function or system call on both sides. Several copies of a function with one name are added up.
#[derive(Debug, Clone, Copy, Default)]
struct Costs {
    baseline: f64,
    candidate: f64,
    /// With all that it calls, on the side where that is more.
    inclusive: f64,
    /// By how much that grew on the candidate, all copies together.
    inclusive_change: f64,
    /// How often a request calls it, in the baseline and in the candidate; 0 where that is not known.
    calls: [f64; 2],
    own_code: bool,
}

impl Costs {
    const fn change(&self) -> f64 {
        self.candidate - self.baseline
    }

    /// The cost of the additional calls per request (below 0: of those saved); 0 for a function that only one side has.
    fn further_calls(&self) -> f64 {
        let [before, after] = self.known_calls();
        if before <= 0.0 || after <= 0.0 || (after - before).abs() <= before * CALLED_AS_OFTEN {
            return 0.0;
        }
        let (of, calls) = if after > before {
            (self.candidate, after)
        } else {
            (self.baseline, before)
        };
        of / calls * (after - before)
    }

    /// Calls on both sides. A side that inlines the function reports no calls: it is taken to run once if its cost
    /// equals that of one call on the other side.
    fn known_calls(&self) -> [f64; 2] {
        let is_one = |inlined: f64, cost: f64, calls: f64| {
            inlined > 0.0 && calls > 0.0 && (inlined - cost / calls).abs() <= inlined * COSTS_THE_SAME
        };
        match self.calls {
            [before, after] if before <= 0.0 && is_one(self.baseline, self.candidate, after) => [1.0, after],
            [before, after] if after <= 0.0 && is_one(self.candidate, self.baseline, before) => [before, 1.0],
            known => known,
        }
    }

    /// By how much the project's functions that it calls grew.
    const fn callees_change(&self) -> f64 {
        self.inclusive_change - self.change()
    }
}

/// Undoes cost that inlining moved between functions of the project. If the compiler inlines a call on one side only,
/// one function loses what the other gains, and the caller's inclusive cost stays. That cost is moved back to where the
/// baseline has it, so that only real changes remain.
fn undo_inlining(costs: &mut BTreeMap<&str, Costs>) {
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
            if moved * MOVED_IN_PART <= from.change().abs() {
                costs.entry(callee).and_modify(|one| one.candidate -= moved * sign);
                costs.entry(caller).and_modify(|one| one.candidate += moved * sign);
            }
        }
    }
}

/// Charges additional calls of a function of the project to its caller: a function that costs the same for each call is
/// not to blame for being called twice. The caller is the innermost function around it that grew by as much and is
/// itself called as often as before.
fn charge_callers(costs: &mut BTreeMap<&str, Costs>) {
    let own = costs.iter().filter(|(_, one)| one.own_code && one.inclusive > 0.0);
    let mut outwards: Vec<(&str, f64)> = own.map(|(name, one)| (*name, one.inclusive)).collect();
    outwards.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    for (at, (callee, inclusive)) in outwards.iter().enumerate() {
        let further = costs[callee].further_calls();
        let holds = |name: &str| {
            let one = costs[name];
            let as_often = one.further_calls().abs() <= 0.0;
            as_often
                && one.inclusive > *inclusive
                && one.inclusive_change * further.signum() >= further.abs() * HOLDS_THE_CALLS
        };
        let caller = outwards[at + 1..]
            .iter()
            .map(|(name, _)| *name)
            .find(|name| holds(name));
        if further.abs() > 0.0
            && let Some(caller) = caller
        {
            costs.entry(callee).and_modify(|one| one.candidate -= further);
            costs.entry(caller).and_modify(|one| one.candidate += further);
        }
    }
}

/// The order of two functions.
struct Ranked {
    /// The sign of the metric's change.
    way: f64,
    /// The change from which a function of the project is listed before other code.
    leads_from: f64,
    /// From which inclusive cost on a function is around everything else.
    around_all: f64,
}

impl Ranked {
    /// Functions that changed in the metric's direction first; of these the project's own; of these the largest change.
    fn order(&self, one: &Costs, other: &Costs) -> Ordering {
        let key = |costs: &Costs| {
            let size = self.weight(costs);
            let against = costs.change() * self.way < 0.0;
            (against, !(costs.own_code && size >= self.leads_from), size)
        };
        let ((against, late, size), (other_against, other_late, other_size)) = (key(one), key(other));
        (against, late)
            .cmp(&(other_against, other_late))
            .then_with(|| other_size.total_cmp(&size))
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

fn syscalls<'a>(baseline: &'a Counts, candidate: &'a Counts) -> BTreeMap<&'a str, Costs> {
    let mut costs: BTreeMap<&str, Costs> = BTreeMap::new();
    for (name, calls) in &baseline.syscalls {
        costs.entry(name).or_default().baseline += calls;
    }
    for (name, calls) in &candidate.syscalls {
        costs.entry(name).or_default().candidate += calls;
    }
    costs
}

/// The costs of functions: the project's own with the other code that they call, others by themselves.
fn functions<'a>(baseline: &'a Counts, candidate: &'a Counts, metric: Metric) -> BTreeMap<&'a str, Costs> {
    let sides = [baseline, candidate].map(|counts| counts.functions.iter().filter(move |one| one.metric == metric));
    let mut costs: BTreeMap<&str, Costs> = BTreeMap::new();
    // Records of before this was counted, and files that are not in the repository, have no function of the project's own.
    for one in sides
        .iter()
        .cloned()
        .flatten()
        .filter(|one| one.blamed.is_some() && one.source.is_some())
    {
        costs.entry(&one.function).or_default().own_code = true;
    }
    let [base, head] = sides;
    let cost = |one: &FunctionCost, own_code: bool| one.blamed.filter(|_| own_code).unwrap_or(one.cost);
    for one in base {
        let held = costs.entry(&one.function).or_default();
        held.baseline += cost(one, held.own_code);
        held.inclusive = held.inclusive.max(one.inclusive.unwrap_or(0.0));
        held.inclusive_change -= one.inclusive.unwrap_or(0.0);
        held.calls[0] += one.calls.unwrap_or(0.0);
    }
    for one in head {
        let held = costs.entry(&one.function).or_default();
        held.candidate += cost(one, held.own_code);
        held.inclusive = held.inclusive.max(one.inclusive.unwrap_or(0.0));
        held.inclusive_change += one.inclusive.unwrap_or(0.0);
        held.calls[1] += one.calls.unwrap_or(0.0);
    }
    for held in costs.values_mut() {
        // Noise makes the slope of work that requests do not cause negative.
        (held.baseline, held.candidate) = (held.baseline.max(0.0), held.candidate.max(0.0));
    }
    charge_callers(&mut costs);
    undo_inlining(&mut costs);
    costs
}

/// Who makes more of a system call, or fewer when it is made less often: whose cost in the C library changed most.
fn caller(baseline: &Counts, candidate: &Counts, call: &FunctionChange) -> Option<String> {
    let way = (call.candidate - call.baseline).signum();
    let mut costs: BTreeMap<&str, f64> = BTreeMap::new();
    for (counts, sign) in [(baseline, -way), (candidate, way)] {
        for one in counts.callers.iter().filter(|one| one.syscall == call.function) {
            *costs.entry(&one.function).or_default() += one.cost * sign;
        }
    }
    let most = costs.into_iter().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    (most.1 > 0.0).then(|| most.0.to_owned())
}

/// The source line of a function in the candidate; of several copies, the most expensive one.
fn source(candidate: &Counts, metric: Metric, function: &str) -> Option<Source> {
    let mut of_name = (candidate.functions.iter()).filter(|one| one.metric == metric && one.function == function);
    of_name.find_map(|one| one.source.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::counts::{CallerCost, CountStatus, Figure};
    use wirebench_record::run::Variant;

    /// Functions said as `name cost`, and the project's own as `name cost inclusive blamed` and perhaps ` calls`.
    fn counts(total: f64, functions: &[&str]) -> Counts {
        let mut counts = Counts::without(Variant::Candidate, CountStatus::Ok, String::new());
        for metric in [Metric::Instructions, Metric::Syscalls] {
            counts.figures.push(Figure {
                metric,
                value: Some(total),
                spread: Some(1.0),
                refused: None,
                by_layout: Vec::new(),
                points: Vec::new(),
            });
        }
        for function in functions {
            let words: Vec<&str> = function.split(' ').collect();
            let number = |at: usize| words.get(at).map(|word| word.parse().unwrap());
            counts.functions.push(FunctionCost {
                function: words[0].to_owned(),
                metric: Metric::Instructions,
                cost: number(1).unwrap(),
                inclusive: number(2),
                blamed: number(3),
                calls: number(4),
                source: number(3).map(|_| Source {
                    file: "a.rs".into(),
                    line: 7,
                }),
            });
        }
        counts
    }

    fn names(baseline: &Counts, candidate: &Counts) -> Vec<String> {
        let changes = of(baseline, candidate, Metric::Instructions);
        let name = |change: FunctionChange| format!("{} {:+}", change.function, change.candidate - change.baseline);
        changes.into_iter().map(name).collect()
    }

    #[test]
    fn the_projects_own_function_that_is_to_blame_stands_first() {
        let base = counts(
            1000.0,
            &[
                "main 1 1000 100",
                "handler 10 400 100",
                "render 5 300 300",
                "copy 200",
                "hash 90",
            ],
        );
        let head = counts(
            1500.0,
            &[
                "main 1 1500 160",
                "handler 10 900 100",
                "render 5 740 740",
                "copy 700",
                "hash 30",
            ],
        );
        // `main` is around everything: it stands behind whatever else is the project's.
        assert_eq!(
            names(&base, &head),
            ["render +440", "copy +500", "main +60", "hash -60"]
        );
        assert_eq!(
            names(&head, &base),
            ["render -440", "copy -500", "main -60", "hash +60"]
        );
        let first = &of(&base, &head, Metric::Instructions)[0];
        assert!(first.own_code && first.source.is_some());
        assert!((first.share_percent - 44.0).abs() < 1e-9);
    }

    #[test]
    fn a_function_that_is_only_called_more_often_is_not_to_blame_its_caller_is() {
        let base = counts(
            20_000.0,
            &[
                "serve 1 19000 2000 1",
                "answer 200 6000 900",
                "serialize 1500 4000 4000 1",
                "key 90 300 300 4",
            ],
        );
        let head = counts(
            24_300.0,
            &[
                "serve 1 23300 2000 1",
                "answer 500 10300 1200",
                "serialize 1500 8000 8000 2",
                "key 90 600 600 8",
            ],
        );
        // `key` is called by `serialize`, which is called twice by `answer`, which is inlined and so has no calls.
        assert_eq!(names(&base, &head), ["answer +4600"]);
        assert_eq!(names(&head, &base), ["answer -4600"]);
        // Called once, it was inlined; called twice, it is a function of its own.
        let inlined = counts(
            20_000.0,
            &[
                "serve 1 19000 2000 1",
                "answer 200 6000 900",
                "serialize 1500 4100 4100",
            ],
        );
        assert_eq!(names(&inlined, &head), ["answer +4300", "key +600", "serialize -100"]);
        // A function that costs more each time keeps that.
        let dearer = counts(
            24_300.0,
            &[
                "serve 1 23300 2000 1",
                "answer 200 10300 900",
                "serialize 1500 8300 8000 1",
                "key 90 300 300 4",
            ],
        );
        assert_eq!(names(&base, &dearer), ["serialize +4000"]);
        // The caller is unknown: the cost stays where it is.
        let alone = counts(24_000.0, &["serialize 1500 8000 8000 2"]);
        assert_eq!(
            names(&counts(20_000.0, &["serialize 1500 4000 4000 1"]), &alone),
            ["serialize +4000"]
        );
    }

    #[test]
    fn what_went_the_other_way_comes_last_and_what_did_not_change_never() {
        let base = counts(1000.0, &["a 500", "b 100", "c 10", "own 50 400 60"]);
        let head = counts(1100.0, &["a 100", "b 590", "c 11", "own 50 400 60.5"]);
        assert_eq!(names(&base, &head), ["b +490", "a -400"]);
    }

    #[test]
    fn a_function_of_the_projects_that_explains_nearly_nothing_does_not_lead() {
        let base = counts(1000.0, &["own 50 400 60", "hash 90"]);
        let head = counts(2000.0, &["own 50 400 63", "hash 1090"]);
        assert_eq!(names(&base, &head), ["hash +1000", "own +3"]);
    }

    #[test]
    fn cost_that_inlining_moved_between_a_caller_and_its_callee_blames_neither() {
        // Measured: a response header more, built without link-time optimisation; serializing was inlined elsewhere.
        let base = counts(
            20_946.0,
            &["respond 35 3130 2861", "serialize 15 269 269", "ask 29 171 62"],
        );
        let head = counts(
            21_500.0,
            &["respond 55 3532 1481", "serialize 24 2051 2051", "ask 62 406 297"],
        );
        assert_eq!(names(&base, &head), ["respond +402", "ask +235"]);
        assert_eq!(names(&head, &base), ["respond -402", "ask -235"]);
        // Nothing was lost by the caller: the callee itself is dearer.
        let dearer = counts(21_500.0, &["respond 35 4912 2861", "serialize 15 2051 2051"]);
        assert_eq!(names(&base, &dearer)[0], "serialize +1782");
    }

    #[test]
    fn functions_of_older_records_are_compared_by_their_own_cost() {
        let mut sides = [counts(1000.0, &["own 50 400 60"]), counts(1100.0, &["own 150 500 260"])];
        for function in sides.iter_mut().flat_map(|counts| &mut counts.functions) {
            (function.inclusive, function.blamed) = (None, None);
        }
        assert_eq!(names(&sides[0], &sides[1]), ["own +100"]);
    }

    #[test]
    fn a_system_call_is_shown_with_who_makes_it_more_often() {
        let caller = |function: &str, cost: f64| CallerCost {
            syscall: "write".into(),
            function: function.into(),
            cost,
        };
        let (mut base, mut head) = (counts(10.0, &[]), counts(20.0, &["log 5 30 30"]));
        base.syscalls.insert("write".into(), 2.0);
        head.syscalls.insert("write".into(), 12.0);
        base.callers = vec![caller("send", 100.0)];
        head.callers = vec![caller("send", 101.0), caller("log", 40.0)];
        let found = of(&base, &head, Metric::Syscalls).remove(0);
        assert_eq!(found.caller.as_deref(), Some("log"));
        assert_eq!(found.source.map(|source| source.line), Some(7));
        let fewer = of(&head, &base, Metric::Syscalls).remove(0);
        assert_eq!((fewer.caller.as_deref(), fewer.source), (Some("log"), None));
    }
}
