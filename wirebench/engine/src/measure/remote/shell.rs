//! A shell on another host: commands are written to its standard input, and their output is read back.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::measure::process::holds_within;

/// The functions that every shell gets first.
const FUNCTIONS: &str = include_str!("shell.sh");
/// The time limit of a command. ssh itself gives a dead connection up after 15 s.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(20);
/// How often the shell gets a heartbeat. It ends by itself after 30 s without one.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// The time limit for the shell to remove the run's files and processes.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);

/// A shell that runs until this is dropped; the files and processes that were made through it are then removed.
#[derive(Debug)]
pub struct Shell {
    session: Arc<Mutex<Session>>,
    child: Mutex<Child>,
    /// Ends the thread that sends heartbeats, when it is dropped.
    _heartbeat: Sender<()>,
}

#[derive(Debug)]
struct Session {
    /// `None` once the connection is lost.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// The first part of the line that ends the output of every command.
    end_mark: String,
    /// The number of commands so far.
    commands: u64,
}

impl Shell {
    /// Starts a command that runs a shell, and sends it the functions. Its standard error goes to where `command` sends it.
    ///
    /// # Errors
    /// When the command cannot be started.
    pub fn open(command: &mut Command) -> io::Result<Self> {
        // A group of its own: Ctrl-C in a terminal must not end it before the run's files are removed.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let piped = || io::Error::other("the pipe to it is missing");
        let input = child.stdin.take().ok_or_else(piped)?;
        let lines = lines_of(child.stdout.take().ok_or_else(piped)?);
        let session = Arc::new(Mutex::new(Session {
            input: Some(input),
            lines,
            end_mark: format!("answered-{:016x}", RandomState::new().hash_one(std::process::id())),
            commands: 0,
        }));
        let (heartbeat, end) = mpsc::channel();
        let receiver = Arc::downgrade(&session);
        std::thread::spawn(move || {
            while end.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
                let Some(session) = receiver.upgrade() else { return };
                let _ = lock(&session).write("beat\n");
            }
        });
        // An error is found by the first command: the connection was refused.
        let _ = lock(&session).write(FUNCTIONS);
        Ok(Self {
            session,
            child: Mutex::new(child),
            _heartbeat: heartbeat,
        })
    }

    /// Runs a command and returns its output, without its last line break.
    ///
    /// # Errors
    /// When the connection is lost. `Unsupported`: the host lacks what the error names, and the shell has ended.
    pub fn run(&self, command: &str) -> io::Result<String> {
        lock(&self.session).run(command)
    }

    /// Waits until the shell has ended, as it does after a lost connection; true if it has within the time.
    pub fn has_ended_within(&self, time: Duration) -> bool {
        holds_within(time, POLL, || !matches!(lock(&self.child).try_wait(), Ok(None)))
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        lock(&self.session).input = None;
        if !self.has_ended_within(CLEANUP_TIMEOUT) {
            let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Session {
    fn write(&mut self, text: &str) -> io::Result<()> {
        let input = self.input.as_mut().ok_or_else(connection_lost)?;
        let written = input.write_all(text.as_bytes()).and_then(|()| input.flush());
        written.map_err(|_| {
            self.input = None;
            connection_lost()
        })
    }

    fn run(&mut self, command: &str) -> io::Result<String> {
        self.commands += 1;
        let end_mark = format!("{}-{}", self.end_mark, self.commands);
        self.write(&format!("{command}\nprintf '\\n%s\\n' {end_mark}\n"))?;
        let deadline = Instant::now() + COMMAND_TIMEOUT;
        let mut output = String::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                // Late output would be taken for that of the next command.
                self.input = None;
                return Err(missing_program(&output).unwrap_or_else(connection_lost));
            };
            if line == end_mark {
                let end = output.trim_end_matches('\n').len();
                output.truncate(end);
                return Ok(output);
            }
            output.push_str(&line);
            output.push('\n');
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lines that a shell prints, as they come.
fn lines_of(output: ChildStdout) -> Receiver<String> {
    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
    lines
}

/// The error of a host that lacks a program, if the functions printed one before they ended.
fn missing_program(output: &str) -> Option<io::Error> {
    let name = output.lines().find_map(|line| line.strip_prefix("lacks "))?;
    Some(io::Error::new(io::ErrorKind::Unsupported, name.to_owned()))
}

/// The message names no host, because it gets into records.
fn connection_lost() -> io::Error {
    io::Error::new(
        io::ErrorKind::ConnectionAborted,
        "the connection to the other host is lost; look whether it still runs, and measure again",
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A shell of this machine: the functions are the same as over ssh.
    fn here() -> Shell {
        let mut command = wirebench_spawn::command("sh");
        Shell::open(&mut command).unwrap()
    }

    fn folder(shell: &Shell) -> String {
        let facts = shell.run("facts").unwrap();
        let line = facts.lines().find_map(|line| line.strip_prefix("dir "));
        line.expect("a folder").to_owned()
    }

    fn is_gone(pid: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        status.map_or(true, |text| text.contains(") Z "))
    }

    fn soon(holds: impl Fn() -> bool) -> bool {
        wirebench_testing::holds_within(Duration::from_secs(30), holds)
    }

    #[test]
    fn answers_are_what_a_command_prints() {
        let shell = here();
        assert_eq!(shell.run("echo one; echo; printf two").unwrap(), "one\n\ntwo");
        assert_eq!(shell.run(":").unwrap(), "");
        let word = "it's\na $word";
        let output = shell.run(&shell_words::join(["printf", "%s", word])).unwrap();
        assert_eq!(output, word);
    }

    #[test]
    fn a_process_is_started_seen_and_ended() {
        let shell = here();
        let pid = shell
            .run("start one env NUMBER=5 sh -c 'echo $NUMBER >&2; sleep 100 & setsid sleep 100 & wait'")
            .unwrap();
        assert!(soon(|| shell.run("cat one.stderr").unwrap() == "5"));
        assert_eq!(shell.run(&format!("state {pid}")).unwrap(), "run");
        assert!(soon(
            || shell.run(&format!("members {pid}")).unwrap().lines().count() == 3
        ));
        assert!(shell.run(&format!("memory {pid}")).unwrap().contains("VmRSS:"));
        let cpu = shell.run(&format!("cpu {pid}")).unwrap();
        assert!(cpu.starts_with(&format!("process {pid}\n{pid} (sh) ")), "{cpu}");
        assert!(cpu.contains(&format!("\nthread {pid} ")), "{cpu}");
        shell.run(&format!("kill -TERM $(members {pid})")).unwrap();
        assert!(soon(|| shell.run(&format!("state {pid}")).unwrap() == "end 143"));
    }

    #[test]
    fn nothing_is_left_when_the_shell_ends() {
        let shell = here();
        let folder = folder(&shell);
        let pid = shell.run("start one sleep 100").unwrap();
        assert!(Path::new(&folder).is_dir() && !is_gone(&pid));
        drop(shell);
        assert!(!Path::new(&folder).exists());
        assert!(soon(|| is_gone(&pid)));
    }

    #[test]
    fn a_host_without_a_program_says_which() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = wirebench_spawn::command("/bin/sh");
        command.env("PATH", folder.path());
        let error = Shell::open(&mut command).unwrap().run("facts").unwrap_err();
        assert_eq!(
            (error.kind(), &*error.to_string()),
            (io::ErrorKind::Unsupported, "setsid")
        );
    }

    #[test]
    fn nor_when_it_is_killed() {
        let shell = here();
        let folder = folder(&shell);
        let pid = shell.run("start one sleep 100").unwrap();
        let started = Instant::now();
        let _ = shell.run("kill -KILL $$");
        assert!(started.elapsed() < COMMAND_TIMEOUT, "its end is seen, not waited for");
        // Here it is a child of this test, which has to be waited for before its id is free.
        assert!(shell.has_ended_within(CLEANUP_TIMEOUT));
        assert!(soon(|| !Path::new(&folder).exists() && is_gone(&pid)));
        assert_eq!(shell.run("echo").unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
    }
}
