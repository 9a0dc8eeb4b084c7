//! The cost of one request by call stack: the slope between short and long runs, so that start and stop cancel out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::count::profile::frame::{Frame, Origin, Rule};
use crate::count::profile::names;
use crate::count::profile::stacks::Stacks;
use crate::count::profile::wrappers;
use wirebench_record::counts::CallerCost;

/// Costs per request by call stack.
#[derive(Debug, Clone)]
pub struct PerRequest {
    /// In units of 1 / `divisor` a request, so that sums are exact.
    stacks: Stacks,
    divisor: f64,
}

/// The mean of the long runs less the mean of the short ones, divided by the difference in requests, for each stack. A stack
/// that a run does not have costs 0 in it; noise may make a slope negative.
///
/// Empty if there are no short runs, no long runs, or no difference in requests.
pub fn per_request(few: &[&Stacks], many: &[&Stacks], more_requests: u64) -> PerRequest {
    let mut slopes = PerRequest {
        stacks: Stacks::new(many.first().map_or(Rule::Instructions, |stacks| stacks.rule())),
        divisor: as_float(few.len() as i128 * many.len() as i128) * as_float(more_requests.into()),
    };
    if slopes.divisor > 0.0 {
        for (runs, times) in [(few, -(many.len() as i128)), (many, few.len() as i128)] {
            for stacks in runs {
                slopes.stacks.absorb(stacks, times);
            }
        }
    }
    slopes
}

/// The cost of one function per request, in the metric's unit.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionSpending {
    /// Its name.
    pub function: String,
    /// By itself, as [`Rule`] charges it.
    pub own: f64,
    /// With all that it calls.
    pub inclusive: f64,
    /// The blamed cost of a function of the project: by itself, with all that it calls except other functions of the project.
    /// The sum over all functions is the cost of all stacks with a function of the project.
    pub blamed: Option<f64>,
}

/// A function whose inclusive cost is more than this share of the whole is not reported as the caller of a system call.
const AROUND_ALL: f64 = 0.8;

/// Sums over stacks, in units of [`PerRequest::stacks`].
#[derive(Default)]
struct Sums {
    own: i128,
    inclusive: i128,
    blamed: Option<i128>,
}

impl Sums {
    fn largest(&self) -> i128 {
        self.own.abs().max(self.blamed.unwrap_or(0).abs())
    }
}

/// The function to blame for a cost: the innermost of the project's.
fn innermost_own<'a>(stack: &[&'a Frame]) -> Option<&'a Frame> {
    stack.iter().rfind(|frame| frame.origin == Origin::Project).copied()
}

/// Whether a frame may be a function of the C library that makes a system call.
fn may_make_calls(frame: &Frame) -> bool {
    !frame.inlined && frame.origin != Origin::Project
}

/// The system call that a stack makes, with the position of the C library's function that the program called for it.
/// `by_number` is the call that the function `syscall` makes.
fn system_call<'a>(
    stack: &[&Frame],
    calls: &'a BTreeSet<String>,
    by_number: Option<&'a str>,
) -> Option<(&'a str, usize)> {
    let call_of = |frame: &&Frame| {
        let bare = wrappers::bare(&frame.function);
        if bare == wrappers::BY_NUMBER {
            return by_number;
        }
        let call = calls.iter().find(|call| wrappers::makes(bare, call));
        call.map(String::as_str)
    };
    (stack.iter().enumerate())
        .filter(|(_, frame)| may_make_calls(frame))
        .find_map(|(at, frame)| Some((call_of(frame)?, at)))
}

impl PerRequest {
    /// The whole cost of a request.
    pub fn total(&self) -> f64 {
        as_float(self.stacks.total()) / self.divisor.max(1.0)
    }

    /// What functions cost: the `at_most` most expensive ones of the project, whatever the sign, and as many others, in the order of
    /// their own cost. Cheap functions of the project are no less worth knowing if libraries do most of the work. Functions without any
    /// charged cost are left out.
    pub fn functions(&self, at_most: usize) -> Vec<FunctionSpending> {
        let mut by_name: BTreeMap<&str, Sums> = BTreeMap::new();
        for (frames, cost) in self.stacks.iter() {
            let owner = frames
                .get(self.stacks.rule().owner(&frames))
                .map_or("", |frame| &frame.function);
            by_name.entry(owner).or_default().own += cost;
            if let Some(frame) = innermost_own(&frames) {
                *by_name.entry(&frame.function).or_default().blamed.get_or_insert(0) += cost;
            }
            // Once for each stack, however often the function is in it.
            let names: BTreeSet<&str> = frames.iter().map(|frame| frame.function.as_str()).collect();
            for name in names {
                by_name.entry(name).or_default().inclusive += cost;
            }
        }
        let mut functions: Vec<(&str, Sums)> = by_name.into_iter().filter(|(_, sums)| sums.largest() != 0).collect();
        functions.sort_by_key(|(_, sums)| Reverse(sums.largest()));
        let (mut functions, mut others): (Vec<_>, Vec<_>) =
            functions.into_iter().partition(|(_, sums)| sums.blamed.is_some());
        functions.truncate(at_most);
        others.truncate(at_most);
        functions.append(&mut others);
        functions.sort_by_key(|(_, sums)| Reverse(sums.own.abs()));
        let figure = |(name, sums): (&str, Sums)| FunctionSpending {
            function: name.to_owned(),
            own: self.figure(sums.own),
            inclusive: self.figure(sums.inclusive),
            blamed: sums.blamed.map(|cost| self.figure(cost)),
        };
        functions.into_iter().map(figure).collect()
    }

