//! A shell on another host: commands go to its input, and their output comes back.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The functions that every shell is told first.
const FUNCTIONS: &str = include_str!("shell.sh");
/// How long an answer may take. ssh itself gives a dead connection up after 15 s.
const LONGEST_ANSWER: Duration = Duration::from_secs(20);
/// How often the shell is told that wirebench still runs. It ends by itself after half a minute without.
const BEAT: Duration = Duration::from_secs(5);
/// How long the shell may take to remove what was made.
const LONGEST_END: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);

/// A shell that runs until this is dropped; what was made through it is then removed.
#[derive(Debug)]
pub struct Shell {
    talk: Arc<Mutex<Talk>>,
    child: Mutex<Child>,
    /// Ends the thread that sends beats, when it is dropped.
    _alive: Sender<()>,
}

#[derive(Debug)]
struct Talk {
    /// `None` once the connection is lost.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// The first part of the line that ends every answer.
    mark: String,
    asked: u64,
}

impl Shell {
    /// Starts a command that runs a shell, and tells it the functions. Its errors go where the command says.
    ///
    /// # Errors
    /// When the command cannot be started.
    pub fn open(command: &mut Command) -> io::Result<Self> {
        // A group of its own: Ctrl-C in a terminal must not end it before what was made is removed.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let piped = || io::Error::other("the pipe to it is missing");
        let input = child.stdin.take().ok_or_else(piped)?;
        let lines = lines_of(child.stdout.take().ok_or_else(piped)?);
        let talk = Arc::new(Mutex::new(Talk {
            input: Some(input),
            lines,
            mark: format!("answered-{:016x}", RandomState::new().hash_one(std::process::id())),
            asked: 0,
        }));
        let (alive, end) = mpsc::channel();
        let beaten = Arc::downgrade(&talk);
        std::thread::spawn(move || {
            while end.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                let Some(talk) = beaten.upgrade() else { return };
                let _ = talk.lock().unwrap_or_else(PoisonError::into_inner).tell("beat\n");
            }
        });
        let shell = Self {
            talk,
            child: Mutex::new(child),
            _alive: alive,
        };
        // A connection that is refused is found by the first question.
        let _ = shell
            .talk
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .tell(FUNCTIONS);
        Ok(shell)
    }

    /// Runs a command and returns what it prints, without its last line break.
    ///
    /// # Errors
    /// When the connection is lost. `Unsupported`: the host lacks what the error names, and the shell has ended.
    pub fn ask(&self, command: &str) -> io::Result<String> {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner).ask(command)
    }

    /// Waits until the shell has ended, as it does after a lost connection; true if it has within the time.
    pub fn has_ended_within(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        while matches!(child.try_wait(), Ok(None)) {
            if Instant::now() >= end {
                return false;
            }
            std::thread::sleep(POLL);
        }
        true
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner).input = None;
        if !self.has_ended_within(LONGEST_END) {
            let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Talk {
    fn tell(&mut self, text: &str) -> io::Result<()> {
        let input = self.input.as_mut().ok_or_else(lost)?;
        let told = input.write_all(text.as_bytes()).and_then(|()| input.flush());
        told.map_err(|_| {
            self.input = None;
            lost()
        })
    }

    fn ask(&mut self, command: &str) -> io::Result<String> {
        self.asked += 1;
        let mark = format!("{}-{}", self.mark, self.asked);
        self.tell(&format!("{command}\nprintf '\\n%s\\n' {mark}\n"))?;
        let deadline = Instant::now() + LONGEST_ANSWER;
        let mut answer = String::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                // A late answer would be taken for that to the next question.
                self.input = None;
                return Err(lacking(&answer).unwrap_or_else(lost));
            };
            if line == mark {
                let end = answer.trim_end_matches('\n').len();
                answer.truncate(end);
                return Ok(answer);
            }
            answer.push_str(&line);
            answer.push('\n');
        }
    }
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

/// What the functions miss on a host, if they said so before they ended.
fn lacking(said: &str) -> Option<io::Error> {
    let what = said.lines().find_map(|line| line.strip_prefix("lacks "))?;
    Some(io::Error::new(io::ErrorKind::Unsupported, what.to_owned()))
}

/// Names no host: the sentence gets into records.
fn lost() -> io::Error {
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
        let facts = shell.ask("facts").unwrap();
        let line = facts.lines().find_map(|line| line.strip_prefix("dir "));
        line.expect("a folder").to_owned()
    }

    fn is_gone(pid: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        status.map_or(true, |text| text.contains(") Z "))
    }

    fn soon(holds: impl Fn() -> bool) -> bool {
        let end = Instant::now() + Duration::from_secs(30);
        while !holds() && Instant::now() < end {
            std::thread::sleep(POLL);
        }
        holds()
    }

    #[test]
    fn answers_are_what_a_command_prints() {
        let shell = here();
        assert_eq!(shell.ask("echo one; echo; printf two").unwrap(), "one\n\ntwo");
        assert_eq!(shell.ask(":").unwrap(), "");
        let word = "it's\na $word";
        let said = shell.ask(&shell_words::join(["printf", "%s", word])).unwrap();
        assert_eq!(said, word);
    }

    #[test]
    fn a_process_is_started_seen_and_ended() {
        let shell = here();
        let pid = shell
            .ask("start one env NUMBER=5 sh -c 'echo $NUMBER >&2; sleep 100 & wait'")
            .unwrap();
        assert!(soon(|| shell.ask("cat one.stderr").unwrap() == "5"));
        assert_eq!(shell.ask(&format!("state {pid}")).unwrap(), "run");
        assert!(soon(
            || shell.ask(&format!("members {pid}")).unwrap().lines().count() == 2
        ));
        assert!(shell.ask(&format!("memory {pid}")).unwrap().contains("VmRSS:"));
        assert!(shell.ask(&format!("cpu {pid}")).unwrap().starts_with(&pid));
        shell.ask(&format!("kill -TERM -{pid}")).unwrap();
        assert!(soon(|| shell.ask(&format!("state {pid}")).unwrap() == "end 143"));
    }

    #[test]
    fn nothing_is_left_when_the_shell_ends() {
        let shell = here();
        let folder = folder(&shell);
        let pid = shell.ask("start one sleep 100").unwrap();
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
        let error = Shell::open(&mut command).unwrap().ask("facts").unwrap_err();
        assert_eq!(
            (error.kind(), &*error.to_string()),
            (io::ErrorKind::Unsupported, "setsid")
        );
    }

    #[test]
    fn nor_when_it_is_killed() {
        let shell = here();
        let folder = folder(&shell);
        let pid = shell.ask("start one sleep 100").unwrap();
        let asked = Instant::now();
        let _ = shell.ask("kill -KILL $$");
        assert!(asked.elapsed() < LONGEST_ANSWER, "its end is seen, not waited for");
        // Here it is a child of this test, which has to be waited for before its id is free.
        assert!(shell.has_ended_within(LONGEST_END));
        assert!(soon(|| !Path::new(&folder).exists() && is_gone(&pid)));
        assert_eq!(shell.ask("echo").unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
    }
}
