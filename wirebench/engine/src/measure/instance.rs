//! An instance: one process of a target, with those it started itself.

use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use crate::measure::interrupt::Interrupt;
use crate::measure::kept::Kept;
use crate::measure::listening;
use crate::measure::process::{Group, in_words, tail};
use crate::measure::running::Running;
use crate::measure::target::{TargetError, said};
use crate::measure::watched::Watched;
use wirebench_declare::tier::Part;

const STOP_GRACE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(1);

/// One process of a server, running.
#[derive(Debug)]
pub struct Instance {
    /// The tier's name, or the server's.
    pub name: String,
    /// Its process group.
    pub group: Running,
    /// `127.0.0.1:port`.
    pub address: String,
    /// Its processes, as found when it was ready.
    pub watched: Rc<Watched>,
    label: String,
    output: PathBuf,
    /// Folder for its own files and output, if it has one; removed with it.
    place: Option<TempDir>,
    /// If it is kept: where it waits between rounds.
    home: Option<Home>,
}

/// Where a kept tier waits.
#[derive(Debug, Clone)]
pub struct Home {
    /// All kept tiers.
    pub kept: Arc<Kept>,
    /// The key of its side and server.
    pub key: String,
}

/// A kept tier between rounds.
#[derive(Debug)]
pub struct Parked {
    name: String,
    label: String,
    group: Running,
    address: String,
    output: PathBuf,
    place: Option<TempDir>,
}

impl Parked {
    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.group.has_ended()
    }

    /// Asks it to end, and kills it after two seconds.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn stop(mut self) -> io::Result<()> {
        self.group.stop(STOP_GRACE).map(drop)
    }
}

impl Instance {
    /// A process that has just been started; its stderr goes to `output`.
    #[must_use]
    pub fn new(part: &Part, group: Running, address: String, output: PathBuf) -> Self {
        Self {
            name: part.name().to_owned(),
            label: part.label(),
            watched: Rc::new(Watched::nothing()),
            group,
            address,
            output,
            place: None,
            home: None,
        }
    }

    /// The same with a folder of its own.
    #[must_use]
    pub fn with(self, place: Option<TempDir>, home: Option<Home>) -> Self {
        Self { place, home, ..self }
    }

    /// A kept tier, running again for a round.
    #[must_use]
    pub fn unparked(parked: Parked, home: Home) -> Self {
        Self {
            name: parked.name,
            label: parked.label,
            watched: Rc::new(Running::watch(&[&parked.group])),
            group: parked.group,
            address: parked.address,
            output: parked.output,
            place: parked.place,
            home: Some(home),
        }
    }

    /// Polls until it is ready; `look` returns what it found instead.
    ///
    /// # Errors
    /// When it ends early or is not ready in time.
    pub fn wait_until_ready(
        &mut self,
        timeout: Duration,
        interrupt: &Interrupt,
        look: impl Fn() -> Result<(), String>,
    ) -> Result<(), TargetError> {
        let server = || self.label.clone();
        loop {
            let looked = look();
            let waited = self.group.started().elapsed();
            if self.group.has_ended() {
                self.group.bring_errors(&self.output);
                let how = self
                    .group
                    .kill_and_reap()
                    .map_or_else(|error| error.to_string(), in_words);
                return Err(TargetError::Died {
                    server: server(),
                    how,
                    output: tail(&self.output),
                });
            }
            match looked {
                Ok(()) => {
                    self.watched = Rc::new(Running::watch(&[&self.group]));
                    return Ok(());
                }
                Err(last) if waited > timeout => {
                    self.group.bring_errors(&self.output);
                    return Err(TargetError::NotReady {
                        server: server(),
                        timeout,
                        last: self.with_where_it_listens(last),
                        output: tail(&self.output),
                    });
                }
                Err(_) if interrupt.asked() => return Err(TargetError::Interrupted),
                Err(_) => std::thread::sleep(POLL),
            }
        }
    }

    /// The result of the last check, and the address at which it listens instead, if known.
    fn with_where_it_listens(&self, last: String) -> String {
        let own = self.address.rsplit(':').next().and_then(|port| port.parse().ok());
        let here = self.group.here().map(Group::id);
        if let Some(unix) = here.and_then(listening::only_unix) {
            return format!("{last}; {unix}");
        }
        let all = here.map(listening::of).unwrap_or_default();
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
        self.group.bring_errors(&self.output);
        let how = self
            .group
            .kill_and_reap()
            .map_or_else(|error| error.to_string(), in_words);
        Err(format!("{how} under load{}", said(&tail(&self.output))))
    }

    /// Stops it: SIGTERM, then SIGKILL after two seconds. A tier that is kept is parked instead.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn stop(mut self) -> io::Result<()> {
        let Some(home) = self.home else {
            return self.group.stop(STOP_GRACE).map(drop);
        };
        home.kept.park(
            &home.key,
            Parked {
                name: self.name,
                label: self.label,
                group: self.group,
                address: self.address,
                output: self.output,
                place: self.place,
            },
        );
        Ok(())
    }
}
