//! Costs by call stack, whose frames are stored once each, and by function and line of the project's own sources.

use std::collections::HashMap;

use crate::count::profile::frame::{Frame, Rule};
use wirebench_record::counts::Source;

/// A frame of one [`Stacks`]; it has no meaning in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(pub(super) u32);

/// Costs by call stack, outermost function first. A run has some 10,000 stacks of some 50 frames.
#[derive(Debug, Clone)]
pub struct Stacks {
    rule: Rule,
    frames: Vec<Frame>,
    ids: HashMap<Frame, FrameId>,
    /// Differences between runs may be negative.
    costs: HashMap<Box<[FrameId]>, i128>,
}

impl Stacks {
    /// An empty collection; `rule` decides which frame a cost belongs to.
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            frames: Vec::new(),
            ids: HashMap::new(),
            costs: HashMap::new(),
        }
    }

    /// The id of a frame, the same for equal ones.
    pub fn frame(&mut self, frame: Frame) -> FrameId {
        if let Some(&id) = self.ids.get(&frame) {
            return id;
        }
        let id = FrameId(u32::try_from(self.frames.len()).expect("a profile has fewer than 2^32 functions"));
        self.frames.push(frame.clone());
        self.ids.insert(frame, id);
        id
    }

    /// Adds a cost to a stack, outermost frame first, of ids from [`Self::frame`].
    pub fn add(&mut self, stack: &[FrameId], cost: i128) {
        match self.costs.get_mut(stack) {
            Some(sum) => *sum += cost,
            None => {
                self.costs.insert(stack.into(), cost);
            }
        }
    }

    /// The costs so far, which are taken out: frames keep their ids in both.
    pub fn take(&mut self) -> Self {
        let costs = std::mem::take(&mut self.costs);
        Self { costs, ..self.clone() }
    }

    /// Adds so many times the cost of every stack of another run, or of another process of the same run.
    pub fn absorb(&mut self, other: &Self, times: i128) {
        let ids: Vec<FrameId> = other.frames.iter().map(|frame| self.frame(frame.clone())).collect();
        for (stack, cost) in &other.costs {
            let stack: Vec<FrameId> = stack.iter().map(|id| ids[id.0 as usize]).collect();
            self.add(&stack, cost * times);
        }
    }

    /// The sum over all stacks.
    pub fn total(&self) -> i128 {
        self.costs.values().sum()
    }

    /// Every stack, outermost frame first, with its cost; in no order.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<&Frame>, i128)> {
        let named = |stack: &[FrameId]| stack.iter().map(|id| &self.frames[id.0 as usize]).collect();
        self.costs.iter().map(move |(stack, cost)| (named(stack), *cost))
    }

    pub(super) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    pub(super) fn rule(&self) -> Rule {
        self.rule
    }
}

/// The cost of one run in one metric.
#[derive(Debug, Clone)]
pub struct RunCost {
    /// The whole cost.
    pub total: u64,
    /// The same by call stack.
    pub stacks: Stacks,
    /// The same by function and line of the project's own sources, charged to the innermost function of the project's.
    lines: HashMap<(String, Source), u64>,
}

impl RunCost {
    pub(super) fn new(stacks: Stacks, total: u64) -> Self {
        Self {
            total,
            stacks,
            lines: HashMap::new(),
        }
    }

    /// Adds a cost that a function has on a line.
    pub(super) fn add_line(&mut self, function: &str, source: &Source, cost: u64) {
        let sum = self.lines.entry((function.to_owned(), source.clone())).or_insert(0);
        *sum = sum.saturating_add(cost);
    }

    /// Adds the costs of another process of the same run.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.total = self.total.saturating_add(other.total);
        self.stacks.absorb(&other.stacks, 1);
        for ((function, source), cost) in &other.lines {
            self.add_line(function, source, *cost);
        }
    }
}

