//! A target: a server started, awaited, watched, and stopped.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use crate::declare::args::{Value, Values, expand, fill};
use crate::declare::server::Server;
use crate::measure::cores::Cores;
use crate::measure::grpc::GrpcError;
use crate::measure::interrupt::Interrupt;
use crate::measure::port;
use crate::measure::probe::ProbeError;
use crate::measure::process::{Group, Launch, in_words, tail};
use crate::measure::ready::is_ready;
use crate::measure::side::Side;
use crate::measure::tls::Pair;
use crate::measure::usage::Watched;

const STOP_GRACE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(1);

/// Why a server cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// No port, or the fixed one is taken.
    #[error(
        "server {server}: port {port} is taken by another program ({source}); stop that program, or let the server's arguments take {{port}}"
    )]
    PortTaken {
        /// The server.
        server: String,
        /// The port.
        port: u16,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The program cannot be started.
    #[error("server {server}: cannot start {program}: {source}")]
    Start {
        /// The server.
        server: String,
        /// Its program.
        program: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// It ended before it was ready.
    #[error("server {server}: {how} before it was ready{}", said(output))]
    Died {
        /// The server.
        server: String,
        /// Its exit status in words.
        how: String,
        /// Its last output.
        output: String,
    },
    /// It is still not ready.
    #[error(
        "server {server}: not ready within {timeout:?} (last answer: {last}); raise its ready_timeout if it needs longer{}",
        said(output)
    )]
    NotReady {
        /// The server.
        server: String,
        /// How long it was given.
        timeout: Duration,
        /// What the last look said.
        last: String,
        /// Its last output.
        output: String,
    },
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
    /// The operation cannot be asked at all.
    #[error("server {server}: {source}")]
    Operation {
        /// The server.
        server: String,
        /// What is wrong.
        source: GrpcError,
    },
    /// It did not answer.
    #[error("server {server}: no answer to the probe: {source}")]
    NoAnswer {
        /// The server.
        server: String,
        /// What went wrong.
        source: ProbeError,
    },
    /// It answered something else.
    #[error("server {server}: wrong answer: expected {expected}, found {found}")]
    WrongAnswer {
        /// The server.
        server: String,
        /// From server.toml.
        expected: String,
        /// From the wire.
        found: String,
    },
}

fn said(output: &str) -> String {
    if output.is_empty() {
        String::new()
    } else {
        format!("; its last words: {output}")
    }
}

/// A server that runs and answers.
#[derive(Debug)]
pub struct Target {
    /// Its process group.
    pub group: Group,
    /// `127.0.0.1:port`.
    pub address: String,
    /// From exec to ready.
    pub ready_after: Duration,
    /// Its processes, as found when it was ready.
    pub watched: Rc<Watched>,
    output: PathBuf,
}

/// The server's command line on one side, program first, for a given port (or a placeholder for one).
///
/// # Panics
/// Never for a server that `Server::check` made, as it refuses unknown placeholders, and that the side has built.
#[must_use]
pub fn argv(side: &Side, server: &Server, port: &str, threads: usize, tls: &Pair) -> Vec<String> {
    let args = expand(&server.args, &values(port, threads, tls)).expect("Server::check refuses unknown placeholders");
    let program = side.programs[&server.name].iter().cloned();
    program.chain(args).collect()
}

/// The server's environment for a given port (or a placeholder for one). Braces that name no placeholder stay as they are.
#[must_use]
pub fn environment(server: &Server, port: &str, threads: usize, tls: &Pair) -> BTreeMap<String, String> {
    let values = values(port, threads, tls);
    let filled = server
        .env
        .iter()
        .map(|(name, text)| (name.clone(), fill(text, &values, 0)));
    filled.collect()
}

/// What a server's placeholders stand for.
fn values(port: &str, threads: usize, tls: &Pair) -> Values {
    let text = |path: PathBuf| Value::One(path.to_string_lossy().into_owned());
    Values::from([
        ("tls_cert", text(tls.certificate())),
        ("tls_key", text(tls.key())),
        ("address", Value::One(format!("127.0.0.1:{port}"))),
        ("host", Value::One("127.0.0.1".into())),
        ("port", Value::One(port.to_owned())),
        ("threads", Value::One(threads.to_string())),
    ])
}