    /// The callers of some system calls through the C library: for each call and caller, the cost of the library's
    /// function. The caller is the innermost function of the project's, unless that one is around nearly all that the
    /// program does; else the nearest that is neither the C library's nor the language's.
    pub fn callers(&self, calls: &BTreeSet<String>) -> Vec<CallerCost> {
        let whole = self.stacks.total();
        let around_all: BTreeSet<String> = (self.functions(usize::MAX).into_iter())
            .filter(|spent| spent.inclusive > as_float(whole) / self.divisor * AROUND_ALL)
            .map(|spent| spent.function)
            .collect();
        let by_number = self.by_number(calls);
        let mut callers: BTreeMap<(&str, &str), i128> = BTreeMap::new();
        for (frames, cost) in self.stacks.iter() {
            let Some((call, wrapper)) = system_call(&frames, calls, by_number) else {
                continue;
            };
            let own = innermost_own(&frames[..wrapper]).filter(|frame| !around_all.contains(&frame.function));
            let near = || {
                frames[..wrapper]
                    .iter()
                    .rfind(|frame| frame.origin.is_written())
                    .copied()
            };
            if let Some(frame) = own.or_else(near) {
                *callers.entry((call, &frame.function)).or_insert(0) += cost;
            }
        }
        let caller = |((call, function), cost): ((&str, &str), i128)| CallerCost {
            syscall: call.to_owned(),
            function: function.to_owned(),
            cost: self.figure(cost),
        };
        callers.into_iter().filter(|(_, cost)| *cost > 0).map(caller).collect()
    }

    /// The system call that the program makes through `syscall`: the only one that no function is named after. `None` if
    /// there are several, because the number that `syscall` gets is not in its name.
    fn by_number<'a>(&self, calls: &'a BTreeSet<String>) -> Option<&'a str> {
        let bare: BTreeSet<&str> = (self.stacks.frames().iter().filter(|frame| may_make_calls(frame)))
            .map(|frame| wrappers::bare(&frame.function))
            .collect();
        let is_named = |call: &str| call != wrappers::LOCKS && bare.iter().any(|bare| wrappers::makes(bare, call));
        let mut unnamed = calls.iter().filter(|call| !is_named(call));
        unnamed.next().filter(|_| unnamed.next().is_none()).map(String::as_str)
    }

    fn figure(&self, sum: i128) -> f64 {
        as_float(sum) / self.divisor
    }

    /// One line a stack, `outermost;…;innermost 123`, sorted: what flame graphs are drawn from. The number is the cost of
    /// 1,000 requests in whole units; stacks that round to 0 or less are left out.
    pub fn folded(&self) -> String {
        self.folded_below(|_| None)
    }

    /// The same of a Go program, whose callers are not known: each function below its package.
    pub fn folded_by_package(&self) -> String {
        self.folded_below(names::package)
    }

    fn folded_below(&self, outer: impl Fn(&str) -> Option<&str>) -> String {
        let mut lines: BTreeMap<String, i128> = BTreeMap::new();
        for (frames, cost) in self.stacks.iter() {
            let outer = frames.first().and_then(|frame| outer(&frame.function));
            let names = outer.into_iter().chain(frames.iter().map(|frame| &*frame.function));
            let names: Vec<String> = names.map(folded_name).collect();
            *lines.entry(names.join(";")).or_insert(0) += cost * 1000;
        }
        lines
            .iter()
            .map(|(stack, &cost)| (stack, (as_float(cost) / self.divisor).round()))
            .filter(|(_, cost)| *cost >= 1.0)
            .map(|(stack, cost)| format!("{stack} {cost:.0}\n"))
            .collect()
    }
}

