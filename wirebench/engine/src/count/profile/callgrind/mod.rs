//! Reads the output of `valgrind --tool=callgrind --dump-instr=yes --separate-callers=N`: instructions by call stack.
//!
//! Callgrind writes every function once per calling context, so own costs by whole stack of physical functions are read off.
//! Inlined functions are in the program's line tables only: each address of the server's own files is looked up there. At
//! the innermost function the whole chain is shown; at its callers, the project's own functions that were inlined around the
//! call. A context that is called from several places has its cost divided by what the calls from each of them cost.

mod callers;
mod context;
mod format;
mod object;
mod resolver;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use crate::count::profile::callgrind::resolver::Resolver;
use crate::count::profile::error::{ProfileError, text_of};
use crate::count::profile::lines::Lines;
use crate::count::profile::stacks::Stacks;
use crate::count::profile::tree::Tree;

/// The instructions of one run.
#[derive(Debug, Clone)]
pub struct Instructions {
    /// All instructions that callgrind counted.
    pub total: u64,
    /// The same by call stack.
    pub stacks: Stacks,
    /// How often each of the project's own functions was called. One that is inlined everywhere has no calls of its own.
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
            let held = self.calls.entry(function).or_insert(0);
            *held = held.saturating_add(times);
        }
        self.remarks.extend(other.remarks);
    }
}

/// Reads a file, and the line tables of the programs that it names, where they are still in their places. `tree` says which
/// sources are the project's own.
///
/// # Errors
/// A file that cannot be read, that is not callgrind's, was written without `--dump-instr=yes`, or was cut off.
pub fn read(file: &Path, tree: &Tree) -> Result<Instructions, ProfileError> {
    let text = text_of(file)?;
    Ok(Resolver::new(format::parse(file, &text)?, tree).resolved())
}

/// Reads only how many instructions a run took in all: the sum over every part of the file.
///
/// # Errors
/// A file that cannot be read, is not callgrind's, or was cut off.
pub fn total(file: &Path) -> Result<u64, ProfileError> {
    let text = text_of(file)?;
    let totals = text.lines().filter_map(|line| line.strip_prefix("totals:"));
    let sum = totals
        .map(|number| number.trim().parse::<u64>().ok())
        .try_fold(0, |sum: u64, number| Some(sum.saturating_add(number?)));
    match sum {
        Some(sum) if sum > 0 => Ok(sum),
        _ => Err(ProfileError::Whole {
            file: file.to_owned(),
            wrong: "has no `totals:` line: valgrind was killed while writing; stop the server with SIGINT or SIGTERM and wait"
                .into(),
        }),
    }
}
