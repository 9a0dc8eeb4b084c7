//! A process group on this machine or on another host, and a child process in its own process group, which is killed when its owner
//! is dropped.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use regex::Regex;

use crate::measure::interrupt::Interrupt;
use crate::measure::remote::process::Process;
use crate::measure::remote::usage::RemoteUsage;
use crate::measure::usage::{LocalUsage, UsageReader};
use crate::measure::{cores, kill_on_exit, usage};

/// How long a command has to end by itself when the user interrupts it.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// How long the other processes of a counted server may run after its leader has ended.
const WORKERS_GRACE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(1);

/// A running process group; dropping it kills and reaps it.
pub trait ProcessGroup: Debug + Send {
    /// The group, if it is on this machine.
    fn local(&self) -> Option<&Group> {
        None
    }

    /// The process, if it is on another host.
    fn remote(&self) -> Option<&Process> {
        None
    }

    /// When it was started.
    fn started(&self) -> Instant;

    /// Whether the leader has ended, or cannot be reached any more; it is not reaped yet.
    fn has_ended(&self) -> bool;

    /// Sends SIGTERM to the group, SIGKILL to what still runs after `grace`, and reaps the leader.
    ///
    /// # Errors
    /// When the leader cannot be waited for.
    fn stop(&mut self, grace: Duration) -> io::Result<ExitStatus>;

    /// Kills all processes of the group that still run, and reaps the leader.
    ///
    /// # Errors
    /// When the leader cannot be waited for.
    fn kill_and_reap(&mut self) -> io::Result<ExitStatus>;

    /// Copies the end of a remote group's standard error to `file`. A local group has written there itself.
    fn fetch_stderr(&self, _file: &Path) {}
}

/// A command to start, and where.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its working directory.
    pub folder: &'a Path,
    /// Environment variables added to ours.
    pub env: BTreeMap<String, String>,
    /// The file that takes its standard output.
    pub stdout: PathBuf,
    /// The file that takes its standard error.
    pub stderr: PathBuf,
    /// The cores it starts on; empty means all.
    pub cores: &'a [usize],
}

/// How a group is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By SIGTERM.
    Asked,
    /// By SIGTERM to all but the leader, which only watches the others (strace, perf) and ends after them.
    Traced,
    /// By SIGABRT, without a word to the program's own handler: callgrind does not survive a handler that returns to another stack.
    Aborted,
}

/// A running process group; dropping it kills and reaps it.
#[derive(Debug)]
pub struct Group {
    child: Child,
    id: Pid,
    /// When it was started.
    pub started: Instant,
}

impl Launch<'_> {
    /// Starts it as the leader of a new process group, its input closed.
    ///
    /// # Errors
    /// When a file cannot be made or the program cannot be started.
    pub fn start(&self) -> io::Result<Group> {
        let (program, args) = self
            .argv
            .split_first()
            .ok_or_else(|| io::Error::other("an empty command"))?;
        let mut command = wirebench_spawn::command(program);
        command
            .args(args)
            .current_dir(self.folder)
            .envs(&self.env)
            .stdin(Stdio::null())
            .stdout(File::create(&self.stdout)?)
            .stderr(File::create(&self.stderr)?);
        cores::spawn_on(self.cores, || Group::spawn(&mut command))
    }
}

