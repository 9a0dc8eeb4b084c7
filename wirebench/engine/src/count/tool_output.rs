//! What a tool counted in one server run, read from the files that it wrote.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::count::profile::callgrind::{self, Instructions};
use crate::count::profile::dhat::{self, Allocated};
use crate::count::profile::{ProfileError, Tree, strace};
use crate::count::server_run::PlainFacts;
use crate::count::tool::Tool;
use crate::count::work::FunctionCounts;
use wirebench_declare::runtime::UnderCallgrind;

/// What a tool counted in one server run.
#[derive(Debug)]
pub enum ToolOutput {
    /// A run without a tool: facts about the server.
    Plain(PlainFacts),
    /// What the project's functions do.
    Work(FunctionCounts),
    /// System calls by name.
    Syscalls(BTreeMap<String, u64>),
    /// Heap allocations.
    Heap(Allocated),
    /// Instructions, by call stack.
    Code(Instructions),
    /// Instructions of the whole run, without call stacks.
    Total(u64),
}

impl ToolOutput {
    /// The system calls, if they were counted.
    #[must_use]
    pub fn syscalls(&self) -> Option<&BTreeMap<String, u64>> {
        match self {
            Self::Syscalls(calls) => Some(calls),
            _ => None,
        }
    }

    /// What the project's functions do, if it was counted.
    #[must_use]
    pub fn work(&self) -> Option<&FunctionCounts> {
        match self {
            Self::Work(work) => Some(work),
            _ => None,
        }
    }

    /// The heap allocations, if they were counted.
    #[must_use]
    pub fn heap(&self) -> Option<&Allocated> {
        match self {
            Self::Heap(heap) => Some(heap),
            _ => None,
        }
    }

    /// The instructions by call stack, if they were counted.
    #[must_use]
    pub fn code(&self) -> Option<&Instructions> {
        match self {
            Self::Code(code) => Some(code),
            _ => None,
        }
    }

    /// Reads the files of a tool, one for each process of the server; `None` if the tool wrote none. `tree` says which sources
    /// are the project's own, `runtime` which functions are left out.
    pub(super) fn read(
        tool: Tool,
        stacks: bool,
        files: &[PathBuf],
        tree: &Tree,
        runtime: Option<&UnderCallgrind>,
    ) -> Result<Option<Self>, ProfileError> {
        let files = files.iter();
        Ok(match tool {
            Tool::Plain | Tool::Runtime => None,
            Tool::Strace => sum(files.map(|file| strace::read(file)), add_calls)?.map(Self::Syscalls),
            Tool::Dhat => sum(files.map(|file| dhat::read(file, tree)), Allocated::absorb)?.map(Self::Heap),
            Tool::Callgrind if stacks => sum(
                files.map(|file| callgrind::read(file, tree, runtime)),
                Instructions::absorb,
            )?
            .map(Self::Code),
            Tool::Callgrind => {
                let add = |sum: &mut u64, one| *sum += one;
                sum(files.map(|file| callgrind::total(file, runtime)), add)?.map(Self::Total)
            }
        })
    }
}

/// The sum over all processes of one run; `None` without processes.
fn sum<T>(
    all: impl Iterator<Item = Result<T, ProfileError>>,
    absorb: fn(&mut T, T),
) -> Result<Option<T>, ProfileError> {
    let all: Vec<T> = all.collect::<Result<_, _>>()?;
    Ok(all.into_iter().reduce(|mut sum, one| {
        absorb(&mut sum, one);
        sum
    }))
}

fn add_calls(sum: &mut BTreeMap<String, u64>, calls: BTreeMap<String, u64>) {
    for (name, count) in calls {
        *sum.entry(name).or_default() += count;
    }
}
