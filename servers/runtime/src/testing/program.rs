//! A server's program as a test sees it: arguments in, ready line and exit code out.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Longer than any server may take to stop.
const GIVE_UP: Duration = Duration::from_secs(10);

/// The values of `--runtime`.
pub const RUNTIMES: [&str; 2] = ["multi", "per-core"];

/// The path of a server's program: `Program(env!("CARGO_BIN_EXE_…"))`.
#[derive(Clone, Copy, Debug)]
pub struct Program(pub &'static str);

/// A server that did not start.
#[derive(Debug)]
pub struct Refusal {
    /// Its exit code.
    pub code: i32,
    /// What it said on standard error.
    pub message: String,
}

/// A server that printed its ready line. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// Where it listens, as it said itself.
    pub address: SocketAddr,
}

impl Program {
    fn command(self, arguments: &[&str]) -> Command {
        piped(Command::new(self.0), arguments)
    }

    /// Starts the server and waits for its ready line.
    ///
    /// # Panics
    /// When it cannot be started, or prints something else first.
    pub fn start(self, arguments: &[&str]) -> Running {
        Running::from(self.command(arguments))
    }

    /// Starts the server in a tool that becomes the server's process, such as `["strace", "-D"]`, and waits for its ready
    /// line.
    ///
    /// # Panics
    /// When the tool cannot be started, or anything but a ready line is printed first.
    pub fn start_in(self, tool: &[&str], arguments: &[&str]) -> Running {
        let mut command = Command::new(tool[0]);
        command.args(&tool[1..]).arg(self.0);
        Running::from(piped(command, arguments))
    }

    /// Starts the server where it must refuse to run.
    ///
    /// # Panics
    /// When it prints a ready line all the same.
    pub fn refuse(self, arguments: &[&str]) -> Refusal {
        let mut child = self.command(arguments).spawn().expect("the program can be started");
        let mut first = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        stdout.read_line(&mut first).expect("standard output is text");
        if !first.is_empty() {
            child.kill().expect("the program is still a child");
            child.wait().expect("the program can be waited for");
            panic!("expected no answer on standard output, got {first:?}");
        }
        let output = child.wait_with_output().expect("the program can be waited for");
        Refusal {
            code: output.status.code().expect("the program exits by itself"),
            message: String::from_utf8(output.stderr).expect("messages are text"),
        }
    }

    /// What the program prints on standard output when it runs to its end.
    ///
    /// # Panics
    /// When it does not exit with 0.
    pub fn output(self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the program can be started");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("output is text")
    }
}

fn piped(mut command: Command, arguments: &[&str]) -> Command {
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

impl From<Command> for Running {
    fn from(mut command: Command) -> Self {
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let mut stdout = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("standard output is text");
        let address = line
            .strip_prefix("ready ")
            .and_then(|rest| rest.trim_end().parse().ok())
            .unwrap_or_else(|| panic!("expected a ready line, got {line:?}"));
        Self { child, stdout, address }
    }
}

impl Running {
    /// The server's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where the server shows its metrics, as it says itself when it is started with `--metrics-listen`.
    ///
    /// # Panics
    /// When it says something else.
    pub fn metrics_address(&mut self) -> SocketAddr {
        let mut line = String::new();
        let stderr = self.child.stderr.as_mut().expect("standard error is a pipe");
        BufReader::new(stderr).read_line(&mut line).expect("messages are text");
        let address = line
            .split_once("metrics at http://")
            .and_then(|(_, rest)| rest.trim_end().strip_suffix("/metrics")?.parse().ok());
        address.unwrap_or_else(|| panic!("expected an address, got {line:?}"))
    }

    /// Sends SIGTERM; gives how the server ended and how long that took.
    ///
    /// # Panics
    /// When it does not end, or has printed more than its ready line.
    pub fn terminate(self) -> (ExitStatus, Duration) {
        self.end_by(Signal::TERM)
    }

    /// Sends SIGTERM; gives what the server, or the tool it runs in, said on standard error.
    ///
    /// # Panics
    /// When it does not end, or not with exit code 0.
    pub fn last_words(mut self) -> String {
        let mut stderr = self.child.stderr.take().expect("standard error is a pipe");
        let (status, _) = self.end_by(Signal::TERM);
        let mut words = String::new();
        // Ends when nobody holds the pipe any more, a tool that outlives the server included.
        stderr.read_to_string(&mut words).expect("messages are text");
        assert!(status.success(), "{status}: {words}");
        words
    }

    /// Sends SIGINT, as Ctrl-C does; gives how the server ended and how long that took.
    ///
    /// # Panics
    /// When it does not end, or has printed more than its ready line.
    pub fn interrupt(self) -> (ExitStatus, Duration) {
        self.end_by(Signal::INT)
    }

    fn end_by(mut self, signal: Signal) -> (ExitStatus, Duration) {
        let asked = Instant::now();
        kill_process(Pid::from_child(&self.child), signal).expect("the server is running");
        let status = self.wait();
        let took = asked.elapsed();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("standard output is text");
        assert_eq!(rest, "", "standard output holds the ready line only");
        (status, took)
    }

    fn wait(&mut self) -> ExitStatus {
        let started = Instant::now();
        while started.elapsed() < GIVE_UP {
            if let Some(status) = self.child.try_wait().expect("the server is a child") {
                return status;
            }
            sleep(Duration::from_millis(5));
        }
        panic!("the server did not stop within {GIVE_UP:?}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only when the server has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