/// The line of each function that costs most per request: the slope between short and long runs, so that start and stop
/// cancel out. Functions whose cost does not grow with requests are left out.
pub fn dearest_lines(few: &[&RunCost], many: &[&RunCost]) -> HashMap<String, Source> {
    let mut slopes: HashMap<(&str, &Source), i128> = HashMap::new();
    for (runs, times) in [(few, -(many.len() as i128)), (many, few.len() as i128)] {
        for ((function, source), cost) in runs.iter().flat_map(|run| &run.lines) {
            *slopes.entry((function, source)).or_insert(0) += i128::from(*cost) * times;
        }
    }
    let mut most: HashMap<&str, (i128, &Source)> = HashMap::new();
    for ((function, source), slope) in slopes.into_iter().filter(|(_, slope)| *slope > 0) {
        let place = |source: &Source| (source.file.clone(), source.line);
        let most = most.entry(function).or_insert((slope, source));
        // Of equal lines the first, so that the same runs give the same result.
        if slope > most.0 || (slope == most.0 && place(source) < place(most.1)) {
            *most = (slope, source);
        }
    }
    let named = |(function, (_, source)): (&str, (i128, &Source))| (function.to_owned(), source.clone());
    most.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::Stacks;
    use crate::count::profile::frame::Rule;
    use crate::count::profile::frame::{Frame, Origin};

    #[test]
    fn equal_stacks_are_one_and_their_costs_add_up() {
        let mut stacks = Stacks::new(Rule::Instructions);
        let frame = |function: &str| Frame {
            function: function.to_owned(),
            origin: Origin::Foreign,
            inlined: false,
        };
        let (main, work) = (stacks.frame(frame("main")), stacks.frame(frame("work")));
        assert_eq!(stacks.frame(frame("main")), main);
        stacks.add(&[main, work], 3);
        stacks.add(&[main], 1);
        stacks.add(&[main, work], 4);
        assert_eq!((stacks.costs.len(), stacks.total()), (2, 8));
        let deepest = stacks.iter().find(|(stack, _)| stack.len() == 2).unwrap();
        assert_eq!((deepest.0[1].function.as_str(), deepest.1), ("work", 7));
        stacks.add(&[main], u64::MAX.into());
        assert_eq!(stacks.total(), i128::from(u64::MAX) + 8);
    }
}

#[cfg(test)]
mod lines_tests {
    use super::*;
    use crate::count::profile::frame::Rule;

    /// Lines given as `function file:line cost`.
    fn lines(given: &[&str]) -> RunCost {
        let mut lines = RunCost::new(Stacks::new(Rule::Instructions), 0);
        for line in given {
            let words: Vec<&str> = line.split(' ').collect();
            let (file, number) = words[1].split_once(':').unwrap();
            let source = Source::at(file, number.parse().unwrap());
            lines.add_line(words[0], &source, words[2].parse().unwrap());
        }
        lines
    }

    fn place(found: &HashMap<String, Source>, function: &str) -> Option<String> {
        found
            .get(function)
            .map(|source| format!("{}:{}", source.file, source.line))
    }

    #[test]
    fn the_line_that_requests_make_dear_counts_not_that_of_the_start() {
        let run = |n: u64| {
            lines(&[
                "work a.rs:1 90000",
                &format!("work a.rs:7 {}", n * 10),
                &format!("work a.rs:8 {}", n * 9),
                "main a.rs:2 5",
            ])
        };
        let (few, many) = (run(100), run(400));
        let found = dearest_lines(&[&few, &few], &[&many]);
        assert_eq!(place(&found, "work").as_deref(), Some("a.rs:7"));
        assert_eq!(place(&found, "main"), None);
        assert!(dearest_lines(&[], &[&many]).is_empty() && dearest_lines(&[&few], &[]).is_empty());
    }

    #[test]
    fn of_equal_lines_the_first_is_named() {
        let many = lines(&["work b.rs:9 5", "work a.rs:10 5", "work a.rs:9 5"]);
        let found = dearest_lines(&[&lines(&[])], &[&many]);
        assert_eq!(place(&found, "work").as_deref(), Some("a.rs:9"));
    }

    #[test]
    fn processes_of_one_run_add_up() {
        let mut one = lines(&["work a.rs:1 5", "work a.rs:2 4"]);
        one.absorb(&lines(&["work a.rs:2 4"]));
        assert_eq!(
            place(&dearest_lines(&[&lines(&[])], &[&one]), "work").as_deref(),
            Some("a.rs:2")
        );
        assert_eq!(one.lines.values().max(), Some(&8));
    }
}
