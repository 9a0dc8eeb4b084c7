//! The tools under which a server is run to be counted.

use std::path::{Path, PathBuf};

use crate::measure::tools;

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
    /// strace: system calls by name.
    Strace,
    /// valgrind's DHAT: heap allocations.
    Dhat,
    /// valgrind's callgrind: instructions.
    Callgrind,
}

impl Tool {
    /// Every tool, the quickest first.
    pub const ALL: [Self; 5] = [Self::Plain, Self::Runtime, Self::Strace, Self::Dhat, Self::Callgrind];

    /// Its name in folders and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Runtime => "runtime",
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
            Self::Strace => Some("strace"),
            Self::Dhat | Self::Callgrind => Some("valgrind"),
        }
    }

    /// By what factor the time is longer in which a server must get ready.
    pub const fn ready_factor(self) -> u32 {
        match self {
            Self::Plain => 1,
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

/// The tools that are installed on this machine.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    installed: Vec<(&'static str, PathBuf)>,
}

impl Toolbox {
    /// Looks for every tool, in the project's tool folder and on PATH.
    pub fn look(root: &Path) -> Self {
        let programs = ["strace", "valgrind"]
            .into_iter()
            .filter_map(|program| Some((program, tools::locate(root, program)?)));
        Self {
            installed: programs.collect(),
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

    /// The program of each tool, with its path.
    pub fn installed(&self) -> &[(&'static str, PathBuf)] {
        &self.installed
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