impl Group {
    /// Starts a command as the leader of a new process group.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        let started = Instant::now();
        let child = command.process_group(0).spawn()?;
        let id = Pid::from_raw(child.id().try_into().map_err(io::Error::other)?);
        // Registered before anything else is done: wirebench may be killed at any moment.
        kill_on_exit::register(id);
        Ok(Self { child, id, started })
    }

    /// Takes the leader's standard output, if it is piped.
    pub(super) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Waits until the leader has ended, and reaps it; other processes of the group, such as a build's daemon, keep running.
    /// Returns `None` if the user interrupts: then the whole group is stopped.
    ///
    /// # Errors
    /// When the leader cannot be waited for.
    pub(super) fn wait(&mut self, interrupt: &Interrupt) -> io::Result<Option<ExitStatus>> {
        while !self.has_ended() {
            if interrupt.is_requested() {
                return self.stop(STOP_GRACE).map(|_| None);
            }
            std::thread::sleep(POLL);
        }
        let status = self.child.wait();
        kill_on_exit::unregister(self.id);
        status.map(Some)
    }

    /// The leader's process id, which is the group's too.
    pub fn id(&self) -> i32 {
        self.id.as_raw()
    }

    /// A function that blocks until the leader has ended, for another thread; it does not reap.
    pub fn waiter(&self) -> impl FnOnce() + Send + 'static {
        let id = self.id;
        move || {
            while waitid(Id::Pid(id), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) == Err(nix::errno::Errno::EINTR) {}
        }
    }

    /// Asks the group to end as `how` says, and waits for it; returns whether the leader has ended within `grace`. It is not reaped yet.
    pub(super) fn end(&self, grace: Duration, how: Ending) -> bool {
        // The leader is not reaped yet, so the group's number cannot belong to anyone else.
        let ask = |signal| _ = killpg(self.id, signal);
        match how {
            Ending::Asked => ask(Signal::SIGTERM),
            Ending::Aborted => ask(Signal::SIGABRT),
            Ending::Traced => {
                let members = usage::members(self.id()).into_iter();
                for member in members.filter(|member| *member != self.id()) {
                    let _ = kill(Pid::from_raw(member), Signal::SIGTERM);
                }
            }
        }
        let ended = holds_within(grace, POLL, || self.has_ended());
        // Workers write what they counted a little after the leader has ended.
        if ended {
            holds_within(WORKERS_GRACE, POLL, || usage::members(self.id()).is_empty());
        }
        ended
    }
}

/// Looks every `poll` whether a condition holds, for this long at most; returns whether it does.
pub(super) fn holds_within(time: Duration, poll: Duration, condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + time;
    loop {
        let holds = condition();
        if holds || Instant::now() >= deadline {
            return holds;
        }
        std::thread::sleep(poll);
    }
}

impl ProcessGroup for Group {
    fn local(&self) -> Option<&Self> {
        Some(self)
    }

    fn started(&self) -> Instant {
        self.started
    }

    fn has_ended(&self) -> bool {
        let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        !matches!(waitid(Id::Pid(self.id), look), Ok(WaitStatus::StillAlive))
    }

    fn stop(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        if !self.has_ended() {
            let _ = killpg(self.id, Signal::SIGTERM);
            holds_within(grace, POLL, || self.has_ended());
        }
        self.kill_and_reap()
    }

    fn kill_and_reap(&mut self) -> io::Result<ExitStatus> {
        // The leader is not reaped yet, so the group's number cannot belong to anyone else.
        let _ = killpg(self.id, Signal::SIGKILL);
        let status = self.child.wait();
        kill_on_exit::unregister(self.id);
        status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            kill_on_exit::unregister(self.id);
        } else {
            let _ = self.kill_and_reap();
        }
    }
}

/// An exit status as words: `exited with status 1`, `was ended by signal 9`.
pub fn describe_exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".into(),
    }
}

/// The most bytes of output that are searched for the reason of an end: a Go program prints the stacks of all goroutines.
pub(super) const MOST_TAIL_BYTES: u64 = 256 << 10;

/// The lines with which runtimes say why a program ends; stacks follow (Go, Rust, Node.js, JVM, .NET) or come before (Python). Maven and
/// Composer say it before advice.
static CAUSE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(panic: |fatal error: |thread '.*' (\(\d+\) )?panicked at |Exception in thread |Unhandled exception|Caused by: |[\w.$]*(Error|Exception): |\[ERROR\] (Failed to execute goal|COMPILATION ERROR)|In \w+\.php line \d+:|npm (error|ERR!) (code |404 Not Found)|error: toolchain )")
        .expect("a constant pattern")
});

