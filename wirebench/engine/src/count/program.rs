//! Detects what kind of program a server is, which decides what can be counted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::measure::usage;
use object::{Object as _, ObjectSymbol as _};
use wirebench_declare::runtime::Runtime;

/// From this share of a core on, an idle program has work in the background.
const BACKGROUND_WORK: f64 = 0.02;

/// Interpreters and virtual machines.
const INTERPRETERS: [&str; 14] = [
    "bash", "beam.smp", "bun", "dash", "deno", "dotnet", "java", "lua", "node", "perl", "php", "python", "ruby", "sh",
];

/// The program of a running server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerProgram {
    /// Its program file.
    pub file: Option<PathBuf>,
    /// The names of the program files of all its processes, without a version at the end; `go` if the Go compiler made it.
    pub names: BTreeSet<String>,
    /// Its name, if it is an interpreter or a virtual machine.
    pub interpreter: Option<String>,
    /// True if it generates code at run time.
    pub generates_code: bool,
    /// Whether an allocator such as jemalloc or mimalloc is linked into it, by its symbols.
    pub own_allocator: bool,
    /// Whether it is written in Go: its scheduler and garbage collector work differently in every run.
    pub go: bool,
    /// The share of a core that it used without requests; `None` if that is next to nothing.
    pub idle_share: Option<f64>,
}

impl ServerProgram {
    /// Why counts of such a program would not repeat; `None` for native code without a language runtime. The number of system calls
    /// of an event loop, a scheduler or a garbage collector depends on timing: equal code differs by some percent, and by tens of
    /// percent on a busy machine.
    pub fn varies(&self) -> Option<String> {
        match (&self.interpreter, self.generates_code, self.go) {
            (Some(name), _, _) => Some(format!("{name} runs the program")),
            (None, true, _) => Some("the program makes code at run time".to_owned()),
            (None, false, true) => {
                Some("Go's scheduler and garbage collector work differently in every run".to_owned())
            }
            (None, false, false) => None,
        }
    }

    /// What is not counted of such a program, and why; `by_processor`: the processor's counter counts its instructions.
    pub fn uncountable(&self, runtime: Option<&Runtime>, by_processor: bool) -> Option<String> {
        let why = self.varies()?;
        let what = match (is_under_callgrind(runtime), by_processor) {
            (true, _) => "system calls and the scheduler's instructions",
            (false, true) => "allocations and system calls",
            (false, false) => "instructions, allocations and system calls",
        };
        Some(format!("{what} are not counted: {why}, so they would not repeat"))
    }

    /// The remarks on its counts.
    pub fn remarks(&self, runtime: Option<&Runtime>, by_processor: bool) -> Vec<String> {
        let idle = self.idle_share.map(|share| {
            let percent = share * 100.0;
            format!(
                "used {percent:.0} % of a core without being asked: work in the background is counted with the requests"
            )
        });
        let uncountable = self.uncountable(runtime, by_processor);
        uncountable.into_iter().chain(idle).collect()
    }
}

/// Whether callgrind counts the instructions of programs of this runtime.
pub fn is_under_callgrind(runtime: Option<&Runtime>) -> bool {
    runtime.is_some_and(|runtime| runtime.callgrind.is_some())
}

/// Examines a running process that used `idle_share` of a core without requests.
pub fn examine(process: i32, idle_share: f64) -> ServerProgram {
    let (file, generates_code) = executable(process);
    let group = usage::members(process).into_iter();
    let (go, own_allocator) = file.as_deref().map_or((false, false), linked);
    let names = group.filter_map(|member| unversioned(&executable(member).0?));
    ServerProgram {
        names: names.chain(go.then(|| "go".to_owned())).collect(),
        interpreter: file.as_deref().and_then(interpreter),
        go,
        own_allocator,
        file,
        generates_code,
        idle_share: (idle_share > BACKGROUND_WORK).then_some(idle_share),
    }
}

/// The file of a process, and whether it has executable memory that belongs to no file.
fn executable(process: i32) -> (Option<PathBuf>, bool) {
    use procfs::process::{MMPermissions, MMapPath, Process};

    let Ok(process) = Process::new(process) else {
        return (None, false);
    };
    let made_at_run_time = |map: &procfs::process::MemoryMap| {
        map.perms.contains(MMPermissions::EXECUTE) && matches!(map.pathname, MMapPath::Anonymous)
    };
    let jit = process.maps().is_ok_and(|maps| maps.iter().any(made_at_run_time));
    (process.exe().ok(), jit)
}

/// Symbols that only a program with an allocator of its own defines.
const ALLOCATORS: [&str; 6] = [
    "mi_malloc",
    "je_malloc",
    "_rjem_malloc",
    "tc_malloc",
    "rpmalloc",
    "sn_rust_alloc",
];

/// Whether the Go compiler made a program, which leaves a section of its own; and whether an allocator is linked into it.
fn linked(program: &Path) -> (bool, bool) {
    let bytes = std::fs::read(program).unwrap_or_default();
    let Ok(file) = object::File::parse(&*bytes) else {
        return (false, false);
    };
    let is_allocator =
        |symbol: object::Symbol| symbol.is_definition() && symbol.name().is_ok_and(|name| ALLOCATORS.contains(&name));
    (
        file.section_by_name(".go.buildinfo").is_some(),
        file.symbols().any(is_allocator),
    )
}

/// Whether the Go compiler made a program.
pub fn is_go(program: &Path) -> bool {
    linked(program).0
}

/// The name of the interpreter that a program is, its version left out.
fn interpreter(program: &Path) -> Option<String> {
    unversioned(program).filter(|name| INTERPRETERS.contains(&name.as_str()))
}

/// The name of a program file without a version at its end.
fn unversioned(program: &Path) -> Option<String> {
    let name = program.file_name()?.to_string_lossy().into_owned();
    Some(
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_known_by_name_whatever_their_version() {
        for (program, name) in [
            ("/usr/bin/python3.11", Some("python")),
            ("/usr/bin/node", Some("node")),
            ("/usr/lib/erlang/bin/beam.smp", Some("beam.smp")),
            ("/home/x/http-server", None),
            ("/usr/bin/pythonic", None),
        ] {
            assert_eq!(interpreter(Path::new(program)).as_deref(), name, "{program}");
        }
    }

    #[test]
    fn only_native_code_without_a_run_time_is_counted() {
        assert_eq!(ServerProgram::default().uncountable(None, false), None);
        let programs = [
            ServerProgram {
                interpreter: Some("python".into()),
                ..ServerProgram::default()
            },
            ServerProgram {
                generates_code: true,
                ..ServerProgram::default()
            },
            ServerProgram {
                go: true,
                ..ServerProgram::default()
            },
        ];
        for (program, word) in programs.iter().zip(["python", "run time", "Go's"]) {
            let why = program.uncountable(None, false).unwrap();
            assert!(why.contains(word) && why.starts_with("instructions"));
            assert!(program.uncountable(None, true).unwrap().starts_with("allocations"));
            assert_eq!(program.remarks(None, false).len(), 1);
        }
    }

    #[test]
    fn a_program_at_rest_without_run_time_code_needs_no_remark() {
        assert!(ServerProgram::default().remarks(None, false).is_empty());
        let own = examine(std::process::id().try_into().unwrap(), 0.5);
        assert!(own.file.is_some());
        assert_eq!(own.remarks(None, false).len(), 1, "{own:?}");
    }
}
