//! An instance: one process of a target, with the child processes that it started.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::measure::error::MeasureError;
use crate::measure::interrupt::Interrupt;
use crate::measure::kill_on_exit::TemporaryFolder;
use crate::measure::listening::{self, Tree};
use crate::measure::process::{self, Group, ProcessGroup, describe_exit, tail};
use crate::measure::usage::UsageReader;

const STOP_GRACE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(1);

/// One process of a server, running.
#[derive(Debug)]
pub struct Instance {
    /// The tier's name, or the server's.
    pub name: String,
    /// Its process group.
    pub group: Box<dyn ProcessGroup>,
    /// `127.0.0.1:port`.
    pub address: String,
    /// Reads the usage of its processes that ran when it was ready.
    pub usage: Arc<dyn UsageReader>,
    /// Whether it keeps running between rounds.
    pub(super) keep: bool,
    /// The name of server and tier, for messages.
    pub(super) label: String,
    /// The file that takes its standard error.
    pub(super) stderr: PathBuf,
    /// The folder for its own files and output, if it has one; removed with it.
    pub(super) _folder: Option<TemporaryFolder>,
}

impl Instance {
    /// Polls until it is ready; the error of `check` says what it found instead.
    ///
    /// # Errors
    /// When it ends early or is not ready in time.
    pub fn wait_until_ready(
        &mut self,
        timeout: Duration,
        interrupt: &Interrupt,
        check: impl Fn() -> Result<(), String>,
    ) -> Result<(), MeasureError> {
        loop {
            let result = check();
            let waited = self.group.started().elapsed();
            if self.group.has_ended() {
                let (how, output) = self.reap();
                return Err(MeasureError::Failed(format!(
                    "server {}: {how} before it was ready{}",
                    self.label,
                    last_words(&output)
                )));
            }
            match result {
                Ok(()) => {
                    self.usage = process::usage(&[&*self.group]);
                    return Ok(());
                }
                Err(last) if waited > timeout => {
                    return Err(MeasureError::NotReady(format!(
                        "server {}: not ready within {timeout:?} (last answer: {}); raise its ready_timeout if it needs longer{}",
                        self.label,
                        self.with_listen_addresses(last),
                        last_words(&self.last_output())
                    )));
                }
                Err(_) if interrupt.is_requested() => return Err(MeasureError::Interrupted),
                Err(_) => std::thread::sleep(POLL),
            }
        }
    }

    /// Adds to the result of the last check the address at which it listens instead, if known.
    fn with_listen_addresses(&self, last: String) -> String {
        let own = self.address.rsplit(':').next().and_then(|port| port.parse().ok());
        let group = self.group.local().map(Group::id);
        if let Some(unix) = group.and_then(listening::only_unix) {
            return format!("{last}; {unix}");
        }
        let all = group.map_or_else(Vec::new, |group| Tree::of(group).listens());
        if all.is_empty() || all.iter().any(|one| Some(one.port()) == own) {
            return last;
        }
        let all: Vec<String> = all.iter().map(ToString::to_string).collect();
        format!(
            "{last}; it listens on {}, not on {}: tell it {{port}} in args or env, or declare its own as port",
            all.join(" and "),
            self.address
        )
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// When it has ended: how, under load, and its last output.
    pub fn still_runs(&mut self) -> Result<(), String> {
        if !self.group.has_ended() {
            return Ok(());
        }
        let (how, output) = self.reap();
        Err(format!("{how} under load{}", last_words(&output)))
    }

    /// Reaps it after its end; returns how it ended, and its last output.
    fn reap(&mut self) -> (String, String) {
        let output = self.last_output();
        let status = self.group.kill_and_reap();
        (status.map_or_else(|error| error.to_string(), describe_exit), output)
    }

    /// The end of its standard error, or of its standard output if that is empty.
    fn last_output(&self) -> String {
        self.group.fetch_stderr(&self.stderr);
        let said = [self.stderr.clone(), self.stderr.with_extension("stdout")].map(|file| tail(&file));
        said.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// Stops it: SIGTERM, then SIGKILL after two seconds.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub(super) fn stop(mut self) -> io::Result<()> {
        self.group.stop(STOP_GRACE).map(drop)
    }
}

/// A program's last output as the end of a sentence; empty if it printed nothing.
pub(super) fn last_words(output: &str) -> String {
    if output.is_empty() {
        String::new()
    } else {
        format!("; its last words: {output}")
    }
}
