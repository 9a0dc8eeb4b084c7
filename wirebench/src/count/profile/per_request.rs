//! What one request costs, by call stack: the slope between short and long runs, so that start and stop cancel out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::count::profile::frame::Frame;
use crate::count::profile::owner::Rule;
use crate::count::profile::stacks::Stacks;

/// Costs per request by call stack.
#[derive(Debug, Clone)]
pub struct PerRequest {
    frames: Vec<Frame>,
    /// Outermost frame first; in units of 1 / `divisor` a request, so that sums are exact.
    stacks: HashMap<Box<[usize]>, i128>,
    divisor: f64,
    rule: Rule,
}

/// The mean of the long runs less the mean of the short ones, divided by the requests that the long ones had more, stack
/// by stack. A stack that a run has not seen cost it 0; noise may make a slope negative.
///
/// Nothing is left when there are no short runs, no long runs, or no more requests.
#[must_use]
pub fn per_request(few: &[&Stacks], many: &[&Stacks], more_requests: u64) -> PerRequest {
    let mut slopes = PerRequest {
        frames: Vec::new(),
        stacks: HashMap::new(),
        divisor: as_float(few.len() as i128 * many.len() as i128) * as_float(more_requests.into()),
        rule: many.first().map_or(Rule::Instructions, |stacks| stacks.rule()),
    };
    if slopes.divisor > 0.0 {
        let mut ids = HashMap::new();
        for stacks in few {
            slopes.add(stacks, -(many.len() as i128), &mut ids);
        }
        for stacks in many {
            slopes.add(stacks, few.len() as i128, &mut ids);
        }
    }
    slopes
}

impl PerRequest {
    fn add(&mut self, stacks: &Stacks, times: i128, ids: &mut HashMap<Frame, usize>) {
        let mut here = Vec::with_capacity(stacks.frames().len());
        for frame in stacks.frames() {
            here.push(*ids.entry(frame.clone()).or_insert(self.frames.len()));
            if ids.len() > self.frames.len() {
                self.frames.push(frame.clone());
            }
        }
        for (stack, cost) in stacks.by_id() {
            let stack: Box<[usize]> = stack.iter().map(|id| here[id.0 as usize]).collect();
            *self.stacks.entry(stack).or_insert(0) += i128::from(cost) * times;
        }
    }

    /// The whole cost of a request.
    #[must_use]
    pub fn total(&self) -> f64 {
        as_float(self.stacks.values().sum()) / self.divisor.max(1.0)
    }

    /// What functions cost by themselves, without what they call, the most expensive first whatever its sign, `at_most` so
    /// many. Functions without a slope are left out.
    #[must_use]
    pub fn functions(&self, at_most: usize) -> Vec<(String, f64)> {
        let mut by_name: BTreeMap<&str, i128> = BTreeMap::new();
        for (stack, cost) in &self.stacks {
            let frames: Vec<&Frame> = stack.iter().map(|&at| &self.frames[at]).collect();
            let name = frames.get(self.rule.owner(&frames)).map_or("", |frame| &frame.function);
            *by_name.entry(name).or_insert(0) += cost;
        }
        let mut functions: Vec<(&str, i128)> = by_name.into_iter().filter(|(_, cost)| *cost != 0).collect();
        functions.sort_by_key(|(_, cost)| Reverse(cost.abs()));
        functions.truncate(at_most);
        let figure = |(name, cost): (&str, i128)| (name.to_owned(), as_float(cost) / self.divisor);
        functions.into_iter().map(figure).collect()
    }

    /// One line a stack, `outermost;…;innermost 123`, sorted: what flame graphs are drawn from. The number is the cost of
    /// 1,000 requests in whole units; stacks that round to 0 or less are left out.
    #[must_use]
    pub fn folded(&self) -> String {
        let mut lines: BTreeMap<String, i128> = BTreeMap::new();
        for (stack, cost) in &self.stacks {
            let names: Vec<String> = stack.iter().map(|&at| folded_name(&self.frames[at].function)).collect();
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
fn folded_name(name: &str) -> String {
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
    use proptest::prelude::{prop_assert, proptest};

    use super::per_request;
    use crate::count::profile::frame::{Frame, Origin};
    use crate::count::profile::owner::Rule;
    use crate::count::profile::stacks::Stacks;

    /// Stacks said as `main;work 12` with `+` before what was inlined.
    fn stacks(lines: &[&str]) -> Stacks {
        let mut stacks = Stacks::new(Rule::Instructions);
        for line in lines {
            let (names, cost) = line.rsplit_once(' ').unwrap();
            let stack: Vec<_> = names
                .split(';')
                .map(|name| {
                    let bare = name.trim_start_matches('+');
                    stacks.frame(Frame {
                        function: bare.to_owned(),
                        origin: Origin::Own,
                        inlined: bare.len() < name.len(),
                    })
                })
                .collect();
            stacks.add(&stack, cost.parse().unwrap());
        }
        stacks
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
            cost.functions(9),
            [
                ("work".to_owned(), 10.0),
                ("late".to_owned(), 1.0),
                ("main".to_owned(), -0.6)
            ]
        );
        assert_eq!(cost.functions(1), [("work".to_owned(), 10.0)]);
        assert!((cost.total() - 10.4).abs() < 1e-9);
        assert_eq!(cost.folded(), "main;late 1000\nmain;work 10000\n");
    }

    #[test]
    fn names_do_not_break_folded_lines_and_equal_ones_are_one() {
        let none = Stacks::new(Rule::Instructions);
        let mut stacks = stacks(&["main;work 1", "main;+work 2"]);
        let odd = stacks.frame(Frame {
            function: "a;b\nc".to_owned(),
            origin: Origin::Own,
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
        fn functions_and_folded_stacks_add_up(few in 0u64..1000, work in 0u64..100, start in 0u64..1_000_000, more in 1u64..500) {
            let run = |n: u64| stacks(&[&format!("main {start}"), &format!("main;a;+b {}", n * work), &format!("main;a {}", n * 3)]);
            let cost = per_request(&[&run(few)], &[&run(few + more)], more);
            let exact = (work + 3) as f64;
            prop_assert!((cost.total() - exact).abs() < 1e-6);
            let functions: f64 = cost.functions(usize::MAX).iter().map(|(_, slope)| slope).sum();
            prop_assert!((functions - exact).abs() < 1e-6);
            let folded: f64 = cost.folded().lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum();
            prop_assert!((folded - exact * 1000.0).abs() <= 1.0);
        }
    }
}