/// A name that does not break the lines of folded stacks.
pub(super) fn folded_name(name: &str) -> String {
    name.replace(|c: char| c == ';' || c.is_control(), ":")
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts beyond 2^53 lose their last digit, which no figure shows"
)]
fn as_float(count: i128) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{prop_assert, proptest};

    use std::collections::BTreeSet;

    use super::{CallerCost, PerRequest, per_request};
    use crate::count::profile::frame::Rule;
    use crate::count::profile::frame::{Frame, Origin};
    use crate::count::profile::stacks::Stacks;

    /// Stacks given as `main;work 12` with `+` before inlined functions, and the owner as `own:`, `std:` or `alloc:`.
    fn stacks(lines: &[&str]) -> Stacks {
        let mut stacks = Stacks::new(Rule::Instructions);
        for line in lines {
            let (names, cost) = line.rsplit_once(' ').unwrap();
            let stack: Vec<_> = names
                .split(';')
                .map(|name| {
                    let bare = name.trim_start_matches('+');
                    let (origin, function) = match bare.split_once(':') {
                        Some(("own", function)) => (Origin::Project, function),
                        Some(("std", function)) => (Origin::Standard, function),
                        Some(("alloc", function)) => (Origin::Allocator, function),
                        _ => (Origin::Foreign, bare),
                    };
                    stacks.frame(Frame {
                        function: function.to_owned(),
                        origin,
                        inlined: bare.len() < name.len(),
                    })
                })
                .collect();
            stacks.add(&stack, cost.parse().unwrap());
        }
        stacks
    }

    /// Own costs, the most expensive first.
    fn own(cost: &PerRequest, at_most: usize) -> Vec<(String, f64)> {
        let functions = cost.functions(at_most).into_iter();
        functions.map(|spent| (spent.function, spent.own)).collect()
    }

    /// `own inclusive blamed` of a function, of one request.
    fn spent(lines: &[&str], function: &str) -> Option<(f64, f64, Option<f64>)> {
        let all = per_request(&[&stacks(&[])], &[&stacks(lines)], 1).functions(usize::MAX);
        let one = all.into_iter().find(|spent| spent.function == function)?;
        Some((one.own, one.inclusive, one.blamed))
    }

    #[test]
    fn a_function_is_blamed_for_what_it_calls_outside_of_the_project() {
        let lines = [
            "own:main;poll 7",
            "own:main;poll;own:handler 1",
            "own:main;poll;own:handler;clone;std:memcpy 20",
            "own:main;poll;own:handler;+own:render;to_json 500",
            "own:main;poll;own:handler;own:handler;clone 3",
        ];
        assert_eq!(spent(&lines, "handler"), Some((1.0, 524.0, Some(24.0))));
        assert_eq!(spent(&lines, "render"), Some((0.0, 500.0, Some(500.0))));
        assert_eq!(spent(&lines, "main"), Some((0.0, 531.0, Some(7.0))));
        assert_eq!(spent(&lines, "to_json"), Some((500.0, 500.0, None)));
    }

    #[test]
    fn cheap_functions_of_the_project_are_kept_beside_the_dearest_of_others() {
        let lines = ["own:handler 1", "parse 50", "step 900", "own:main 2"];
        let cost = per_request(&[&stacks(&[])], &[&stacks(&lines)], 1);
        assert_eq!(own(&cost, 1), [("step".into(), 900.0), ("main".into(), 2.0)]);
        let all: Vec<String> = own(&cost, 2).into_iter().map(|(function, _)| function).collect();
        assert_eq!(all, ["step", "parse", "main", "handler"]);
    }

    #[test]
    fn an_allocators_inner_functions_are_their_callers_cost() {
        let lines = [
            "own:main;grow;alloc:malloc 5",
            "own:main;grow;alloc:malloc;alloc:_int_malloc 20",
            "own:main;grow;alloc:calloc;memset 8",
        ];
        assert_eq!(spent(&lines, "grow"), Some((33.0, 33.0, None)));
        assert_eq!(spent(&lines, "_int_malloc"), None);
        assert!(
            per_request(&[&stacks(&[])], &[&stacks(&lines)], 1)
                .folded()
                .contains("malloc;_int_malloc")
        );
    }

    #[test]
    fn a_system_call_has_the_caller_that_the_project_knows() {
        let lines = [
            "own:main;own:handler;+own:wait;std:sleep;nanosleep;clock_nanosleep 30",
            "own:main;poll_write;std:write;__GI___write 10",
            "own:main;poll 960",
        ];
        let calls: BTreeSet<String> = ["write", "clock_nanosleep", "read"].map(str::to_owned).into();
        assert_eq!(
            callers(&lines, &calls),
            ["clock_nanosleep wait 30", "write poll_write 10"]
        );
    }

    /// `call caller cost` of one request.
    fn callers(lines: &[&str], calls: &BTreeSet<String>) -> Vec<String> {
        let found = per_request(&[&stacks(&[])], &[&stacks(lines)], 1).callers(calls);
        let text = |caller: &CallerCost| format!("{} {} {}", caller.syscall, caller.function, caller.cost);
        found.iter().map(text).collect()
    }

    #[test]
    fn a_call_by_number_is_the_only_one_that_no_function_is_named_after() {
        let lines = [
            "own:main;own:lock;std:wait;syscall 30",
            "own:main;poll_write;std:write;__GI___write 10",
            "own:main;grow;lll_lock_wait 5",
            "own:main;poll 955",
        ];
        let made = |calls: &[&str]| callers(&lines, &calls.iter().map(|&call| call.to_owned()).collect());
        let write = "write poll_write 10";
        assert_eq!(made(&["futex", "write"]), ["futex grow 5", "futex lock 30", write]);
        assert_eq!(made(&["gettid", "write"]), ["gettid lock 30", write]);
        // Of two, `syscall` may be either.
        assert_eq!(made(&["futex", "io_uring_enter", "write"]), ["futex grow 5", write]);
    }

    #[test]
    fn the_slope_of_a_stack_is_its_cost_per_request() {
        let few = [
            stacks(&["main 100", "main;work 50"]),
            stacks(&["main 104", "main;work 50"]),
        ];
        let many = [stacks(&["main;work 250", "main;+late 20", "main 90"])];
        let few: Vec<&Stacks> = few.iter().collect();
        let cost = per_request(&few, &[&many[0]], 20);
        assert_eq!(
            own(&cost, 9),
            [
                ("work".to_owned(), 10.0),
                ("late".to_owned(), 1.0),
                ("main".to_owned(), -0.6)
            ]
        );
        assert_eq!(own(&cost, 1), [("work".to_owned(), 10.0)]);
        assert!((cost.total() - 10.4).abs() < 1e-9);
        assert_eq!(cost.folded(), "main;late 1000\nmain;work 10000\n");
    }

    #[test]
    fn without_callers_functions_stand_below_their_packages() {
        let run = stacks(&["net/http.(*conn).serve;+net/http.trim 5", "main.render 7", "memcpy 1"]);
        let cost = per_request(&[&stacks(&[])], &[&run], 1);
        assert_eq!(
            cost.folded_by_package(),
            "main;main.render 7000\nmemcpy 1000\nnet/http;net/http.(*conn).serve;net/http.trim 5000\n"
        );
    }

    #[test]
    fn names_do_not_break_folded_lines_and_equal_ones_are_one() {
        let none = Stacks::new(Rule::Instructions);
        let mut stacks = stacks(&["main;work 1", "main;+work 2"]);
        let odd = stacks.frame(Frame {
            function: "a;b\nc".to_owned(),
            origin: Origin::Foreign,
            inlined: false,
        });
        stacks.add(&[odd], 1);
        let cost = per_request(&[&none], &[&stacks], 1);
        assert_eq!(cost.folded(), "a:b:c 1000\nmain;work 3000\n");
    }

    #[test]
    fn nothing_to_compare_is_nothing() {
        let some = stacks(&["main 5"]);
        assert!(per_request(&[], &[&some], 5).functions(5).is_empty());
        assert!(per_request(&[&some], &[], 5).functions(5).is_empty());
        assert_eq!(per_request(&[&some], &[&some], 0).folded(), "");
        assert_eq!(per_request(&[&some], &[&some], 7).functions(5), []);
    }

    proptest! {
        #[test]
        fn what_functions_are_blamed_for_adds_up(
            lines in vec((vec("\\+?(own:|std:|alloc:|)[a-d]", 0..6), 0u64..1000), 1..12),
        ) {
            let lines: Vec<String> = lines
                .into_iter()
                .map(|(inner, cost)| format!("own:main;{} {cost}", inner.join(";")).replace("; ", " "))
                .collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let cost = per_request(&[&stacks(&[])], &[&stacks(&lines)], 1);
            let functions = cost.functions(usize::MAX);
            let blamed: f64 = functions.iter().filter_map(|spent| spent.blamed).sum();
            prop_assert!((blamed - cost.total()).abs() < 1e-6);
            let own: f64 = functions.iter().map(|spent| spent.own).sum();
            prop_assert!((own - cost.total()).abs() < 1e-6);
        }

        #[test]
        fn functions_and_folded_stacks_add_up(few in 0u64..1000, work in 0u64..100, start in 0u64..1_000_000, more in 1u64..500) {
            let run = |n: u64| stacks(&[&format!("main {start}"), &format!("main;a;+b {}", n * work), &format!("main;a {}", n * 3)]);
            let cost = per_request(&[&run(few)], &[&run(few + more)], more);
            let exact = (work + 3) as f64;
            prop_assert!((cost.total() - exact).abs() < 1e-6);
            let functions: f64 = cost.functions(usize::MAX).iter().map(|spent| spent.own).sum();
            prop_assert!((functions - exact).abs() < 1e-6);
            let folded: f64 = cost.folded().lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum();
            prop_assert!((folded - exact * 1000.0).abs() <= 1.0);
        }
    }
}
