//! Own costs by function and line of the project's own sources, and the line that most of a function's cost lies on.

use std::collections::HashMap;

use crate::count::profile::stacks::Stacks;
use wirebench_record::counts::Source;

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
pub fn most(few: &[&RunCost], many: &[&RunCost]) -> HashMap<String, Source> {
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
        let found = most(&[&few, &few], &[&many]);
        assert_eq!(place(&found, "work").as_deref(), Some("a.rs:7"));
        assert_eq!(place(&found, "main"), None);
        assert!(most(&[], &[&many]).is_empty() && most(&[&few], &[]).is_empty());
    }

    #[test]
    fn of_equal_lines_the_first_is_named() {
        let many = lines(&["work b.rs:9 5", "work a.rs:10 5", "work a.rs:9 5"]);
        let found = most(&[&lines(&[])], &[&many]);
        assert_eq!(place(&found, "work").as_deref(), Some("a.rs:9"));
    }

    #[test]
    fn processes_of_one_run_add_up() {
        let mut one = lines(&["work a.rs:1 5", "work a.rs:2 4"]);
        one.absorb(&lines(&["work a.rs:2 4"]));
        assert_eq!(place(&most(&[&lines(&[])], &[&one]), "work").as_deref(), Some("a.rs:2"));
        assert_eq!(one.lines.values().max(), Some(&8));
    }
}