/// The last lines of a file as one line of text, for an error message; empty when there are none. If the line that says why the
/// program ended comes earlier, that line and the ones after it, and the last line.
pub fn tail(file: &Path) -> String {
    use std::io::{Read, Seek, SeekFrom};
    let read = || -> io::Result<String> {
        let mut open = File::open(file)?;
        let length = open.metadata()?.len();
        open.seek(SeekFrom::Start(length.saturating_sub(MOST_TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        open.take(MOST_TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    last_lines(&read().unwrap_or_default())
}

fn last_lines(text: &str) -> String {
    const LINES: usize = 4;
    // A line of data may be as long as the whole file.
    const LONGEST: usize = 500;
    let text = anstream::adapter::strip_str(text).to_string();
    // Valgrind's own lines, `==PID== …`, say nothing of the program.
    let pid = |line: &str| line.strip_prefix("==")?.split_once("==")?.0.parse::<u32>().ok();
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && pid(line).is_none());
    let lines: Vec<String> = lines.map(|line| line.chars().take(LONGEST).collect()).collect();
    let last = lines.len().saturating_sub(LINES);
    match lines.iter().rposition(|line| CAUSE.is_match(line)) {
        Some(cause) if cause < last => {
            let shown = &lines[cause..(cause + LINES).min(lines.len() - 1)];
            format!("{} / … / {}", shown.join(" / "), lines[lines.len() - 1])
        }
        _ => lines[last..].join(" / "),
    }
}

/// The usage of a group's leader, and on another host of all its processes.
pub fn leader_usage(group: &dyn ProcessGroup) -> Arc<dyn UsageReader> {
    let local = group.local();
    local.map_or_else(|| usage(&[group]), |group| Arc::new(LocalUsage::leader(group.id())))
}

/// Finds the processes of these groups, which are on one machine, and reads their usage; call it when they are started.
pub fn usage(groups: &[&dyn ProcessGroup]) -> Arc<dyn UsageReader> {
    let remote: Vec<&Process> = groups.iter().filter_map(|group| group.remote()).collect();
    if let Some(first) = remote.first() {
        let groups = remote.iter().map(|group| group.pid).collect();
        return Arc::new(RemoteUsage::find(Arc::clone(&first.shell), groups, first.tick_ns));
    }
    let local = groups.iter().filter_map(|group| group.local());
    let ids: Vec<i32> = local.map(Group::id).collect();
    Arc::new(LocalUsage::groups(&ids))
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    #[test]
    fn the_line_that_says_why_is_shown_though_a_long_stack_follows() {
        let frames = |line: &str| line.repeat(40);
        let go = format!(
            "started\n2026/11/21 no configuration\npanic: no configuration\n\ngoroutine 1 [running]:\nlog.Panic(...)\n{}exit status 2\n",
            frames("net/http.serve(0x1)\n\t/go/server.go:1\n")
        );
        assert_eq!(
            last_lines(&go),
            "panic: no configuration / goroutine 1 [running]: / log.Panic(...) / net/http.serve(0x1) / … / exit status 2"
        );
        let rust = format!(
            "thread 'main' (7) panicked at src/main.rs:3:5:\nno port\nstack backtrace:\n{}",
            frames("1: run\n")
        );
        assert!(last_lines(&rust).starts_with("thread 'main' (7) panicked at src/main.rs:3:5: / no port / "));
        let node = format!(
            "TypeError: x is not a function\n{}\nNode.js v22",
            frames("    at run (a.js:1)\n")
        );
        assert!(last_lines(&node).starts_with("TypeError: x is not a function / at run (a.js:1) / "));
        let java = format!(
            "java.lang.RuntimeException: a\n{0}Caused by: b\n{0}",
            frames("\tat A.b(A.java:1)\n")
        );
        assert!(last_lines(&java).starts_with("Caused by: b / at A.b"));
        let rustup = format!(
            "error: toolchain '1.98.0' is not installed\nhelp: run it\n\nStack backtrace:\n{}",
            frames("1: run\n")
        );
        assert!(last_lines(&rustup).starts_with("error: toolchain '1.98.0' is not installed / help: run it / "));
        let npm = "npm error code E404\nnpm error 404 Not Found - GET shop\nnpm error 404  'shop@4' is not in this registry.\nnpm error 404\n\
            npm error 404 Note that\nnpm error 404 tarball\nnpm error A complete log\n";
        assert!(last_lines(npm).starts_with("npm error 404 Not Found - GET shop / npm error 404  'shop@4'"));
        let python = "Traceback (most recent call last):\n  File \"a.py\", line 1\n    run()\n  File \"b.py\", line 2\n    x\nValueError: no port\n";
        assert_eq!(
            last_lines(python),
            "run() / File \"b.py\", line 2 / x / ValueError: no port"
        );
        let maven = format!(
            "\x1b[0m[ERROR] Failed to execute goal a:b: no host\n{}",
            frames("[ERROR]\n[ERROR] see [Help 1]\n")
        );
        assert!(last_lines(&maven).starts_with("[ERROR] Failed to execute goal a:b: no host / [ERROR] / "));
        assert_eq!(last_lines("a\n\nb\n\x1b[34mc\x1b[0m\nd\ne\n"), "b / c / d / e");
        let valgrind = "==77== Callgrind, a call-graph generating cache profiler\n==77==\n";
        assert_eq!(
            last_lines(&format!("{valgrind}no port\n==77== I   refs:      91,790,107\n")),
            "no port"
        );
        assert_eq!(last_lines(valgrind), "");
    }
}
