//! A process group on another host: started, watched and ended through its shell.
//!
//! Its program is a file that is called by its hash, so that equal programs are copied once.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Output};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use object::{Architecture, Object as _};

use crate::measure::digest;
use crate::measure::interrupt::Interrupt;
use crate::measure::process::{MOST_TAIL_BYTES, ProcessGroup, holds_within};
use crate::measure::remote::shell::Shell;
use crate::measure::remote::usage::Stat;
use wirebench_record::run::CpuTime;

const POLL: Duration = Duration::from_millis(5);
/// How long a killed process may take to end. One that waits for a broken disk or network file system may never do so.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// A process group that was started on another host; dropping it kills it.
#[derive(Debug)]
pub struct Process {
    pub(in crate::measure) shell: Arc<Shell>,
    /// The name of its files there.
    name: String,
    pub(in crate::measure) pid: i32,
    pub(in crate::measure) tick_ns: u64,
    /// When it was started.
    started: Instant,
    /// Its exit status as a shell reports it, once it has ended.
    exit_status: OnceLock<i32>,
    /// The [`reaped_ticks`] before it was started; `None` if its CPU time is not measured.
    pub(super) ticks_before: Option<[u64; 2]>,
}

impl Process {
    /// Starts a command with environment variables added to those of a login on the host. Its output files are called `name`.
    ///
    /// # Errors
    /// When the connection is lost. A program that cannot be started ends with status 126 or 127.
    pub fn start(
        shell: &Arc<Shell>,
        name: String,
        argv: &[String],
        env: &BTreeMap<String, String>,
        tick_ns: u64,
    ) -> io::Result<Self> {
        let set = env.iter().map(|(name, value)| format!("{name}={value}"));
        let words = ["start".to_owned(), name.clone(), "env".to_owned()];
        let words = words.into_iter().chain(set).chain(argv.iter().cloned());
        let started = Instant::now();
        let output = shell.run(&shell_words::join(words))?;
        let pid = output.trim().parse();
        let pid = pid.map_err(|_| unexpected("the id of a process", &output))?;
        Ok(Self {
            shell: Arc::clone(shell),
            name,
            pid,
            tick_ns,
            started,
            exit_status: OnceLock::new(),
            ticks_before: None,
        })
    }

    /// The name of the file with its `stdout` or `stderr`, in the run's folder on the host.
    pub(super) fn output(&self, stream: &str) -> String {
        format!("{}.{stream}", self.name)
    }

    /// CPU time of all its threads and of the child processes that it reaped, in steps of 10 ms; call it after its end. It
    /// includes other commands that the shell ran in the meantime: a few ms per second.
    pub fn cpu_time(&self) -> Option<CpuTime> {
        let (before, after) = self.ticks_before.zip(reaped_ticks(&self.shell))?;
        let ns = |place: usize| after[place].saturating_sub(before[place]) * self.tick_ns;
        Some(CpuTime {
            user: ns(0),
            system: ns(1),
        })
    }

    /// Its exit status, if it has ended.
    fn poll(&self) -> io::Result<Option<i32>> {
        if let Some(status) = self.exit_status.get() {
            return Ok(Some(*status));
        }
        let output = self.shell.run(&format!("state {}", self.pid))?;
        let Some(status) = output.strip_prefix("end ") else {
            return Ok(None);
        };
        let status = status.trim().parse();
        let status = status.map_err(|_| unexpected("an exit status", &output))?;
        Ok(Some(*self.exit_status.get_or_init(|| status)))
    }

    /// Kills all processes of the group that still run, and waits for its end.
    ///
    /// # Errors
    /// When the connection is lost, or it does not end.
    fn kill_and_wait_for(&self, timeout: Duration) -> io::Result<ExitStatus> {
        // The group may have no members left, or not be one yet.
        self.shell.run(&format!("kill -KILL {0} -{0} 2>/dev/null", self.pid))?;
        holds_within(timeout, POLL, || self.has_ended());
        let Some(status) = self.poll()? else {
            let message = format!(
                "process {} on the other host still runs {timeout:?} after SIGKILL; look there what it waits for",
                self.pid
            );
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        };
        // From now on its id may be reused.
        self.shell.run(&format!("rm -f {}.pid", self.name))?;
        // A shell reports 128 + the number of a signal.
        Ok(ExitStatus::from_raw(if status > 128 {
            status - 128
        } else {
            status << 8
        }))
    }
}

impl ProcessGroup for Process {
    fn remote(&self) -> Option<&Self> {
        Some(self)
    }

    fn started(&self) -> Instant {
        self.started
    }

    fn has_ended(&self) -> bool {
        self.poll().map_or(true, |status| status.is_some())
    }

    fn stop(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        if self.poll()?.is_none() {
            self.shell.run(&format!("kill -TERM -{}", self.pid))?;
            holds_within(grace, POLL, || self.has_ended());
        }
        self.kill_and_reap()
    }

    fn kill_and_reap(&mut self) -> io::Result<ExitStatus> {
        self.kill_and_wait_for(KILL_TIMEOUT)
    }