impl Target {
    /// Starts one of a side's servers on a free port and waits until it is ready. Its output goes to `folder`.
    ///
    /// # Errors
    /// When it cannot be started, ends early, or is not ready in time.
    pub fn start(
        side: &Side,
        server: &Server,
        folder: &Path,
        cores: &Cores,
        tls: &Pair,
        interrupt: &Interrupt,
    ) -> Result<Self, TargetError> {
        let mut target = Self::launch(side, server, folder, cores, tls)?;
        let address = target.address.clone();
        let ca = tls.certificate();
        let look = || is_ready(&server.ready, &address, server.protocols[0], &ca);
        target.wait_until_ready(server, interrupt, look)?;
        Ok(target)
    }

    /// Starts one of a side's servers on a free port; it is not ready yet. Its output goes to `folder`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn launch(side: &Side, server: &Server, folder: &Path, cores: &Cores, tls: &Pair) -> Result<Self, TargetError> {
        let port = port::free(server.port).map_err(|(port, source)| TargetError::PortTaken {
            server: server.name.clone(),
            port,
            source,
        })?;
        let argv = argv(side, server, &port.to_string(), cores.server_threads(), tls);
        let output = folder.join("server.stderr");
        let launch = Launch {
            argv: &argv,
            folder: &side.folder,
            env: &environment(server, &port.to_string(), cores.server_threads(), tls),
            stdout: folder.join("server.stdout"),
            stderr: output.clone(),
            cores: &cores.server,
        };
        let group = launch.start().map_err(|source| TargetError::Start {
            server: server.name.clone(),
            program: argv[0].clone(),
            source,
        })?;
        let address = format!("127.0.0.1:{port}");
        let watched = Rc::new(Watched::leader(group.id()));
        Ok(Self {
            group,
            address,
            ready_after: Duration::ZERO,
            watched,
            output,
        })
    }

    /// Looks again and again until the server is ready; `look` says what it found instead.
    ///
    /// # Errors
    /// When the server ends early or is not ready in time.
    pub fn wait_until_ready(
        &mut self,
        server: &Server,
        interrupt: &Interrupt,
        look: impl Fn() -> Result<(), String>,
    ) -> Result<(), TargetError> {
        let timeout = server.ready_timeout.0;
        loop {
            let looked = look();
            let waited = self.group.started.elapsed();
            if self.group.has_ended() {
                let how = self
                    .group
                    .kill_and_reap()
                    .map_or_else(|error| error.to_string(), in_words);
                return Err(TargetError::Died {
                    server: server.name.clone(),
                    how,
                    output: tail(&self.output),
                });
            }
            match looked {
                Ok(()) => {
                    self.ready_after = waited;
                    self.watched = Rc::new(Watched::group(self.group.id()));
                    return Ok(());
                }
                Err(last) if waited > timeout => {
                    let output = tail(&self.output);
                    return Err(TargetError::NotReady {
                        server: server.name.clone(),
                        timeout,
                        last,
                        output,
                    });
                }
                Err(_) if interrupt.asked() => return Err(TargetError::Interrupted),
                Err(_) => std::thread::sleep(POLL),
            }
        }
    }

    /// Whether the server still runs; its exit in words when not.
    ///
    /// # Errors
    /// When it has ended, with how and its last output.
    pub fn still_runs(&mut self) -> Result<(), String> {
        if !self.group.has_ended() {
            return Ok(());
        }
        let how = self
            .group
            .kill_and_reap()
            .map_or_else(|error| error.to_string(), in_words);
        Err(format!("{how}{}", said(&tail(&self.output))))
    }

    /// Asks it to end and gives it `grace`, then kills it; whether it ended by itself. The leader of its group is not asked
    /// when that only watches the server.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn end(mut self, grace: Duration, watched: bool) -> io::Result<bool> {
        self.group.end(grace, watched)
    }

    /// Stops it: asked first, killed after two seconds.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn stop(mut self) -> io::Result<()> {
        self.group.stop(STOP_GRACE).map(drop)
    }
}
