//! What kind of program a server is, as far as that decides how its counts are to be read.

use std::path::{Path, PathBuf};

/// A share of a core that no program at rest uses.
const WORKS_BY_ITSELF: f64 = 0.02;

/// Programs that run other programs' text.
const INTERPRETERS: [&str; 14] = [
    "bash", "beam.smp", "bun", "dash", "deno", "dotnet", "java", "lua", "node", "perl", "php", "python", "ruby", "sh",
];

/// What was seen of a running server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Nature {
    /// Its program file.
    pub program: Option<PathBuf>,
    /// The interpreter or virtual machine that it is.
    pub interpreter: Option<String>,
    /// Whether it holds memory that it can both write and run: code made at run time.
    pub jit: bool,
    /// Share of a core it used without being asked, when that is more than nothing.
    pub works_by_itself: Option<f64>,
}

impl Nature {
    /// How many callers of a function are worth keeping. An interpreter calls itself in ever new ways: all of them take
    /// minutes and hundreds of megabytes, and none is a function of the program that it runs.
    #[must_use]
    pub const fn callers(&self) -> u32 {
        if self.interpreter.is_some() || self.jit { 1 } else { 40 }
    }

    /// What to know before trusting its counts.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        match (&self.interpreter, self.jit) {
            (Some(name), true) => remarks.push(format!(
                "{name} compiles at run time: counts depend on when it does, and functions are the virtual machine's"
            )),
            (Some(name), false) => remarks.push(format!(
                "interpreted: counts and functions are those of {name}, not of the program it runs"
            )),
            (None, true) => {
                remarks
                    .push("makes code at run time: counts depend on when it does, and that code has no names".into());
            }
            (None, false) => {}
        }
        if let Some(share) = self.works_by_itself {
            remarks.push(format!(
                "used {:.0} % of a core without being asked: work in the background is counted with the requests",
                share * 100.0
            ));
        }
        remarks
    }
}

/// Looks at a running process that used `idle_share` of a core while it was not asked anything.
#[must_use]
pub fn of(process: i32, idle_share: f64) -> Nature {
    let (program, jit) = look(process);
    Nature {
        interpreter: program.as_deref().and_then(interpreter),
        program,
        jit,
        works_by_itself: (idle_share > WORKS_BY_ITSELF).then_some(idle_share),
    }
}

#[cfg(target_os = "linux")]
fn look(process: i32) -> (Option<PathBuf>, bool) {
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

#[cfg(not(target_os = "linux"))]
fn look(_process: i32) -> (Option<PathBuf>, bool) {
    (None, false)
}

/// The name of the interpreter that a program is, its version left out.
fn interpreter(program: &Path) -> Option<String> {
    let name = program.file_name()?.to_string_lossy().into_owned();
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&plain).then(|| plain.to_owned())
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
    fn a_program_at_rest_without_run_time_code_needs_no_remark() {
        assert!(Nature::default().remarks().is_empty());
        let own = of(std::process::id().try_into().unwrap(), 0.5);
        assert!(cfg!(not(target_os = "linux")) || own.program.is_some());
        assert_eq!(own.remarks().len(), 1, "{own:?}");
    }
}