    fn fetch_stderr(&self, to: &Path) {
        if let Ok(end) = self
            .shell
            .run(&format!("tail -c {MOST_TAIL_BYTES} {}.stderr", self.name))
        {
            let _ = fs::write(to, end);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.exit_status.get().is_none() {
            let _ = self.kill_and_reap();
        }
    }
}

fn unexpected(expected: &str, found: &str) -> io::Error {
    io::Error::other(format!(
        "the other host was expected to print {expected}, and printed {found:?}"
    ))
}

/// User and system time of the shell's child processes that have ended, in ticks.
pub(super) fn reaped_ticks(shell: &Shell) -> Option<[u64; 2]> {
    Some(Stat::parse(&shell.run("children").ok()?)?.child_ticks)
}

const UPLOAD_POLL: Duration = Duration::from_millis(10);

/// Checks that a file is a native program that runs on a host, by the output of `uname -m` there. Returns its SHA-256, hex digits.
///
/// # Errors
/// When it cannot be read, is a script, or is built for another architecture.
pub(super) fn checked_program(file: &Path, machine: &str) -> io::Result<String> {
    let bytes = if file.components().count() > 1 {
        fs::read(file)?
    } else {
        Vec::new()
    };
    let native = object::File::parse(bytes.as_slice()).map_err(|_| {
        io::Error::other(
            "it is no native program: only those of one file are copied to another host; measure it on one machine, or on a cluster",
        )
    })?;
    let names: &[&str] = match native.architecture() {
        Architecture::X86_64 => &["x86_64", "amd64"],
        Architecture::Aarch64 => &["aarch64", "arm64"],
        Architecture::Riscv64 => &["riscv64"],
        Architecture::PowerPc64 => &["ppc64", "ppc64le"],
        Architecture::S390x => &["s390x"],
        // Other architectures are not checked: the host's kernel refuses programs that it cannot run.
        _ => &[],
    };
    if names.is_empty() || names.contains(&machine) {
        return Ok(digest::sha256(&bytes));
    }
    Err(io::Error::other(format!(
        "the program is built for {}, and the other host is {machine}; build it for that host, or choose another host",
        names[0]
    )))
}

/// The script that stores its standard input in a file, and prints the hash of the bytes that arrived.
pub(super) fn receive_script(path: &str) -> String {
    let whole = shell_words::quote(path).into_owned();
    let part = shell_words::quote(&format!("{path}.part")).into_owned();
    format!(
        "mkdir -p \"$(dirname {whole})\" && cat >{part} && sha256sum {part} && chmod 700 {part} && mv {part} {whole}"
    )
}

/// Sends a file to the command that runs [`receive_script`], and checks the hash of the bytes that arrived.
///
/// # Errors
/// When the file did not arrive whole, with the last line of the command's errors, such as "No space left"; or the user
/// interrupts.
pub(super) fn upload_file(file: &Path, hash: &str, command: &mut Command, interrupt: &Interrupt) -> io::Result<()> {
    let mut child = command.stdin(File::open(file)?).spawn()?;
    while child.try_wait()?.is_none() {
        if interrupt.is_requested() {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::Error::other(
                "interrupted while a file was copied to the other host",
            ));
        }
        std::thread::sleep(UPLOAD_POLL);
    }
    let Output { status, stdout, stderr } = child.wait_with_output()?;
    let arrived = String::from_utf8_lossy(&stdout);
    if status.success() && arrived.split_whitespace().next() == Some(hash) {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&stderr);
    let last = errors.lines().next_back().unwrap_or("it arrived damaged");
    Err(io::Error::other(format!(
        "{} cannot be copied to the other host: {last}; free some space there in its folder for temporary files, or measure again",
        file.file_name().unwrap_or_default().to_string_lossy()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_does_not_end_is_not_waited_for_for_ever() {
        let shell = Arc::new(Shell::open(&mut wirebench_spawn::command("/bin/sh")).unwrap());
        let argv = ["sleep", "100"].map(str::to_owned);
        let process = Process::start(&shell, "one".into(), &argv, &BTreeMap::new(), 1).unwrap();
        shell.run("state() { echo run; }").unwrap();
        let error = process.kill_and_wait_for(Duration::from_millis(20)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(error.to_string().contains(&process.pid.to_string()), "{error}");
        // Without a shell, dropping the process does not wait either.
        let _ = shell.run("kill -KILL $$");
    }
}

#[cfg(test)]
mod program_tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = wirebench_spawn::command("sh");
        command.args(["-c", script]);
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command
    }

    #[test]
    fn this_program_is_copied_whole_and_runs_on_its_own_architecture_only() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::env::current_exe().unwrap();
        let hash = checked_program(&own, std::env::consts::ARCH).unwrap();
        let place = folder.path().join("it's here");
        fs::create_dir(&place).unwrap();
        let script = receive_script(&place.join(&hash).to_string_lossy());
        let interrupt = Interrupt::default();
        upload_file(&own, &hash, &mut shell(&script), &interrupt).unwrap();
        assert_eq!(fs::read(place.join(&hash)).unwrap(), fs::read(&own).unwrap());
        let error = checked_program(&own, "sparc64").unwrap_err().to_string();
        assert!(
            error.contains(std::env::consts::ARCH) && error.contains("sparc64"),
            "{error}"
        );
    }

    #[test]
    fn no_room_and_damage_are_errors() {
        let own = std::env::current_exe().unwrap();
        let interrupt = Interrupt::default();
        let full = upload_file(
            &own,
            "00",
            &mut shell("cat >/dev/full && sha256sum /dev/null"),
            &interrupt,
        );
        assert!(full.unwrap_err().to_string().contains("No space left"));
        let damaged = upload_file(
            &own,
            "00",
            &mut shell("cat >/dev/null && sha256sum /dev/null"),
            &interrupt,
        );
        assert!(damaged.unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn a_script_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("server.sh");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        for file in [&*script, Path::new("python3")] {
            let error = checked_program(file, std::env::consts::ARCH).unwrap_err();
            assert!(error.to_string().contains("native"), "{error}");
        }
    }
}
