//! What a tool counted in one server run, read from the files that it wrote.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::count::profile::callgrind::{self, Instructions, Totals};
use crate::count::profile::dhat::{self, Allocated};
use crate::count::profile::{Tree, strace};
use crate::count::server_run::PlainFacts;
use crate::count::tool::Tool;
use crate::count::work::FunctionCounts;
use wirebench_declare::runtime::UnderCallgrind;

/// What was counted in one server run: each tool fills its own fields.
#[derive(Debug, Default)]
pub struct ToolOutput {
    /// Without a tool: facts about the server.
    pub plain: Option<PlainFacts>,
    /// What the project's functions do.
    pub work: Option<FunctionCounts>,
    /// System calls by name.
    pub syscalls: Option<BTreeMap<String, u64>>,
    /// Heap allocations.
    pub heap: Option<Allocated>,
    /// Instructions, by call stack.
    pub code: Option<Instructions>,
    /// Instructions of the whole run, and its allocations if callgrind sees them.
    pub totals: Option<Totals>,
}

impl ToolOutput {
    /// Reads the files of a tool, one for each process of the server. `tree` says which sources are the project's own,
    /// `runtime` which functions are left out.
    pub(super) fn read(
        tool: Tool,
        stacks: bool,
        files: &[PathBuf],
        tree: &Tree,
        runtime: Option<&UnderCallgrind>,
    ) -> Result<Self, String> {
        let files = files.iter();
        let mut output = Self::default();
        match tool {
            Tool::Plain | Tool::Runtime => return Err(no_counts(tool)),
            Tool::Strace => output.syscalls = Some(sum(tool, files.map(|file| strace::read(file)), add_calls)?),
            Tool::Dhat => {
                let read = files.map(|file| dhat::read(file, tree));
                output.heap = Some(sum(tool, read, |sum: &mut Allocated, one| sum.absorb(&one))?);
            }
            Tool::Callgrind if stacks => {
                let read = files.map(|file| callgrind::read(file, tree, runtime));
                let code = sum(tool, read, Instructions::absorb)?;
                output.totals = Some(code.totals());
                output.code = Some(code);
            }
            Tool::Callgrind => {
                let read = files.map(|file| callgrind::totals(file, runtime));
                output.totals = Some(sum(tool, read, Totals::absorb)?);
            }
        }
        Ok(output)
    }
}

pub(super) fn no_counts(tool: Tool) -> String {
    format!("{} wrote no counts", tool.name())
}

fn sum<T>(tool: Tool, all: impl Iterator<Item = Result<T, String>>, absorb: fn(&mut T, T)) -> Result<T, String> {
    let all: Vec<T> = all.collect::<Result<_, _>>()?;
    let sum = all.into_iter().reduce(|mut sum, one| {
        absorb(&mut sum, one);
        sum
    });
    sum.ok_or_else(|| no_counts(tool))
}

fn add_calls(sum: &mut BTreeMap<String, u64>, calls: BTreeMap<String, u64>) {
    for (name, count) in calls {
        *sum.entry(name).or_default() += count;
    }
}
