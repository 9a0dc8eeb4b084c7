//! The instructions of one run.

use std::collections::BTreeMap;

use crate::count::profile::lines::Lines;
use crate::count::profile::stacks::Stacks;

/// The instructions of one run.
#[derive(Debug, Clone)]
pub struct Instructions {
    /// All instructions that callgrind counted.
    pub total: u64,
    /// The same by call stack.
    pub stacks: Stacks,
    /// Calls of each of the project's own functions. A function that is inlined everywhere has none.
    pub calls: BTreeMap<String, u64>,
    /// Costs by line of the project's own sources, charged to the innermost function of the project's.
    pub lines: Lines,
    /// Remarks on the names, one sentence each.
    pub remarks: Vec<String>,
}

impl Instructions {
    /// Adds the costs of another process of the same run.
    pub fn absorb(&mut self, other: Self) {
        self.total = self.total.saturating_add(other.total);
        self.stacks.absorb(&other.stacks);
        self.lines.absorb(&other.lines);
        for (function, times) in other.calls {
            let sum = self.calls.entry(function).or_insert(0);
            *sum = sum.saturating_add(times);
        }
        self.remarks.extend(other.remarks);
    }
}
