//! The tools under which a server is run to be counted, and what they counted in one server run, read from the files that they wrote.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::count::profile::callgrind::{self, Instructions, Totals};
use crate::count::profile::dhat::{self, Allocated};
use crate::count::profile::{Tree, perf_stat, strace};
use crate::count::server_run::PlainFacts;
use crate::count::work::FunctionCounts;
use crate::measure::tools;
use wirebench_declare::runtime::UnderCallgrind;

/// How many callers of a function are kept.
const CALLERS: u32 = 40;

/// What callgrind keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The instructions of the whole run.
    Total,
    /// The instructions of each function.
    Functions,
    /// The instructions of each function by its callers, which takes time.
    Stacks,
}

/// The tool under which a server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// No tool: only the relay counts.
    Plain,
    /// The language's own runtime: what the project's functions do.
    Runtime,
    /// The processor's counter of instructions, for programs that callgrind does not count.
    PerfStat,
    /// strace: system calls by name.
    Strace,
    /// valgrind's DHAT: heap allocations.
    Dhat,
    /// valgrind's callgrind: instructions.
    Callgrind,
}

impl Tool {
    /// Every tool, the quickest first.
    pub const ALL: [Self; 6] = [
        Self::Plain,
        Self::Runtime,
        Self::PerfStat,
        Self::Strace,
        Self::Dhat,
        Self::Callgrind,
    ];

    /// Its name in folders and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Runtime => "runtime",
            Self::PerfStat => "perf-stat",
            Self::Strace => "strace",
            Self::Dhat => "dhat",
            Self::Callgrind => "callgrind",
        }
    }

    /// True for valgrind's tools, which run the program at a fiftieth of its speed.
    pub const fn is_valgrind(self) -> bool {
        matches!(self, Self::Dhat | Self::Callgrind)
    }

    /// The program that must be installed; `None` for a run that needs none.
    pub const fn program(self) -> Option<&'static str> {
        match self {
            Self::Plain | Self::Runtime => None,
            Self::PerfStat => Some("perf"),
            Self::Strace => Some("strace"),
            Self::Dhat | Self::Callgrind => Some("valgrind"),
        }
    }

    /// By what factor the time is longer in which a server must get ready.
    pub const fn ready_factor(self) -> u32 {
        match self {
            Self::Plain | Self::PerfStat => 1,
            Self::Runtime | Self::Strace => 4,
            Self::Dhat | Self::Callgrind => 8,
        }
    }

    /// The words before a server's command. Counts are written to `folder`, one file for each process.
    fn prefix(self, program: &Path, folder: &Path, detail: Detail) -> Vec<String> {
        let path = |path: PathBuf| path.to_string_lossy().into_owned();
        let mut words = vec![path(program.to_path_buf())];
        let file = path(folder.join(self.name()));
        match self {
            Self::Plain | Self::Runtime => {}
            Self::PerfStat => {
                let arguments = perf_stat::ARGUMENTS.map(str::to_owned).into_iter();
                words.extend(arguments.chain([file, "--".into()]));
            }
            Self::Strace => words.extend(["-c", "-f", "-q", "-o"].map(str::to_owned).into_iter().chain([file])),
            Self::Dhat => words.extend([
                "--tool=dhat".into(),
                "--trace-children=yes".into(),
                format!("--num-callers={CALLERS}"),
                format!("--dhat-out-file={file}.%p"),
            ]),
            // The own cost of each calling context and instruction address, for call stacks with inlined functions.
            Self::Callgrind => {
                words.extend([
                    "--tool=callgrind".into(),
                    "--trace-children=yes".into(),
                    format!("--callgrind-out-file={file}.%p"),
                ]);
                if detail != Detail::Total {
                    words.push("--dump-instr=yes".into());
                }
                if detail == Detail::Stacks {
                    words.push(format!("--separate-callers={CALLERS}"));
                }
            }
        }
        words
    }
}

/// The tools that can be used on this machine.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    /// The program of each tool, with its path.
    pub installed: Vec<(&'static str, PathBuf)>,
    /// Why the processor's counter cannot be used; `None` if it can.
    pub without_counter: Option<String>,
}

impl Toolbox {
    /// Looks for every tool, in the project's tool folder and on PATH.
    pub fn look(root: &Path) -> Self {
        let located = |program| Some((program, tools::locate(root, program)?));
        let mut installed: Vec<_> = ["strace", "valgrind"].into_iter().filter_map(located).collect();
        let counter = located("perf").ok_or_else(|| "perf is not installed".to_owned());
        let counter = counter.and_then(|perf| perf_stat::probe(&perf.1).map(|()| perf));
        let without_counter = counter.as_ref().err().cloned();
        installed.extend(counter);
        Self {
            installed,
            without_counter,
        }
    }

    /// The path of a tool's program; `None` if it is missing or the tool has none.
    fn program(&self, tool: Tool) -> Option<&Path> {
        let wanted = tool.program()?;
        self.installed
            .iter()
            .find(|(program, _)| *program == wanted)
            .map(|(_, path)| &**path)
    }

    /// Whether a tool can be used.
    pub fn has(&self, tool: Tool) -> bool {
        tool.program().is_none() || self.program(tool).is_some()
    }

    /// The programs that are missing, each with the metrics that need it.
    pub fn missing(&self) -> Vec<(&'static str, &'static str)> {
        let all = [("strace", "system calls"), ("valgrind", "instructions and allocations")];
        all.into_iter()
            .filter(|(program, _)| self.installed.iter().all(|(found, _)| found != program))
            .collect()
    }

    /// The command that runs a server's command under a tool.
    pub fn wrap(&self, tool: Tool, command: &[String], folder: &Path, detail: Detail) -> Vec<String> {
        let prefix = self.program(tool).map(|program| tool.prefix(program, folder, detail));
        prefix.into_iter().flatten().chain(command.iter().cloned()).collect()
    }
}

/// The files that a tool wrote into a folder.
pub fn written(tool: Tool, folder: &Path) -> Vec<PathBuf> {
    let ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name == tool.name() || name.starts_with(&format!("{}.", tool.name()))
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(ours).collect();
    files.sort();
    files
}

/// What was counted in one server run: each tool fills its own fields.
#[derive(Debug, Default)]
pub struct ToolOutput {
    /// Without a tool: facts about the server.
    pub plain: Option<PlainFacts>,
    /// What the project's functions do.
    pub work: Option<FunctionCounts>,
    /// Instructions of the whole run, by the processor's counter.
    pub counter: Option<u64>,
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
            Tool::PerfStat => {
                let read = files.map(|file| perf_stat::read(file));
                output.counter = Some(sum(tool, read, |sum, one| *sum += one)?);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_missing_is_named_with_what_it_would_count() {
        let none = Toolbox::default();
        assert!(none.has(Tool::Plain));
        assert!(!none.has(Tool::Callgrind));
        assert_eq!(none.missing().len(), 2);
        let command = ["server".to_owned()];
        assert_eq!(
            none.wrap(Tool::Plain, &command, Path::new("/x"), Detail::Stacks),
            command
        );
    }

    #[test]
    fn only_its_own_files_are_a_tools() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["callgrind.7", "callgrind.12", "callgrinds", "strace", "stdout"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(written(Tool::Callgrind, folder.path()).len(), 2);
        assert_eq!(written(Tool::Strace, folder.path()).len(), 1);
        assert_eq!(written(Tool::Dhat, folder.path()).len(), 0);
    }
}
