//! Reads the output of `valgrind --tool=callgrind --dump-instr=yes --separate-callers=N`: instructions by call stack.
//!
//! Callgrind writes every function once per calling context, so own costs by whole stack of physical functions are read off.
//! Inlined functions are in the program's line tables only: each address of the server's own files is looked up there. At
//! the innermost function the whole chain is shown; at its callers, the project's own functions that were inlined around the
//! call. The cost of a context that is called from several places is split in proportion to the cost of the calls from each.

mod call_paths;
mod format;
mod functions;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;

use crate::count::profile::callgrind::call_paths::{CallPaths, split};
use crate::count::profile::callgrind::format::{Call, Context, Cost, Costs, sum_of};
use crate::count::profile::callgrind::functions::{AddressFunctions, Blamed, Functions};
use crate::count::profile::error::text_of;
use crate::count::profile::frame::Rule;
use crate::count::profile::names;
use crate::count::profile::stacks::{FrameId, RunCost};
use crate::count::profile::tree::Tree;
use wirebench_declare::runtime::UnderCallgrind;
use wirebench_record::counts::Source;

/// What one run did in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Instructions.
    pub instructions: u64,
    /// Heap allocations, if the runtime says which functions make them.
    pub allocations: Option<u64>,
}

impl Totals {
    /// Adds the totals of another process of the same run.
    pub fn absorb(&mut self, other: Self) {
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.allocations = self
            .allocations
            .zip(other.allocations)
            .map(|(one, other)| one.saturating_add(other));
    }
}

/// The instructions of one run.
#[derive(Debug, Clone)]
pub struct Instructions {
    /// All instructions that callgrind counted.
    pub cost: RunCost,
    /// Heap allocations, if the runtime says which functions make them.
    pub allocations: Option<RunCost>,
    /// Calls of each of the project's own functions. A function that is inlined everywhere has none.
    pub calls: BTreeMap<String, u64>,
    /// Remarks on the names, one sentence each.
    pub remarks: Vec<String>,
}

impl Instructions {
    /// What the run did in all.
    pub fn totals(&self) -> Totals {
        Totals {
            instructions: self.cost.total,
            allocations: self.allocations.as_ref().map(|cost| cost.total),
        }
    }

    /// Adds the costs of another process of the same run.
    pub fn absorb(&mut self, other: Self) {
        self.cost.absorb(&other.cost);
        let both = self.allocations.take().zip(other.allocations);
        self.allocations = both.map(|(mut one, other)| {
            one.absorb(&other);
            one
        });
        for (function, times) in other.calls {
            let sum = self.calls.entry(function).or_insert(0);
            *sum = sum.saturating_add(times);
        }
        self.remarks.extend(other.remarks);
    }
}

/// Reads a file, and the line tables of the programs that it names, if they still exist. `tree` says which
/// sources are the project's own, `runtime` which functions are left out.
///
/// # Errors
/// A file that cannot be read, that is not callgrind's, was written without `--dump-instr=yes`, or was cut off.
pub fn read(file: &Path, tree: &Tree, runtime: Option<&UnderCallgrind>) -> Result<Instructions, String> {
    let text = text_of(file)?;
    Ok(resolve(parse(file, &text, runtime)?, tree))
}

fn parse<'a>(file: &Path, text: &'a str, runtime: Option<&UnderCallgrind>) -> Result<Costs<'a>, String> {
    let mut costs = format::parse(file, text)?;
    if let Some(runtime) = runtime {
        costs.allocations = call_paths::find_allocations(&costs, runtime);
        costs.leave_out(|function| runtime.leaves_out(function));
    }
    Ok(costs)
}

/// Reads only what a run did in all: the sum over every part of the file, without the instructions of functions that `runtime` leaves
/// out.
///
/// # Errors
/// A file that cannot be read, is not callgrind's, or was cut off; with a runtime, one written without `--dump-instr=yes`.
pub fn totals(file: &Path, runtime: Option<&UnderCallgrind>) -> Result<Totals, String> {
    let text = text_of(file)?;
    if runtime.is_some() {
        let costs = parse(file, &text, runtime)?;
        return Ok(Totals {
            instructions: costs.total,
            allocations: Some(costs.allocated()).filter(|count| *count > 0),
        });
    }
    let totals = text.lines().filter_map(|line| line.strip_prefix("totals:"));
    let sum = totals
        .map(|number| number.trim().parse::<u64>().ok())
        .try_fold(0, |sum: u64, number| Some(sum.saturating_add(number?)));
    match sum {
        Some(sum) if sum > 0 => Ok(Totals {
            instructions: sum,
            allocations: None,
        }),
        _ => Err(format!(
            "{}: has no `totals:` line: valgrind was killed while writing; stop the server with SIGINT or SIGTERM and wait",
            file.display()
        )),
    }
}

/// Resolves the costs of one file. `tree` says which sources are the project's own.
fn resolve(read: Costs, tree: &Tree) -> Instructions {
    let Costs {
        contexts,
        costs,
        calls,
        total,
        allocations,
        mixes_up_callers,
    } = read;
    let rule = if mixes_up_callers {
        Rule::OwnInstructions
    } else {
        Rule::Instructions
    };
    let mut functions = Functions::new(contexts, &costs, tree, rule);
    let mut call_paths = CallPaths::new(&calls);
    let mut cost = run_cost(&costs, &mut functions, &mut call_paths);
    let remarks = remarks(&functions, &cost, total);
    cost.total = total;
    Instructions {
        calls: times_called(&calls, &mut functions),
        remarks,
        allocations: (!allocations.is_empty()).then(|| run_cost(&allocations, &mut functions, &mut call_paths)),
        cost,
    }
}

/// Costs by call stack and by line.
fn run_cost(costs: &[Cost], functions: &mut Functions, call_paths: &mut CallPaths) -> RunCost {
    let mut by_line: HashMap<(FrameId, Rc<Source>), u64> = HashMap::new();
    for ((context, inlined, blamed), cost) in by_functions(costs, functions) {
        let physical = functions.innermost(context);
        let paths = call_paths.of(context, functions);
        for (path, cost) in split(cost, &paths, |path| path.share) {
            let mut stack = path.stack.clone();
            stack.extend(physical);
            stack.extend_from_slice(&inlined);
            functions.stacks.add(&stack, cost.into());
            if let Some((function, Some(source))) = blamed.clone().or_else(|| path.blamed.clone()) {
                let sum = by_line.entry((function, source)).or_insert(0);
                *sum = sum.saturating_add(cost);
            }
        }
    }
    let mut cost = RunCost::new(functions.stacks.take(), sum_of(costs));
    for ((function, source), amount) in by_line {
        cost.add_line(functions.name(function), &source, amount);
    }
    cost
}

/// Own costs by context, by inlined functions, and by the function to blame.
fn by_functions(costs: &[Cost], functions: &mut Functions) -> HashMap<(usize, Rc<[FrameId]>, Blamed), u64> {
    let mut sums = HashMap::new();
    for cost in costs {
        let Context { text, object } = functions.contexts[cost.context];
        let object = functions.object(object);
        let unnamed = names::is_address(text.split('\'').next().unwrap_or(""));
        functions.objects[object].spent(cost.amount, unnamed);
        let AddressFunctions { inlined, blamed, .. } = functions.functions_at(object, cost.address);
        let sum = sums.entry((cost.context, inlined, blamed)).or_insert(0u64);
        *sum = sum.saturating_add(cost.amount);
    }
    sums
}

/// The number of calls of each of the project's functions, its copies together.
fn times_called(calls: &[Call], functions: &mut Functions) -> BTreeMap<String, u64> {
    let mut times = BTreeMap::new();
    for call in calls {
        if let Some(id) = functions.innermost(call.callee).filter(|id| functions.is_own(*id)) {
            let sum = times.entry(functions.name(id).to_owned()).or_insert(0u64);
            *sum = sum.saturating_add(call.times);
        }
    }
    times
}

fn remarks(functions: &Functions, cost: &RunCost, total: u64) -> Vec<String> {
    let objects = functions.objects.iter();
    let mut remarks: Vec<String> = objects.filter_map(|object| object.remark(total)).collect();
    let sum = cost.stacks.total();
    if sum != total.into() {
        remarks.push(format!(
            "the functions add up to {sum} instructions, callgrind counted {total}"
        ));
    }
    remarks
}
