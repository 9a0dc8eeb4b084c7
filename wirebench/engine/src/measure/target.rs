//! A target: a running server with the tiers behind it. Starts it, waits until it is ready, watches and stops it.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use crate::measure::before;
use crate::measure::cores::Cores;
use crate::measure::grpc::GrpcError;
use crate::measure::instance::{Home, Instance};
use crate::measure::interrupt::Interrupt;
use crate::measure::kept::Kept;
use crate::measure::port;
use crate::measure::probe::ProbeError;
use crate::measure::process::Launch;
use crate::measure::ready::is_ready;
use crate::measure::reflection::Place;
use crate::measure::remote::{self, Host};
use crate::measure::running::Running;
use crate::measure::seed::{self, Captured};
use crate::measure::side::Side;
use crate::measure::tls::Pair;
use crate::measure::watched::Watched;
use wirebench_declare::args::{Arg, Value, expand, fill};
use wirebench_declare::server::{Server, authority};
use wirebench_declare::tier::{DATA, Part};

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
        /// Its exit status, as text.
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
        /// The time limit.
        timeout: Duration,
        /// The result of the last check.
        last: String,
        /// Its last output.
        output: String,
    },
    /// A command in `before` failed.
    #[error("server {server}: {command}, which runs before it, {how}{}", said(output))]
    Before {
        /// The server.
        server: String,
        /// The command.
        command: String,
        /// How it ended.
        how: String,
        /// Its last output.
        output: String,
    },
    /// A command in `before` cannot run on the server's host.
    #[error(
        "server {server}: {command} runs before it, and its files are not on the server's host; measure it on one machine, or leave it out with --server"
    )]
    BeforeElsewhere {
        /// The server.
        server: String,
        /// The command.
        command: String,
    },
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
    /// The operation's request cannot be made.
    #[error("server {server}: {source}")]
    Operation {
        /// The server.
        server: String,
        /// What is wrong.
        source: GrpcError,
    },
    /// A seed failed.
    #[error("server {server}: seed {request}: {why}")]
    Seed {
        /// The server.
        server: String,
        /// Method and path.
        request: String,
        /// What went wrong.
        why: String,
    },
    /// An environment variable that the request names is not set.
    #[error(
        "server {server}: environment variable {variable} is not set; set it, or give a default: {{env:{variable}:default}}"
    )]
    Variable {
        /// The server.
        server: String,
        /// The variable.
        variable: String,
    },
    /// There was no response.
    #[error("server {server}: no answer to the probe: {source}")]
    NoAnswer {
        /// The server.
        server: String,
        /// What went wrong.
        source: ProbeError,
    },
    /// The response is not the expected one.
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

/// A process's last output, as the end of a sentence.
pub(super) fn said(output: &str) -> String {
    if output.is_empty() {
        String::new()
    } else {
        format!("; its last words: {output}")
    }
}

/// A running server: the front, and the tiers behind it.
#[derive(Debug)]
pub struct Target {
    /// The front.
    pub front: Instance,
    /// The tiers, in the order in which they were started.
    pub tiers: Vec<Instance>,
    /// From the first exec to ready.
    pub ready_after: Duration,
    /// All its processes, as found when it was ready.
    pub watched: Rc<Watched>,
    /// The file with the certificate that the front must show over TLS, or with its issuer's.
    pub ca: PathBuf,
    /// The values that its seeds captured.
    pub captured: Captured,
    /// Whether its kept tiers were started with it, so that what is done once is to be done.
    is_new: bool,
}

/// What starting a server's processes needs besides their declarations.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    /// The folder for their output.
    pub folder: &'a Path,
    /// Where they run.
    pub cores: &'a Cores,
    /// The certificate that they show to clients.
    pub tls: &'a Pair,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
    /// Where kept tiers wait between rounds; without it, every tier is started anew.
    pub kept: Option<&'a Arc<Kept>>,
    /// The empty folder of the process that is started, if it has one.
    pub data: Option<&'a Path>,
    /// The host on which they run; `None` for this machine.
    pub host: Option<&'a Host>,
    /// This machine's address for load generators on another host.
    pub reached_at: Option<IpAddr>,
}

impl Ground<'_> {
    /// The address at which a process listens. Tiers behind the front are asked from their own machine only.
    pub(super) fn ip_of(&self, part: &Part) -> IpAddr {
        match (self.host, self.reached_at) {
            (Some(host), _) => host.ip(),
            (None, Some(ip)) if part.tier.is_none() => ip,
            (None, _) => part.host,
        }
    }
}

/// The values of a process's placeholders: a port (or a placeholder for one), and the addresses of the tiers that run
/// already.
pub(super) fn values(host: IpAddr, ground: &Ground, port: &str, before: &[Instance]) -> BTreeMap<String, Value> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let threads = ground.host.map_or_else(|| ground.cores.server_threads(), Host::cpus);
    let own = [
        ("address", authority(host, port)),
        ("host", host.to_string()),
        ("port", port.to_owned()),
        ("threads", threads.to_string()),
        ("tls_cert", text(&ground.tls.certificate())),
        ("tls_key", text(&ground.tls.key())),
    ];
    let tiers = before.iter().map(|tier| (tier.name.clone(), tier.address.clone()));
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    let data = ground.data.map(|folder| (DATA.to_owned(), text(folder)));
    own.chain(tiers)
        .chain(data)
        .map(|(name, value)| (name, Value::One(value)))
        .collect()
}

/// The command line of one process on one side, program first, for a given port (or a placeholder for one).
///
/// # Panics
/// Never for a server that `Server::check` accepted, as it rejects unknown placeholders, and that the side has built.
#[must_use]
pub fn argv(side: &Side, part: &Part, ground: &Ground, port: &str, before: &[Instance]) -> Vec<String> {
    let args = expand(part.args, &values(ground.ip_of(part), ground, port, before))
        .expect("Server::check refuses unknown placeholders");
    let program = side.programs[&part.key()].iter().cloned();
    program.chain(args).collect()
}

/// The environment of one process for a given port (or a placeholder for one). Braces that name no placeholder stay as they
/// are.
#[must_use]
pub fn environment(
    side: &Side,
    part: &Part,
    ground: &Ground,
    port: &str,
    before: &[Instance],
) -> BTreeMap<String, String> {
    let values = values(ground.ip_of(part), ground, port, before);
    let declared = part
        .env
        .iter()
        .map(|(name, text)| (name.clone(), fill(text, &values, 0)));
    let own = side.environment.clone().into_iter();
    own.chain(declared).collect()
}

impl Target {
    /// Starts one of a side's servers on a free port, its tiers before it, and waits until it is ready.
    ///
    /// # Errors
    /// When one of its processes cannot be started, ends early, or is not ready in time, or a seed fails.
    pub fn start(side: &Side, server: &Server, ground: &Ground) -> Result<Self, TargetError> {
        let mut target = Self::launch(side, server, ground)?;
        let (address, ca) = (target.front.address.clone(), target.ca.clone());
        let look = || is_ready(&server.ready, &address, server.protocols[0], &ca);
        target.wait_until_ready(server, ground.interrupt, look)?;
        target.sow(side, server, ground)?;
        Ok(target)
    }

    /// Sends the seeds of the server, which is ready.
    ///
    /// # Errors
    /// When a seed fails.
    pub fn sow(&mut self, side: &Side, server: &Server, ground: &Ground) -> Result<(), TargetError> {
        let place = Place {
            address: &self.front.address,
            protocol: server.protocols[0],
            ca: &self.ca,
        };
        seed::sow(server, place, self.is_new, &mut self.captured)?;
        if let (Some(kept), true) = (ground.kept, self.is_new && server.tiers.iter().any(|tier| tier.keep)) {
            kept.remember(&key(side, &server.name), self.captured.clone());
        }
        Ok(())
    }

    /// The same, but the front is not ready yet; its tiers are.
    ///
    /// # Errors
    /// When the front cannot be started, or a tier does not get ready.
    pub fn launch(side: &Side, server: &Server, ground: &Ground) -> Result<Self, TargetError> {
        let key = key(side, &server.name);
        let (mut waiting, captured) = match ground.kept.and_then(|kept| kept.take(&key)) {
            Some((waiting, captured)) => (waiting, captured),
            None => (Vec::new(), Captured::new()),
        };
        let is_new = waiting.is_empty();
        let mut tiers: Vec<Instance> = Vec::new();
        for part in server.behind() {
            if let Some(place) = waiting.iter().position(|tier| tier.name == part.name()) {
                tiers.push(waiting.swap_remove(place));
                continue;
            }
            let mut tier = born(side, &part, ground, &tiers)?;
            let (address, ca) = (tier.address.clone(), ground.tls.certificate());
            let look = || is_ready(part.ready, &address, part.protocol, &ca);
            tier.wait_until_ready(part.ready_timeout.0, ground.interrupt, look)?;
            tiers.push(tier);
        }
        before::run(side, server, ground, &tiers, is_new)?;
        let front = born(side, &server.front(), ground, &tiers)?;
        let watched = Rc::new(front.group.watch_leader());
        Ok(Self {
            front,
            tiers,
            ready_after: Duration::ZERO,
            watched,
            ca: certificate(side, server, ground.tls),
            captured,
            is_new,
        })
    }

    /// Polls until the front is ready; `look` returns what it found instead.
    ///
    /// # Errors
    /// When it ends early or is not ready in time.
    pub fn wait_until_ready(
        &mut self,
        server: &Server,
        interrupt: &Interrupt,
        look: impl Fn() -> Result<(), String>,
    ) -> Result<(), TargetError> {
        self.front.wait_until_ready(server.ready_timeout.0, interrupt, look)?;
        let first = self.tiers.first().unwrap_or(&self.front);
        self.ready_after = first.group.started().elapsed();
        let groups: Vec<&Running> = self.instances().map(|one| &one.group).collect();
        self.watched = Rc::new(Running::watch(&groups));
        Ok(())
    }

    /// The front, then the tiers, the nearest first.
    pub fn instances(&self) -> impl Iterator<Item = &Instance> {
        [&self.front].into_iter().chain(self.tiers.iter().rev())
    }

    /// Whether every process still runs.
    ///
    /// # Errors
    /// When one has ended: which, how, and its last output.
    pub fn still_runs(&mut self) -> Result<(), String> {
        // When a tier ends, processes in front of it may end too: checks the deepest one first.
        for tier in &mut self.tiers {
            tier.still_runs().map_err(|how| format!("tier {} {how}", tier.name))?;
        }
        self.front.still_runs().map_err(|how| format!("the server {how}"))
    }

    /// Sends SIGTERM to the front, SIGKILL after `grace`, and returns whether it ended by itself. If the leader of its
    /// group only traces the server, it gets no signal. The tiers are stopped afterwards.
    ///
    /// # Errors
    /// When one cannot be waited for.
    pub fn end(mut self, grace: Duration, watched: bool) -> io::Result<bool> {
        let ended = self.front.group.end(grace, watched);
        stop_all(self.tiers)?;
        ended
    }

    /// Stops only the front: SIGTERM, then SIGKILL after two seconds. The tiers keep running.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn stop_front(self) -> io::Result<Vec<Instance>> {
        self.front.stop()?;
        Ok(self.tiers)
    }

    /// Stops everything, the front first.
    ///
    /// # Errors
    /// When a process cannot be waited for.
    pub fn stop(self) -> io::Result<()> {
        stop_all(self.stop_front()?)
    }
}

/// Stops tiers, the one started last first.
///
/// # Errors
/// When one cannot be waited for; the others are stopped all the same.
pub fn stop_all(tiers: Vec<Instance>) -> io::Result<()> {
    let mut stopped = Ok(());
    for tier in tiers.into_iter().rev() {
        stopped = stopped.and(tier.stop());
    }
    stopped
}

/// The file with the certificate that clients of a server trust: its own, or that of the run.
fn certificate(side: &Side, server: &Server, tls: &Pair) -> PathBuf {
    let own = server.ca.as_ref().map(|file| side.folder.join(file));
    own.unwrap_or_else(|| tls.certificate())
}

/// The key under which the kept tiers of a server wait.
fn key(side: &Side, server: &str) -> String {
    format!("{} {server}", side.revision.variant.name())
}

/// Starts one process of a server on a free port.
fn born(side: &Side, part: &Part, ground: &Ground, before: &[Instance]) -> Result<Instance, TargetError> {
    if let Some(host) = ground.host {
        return remote::born(host, side, part, ground, before);
    }
    let failed = |program: &str, source| TargetError::Start {
        server: part.label(),
        program: program.to_owned(),
        source,
    };
    let place = place(part).map_err(|source| failed("a folder for its files", source))?;
    let data = place.as_ref().map(|place| place.path().join(DATA));
    let ground = &Ground {
        data: data.as_deref(),
        ..*ground
    };
    let host = ground.ip_of(part);
    if let Some(fixed) = part.port {
        port::wait_for(host, fixed);
    }
    let port = port::free(host, part.port).map_err(|(port, source)| TargetError::PortTaken {
        server: part.label(),
        port,
        source,
    })?;
    let port = port.to_string();
    let argv = argv(side, part, ground, &port, before);
    // The output of a kept tier outlives the round.
    let folder = place
        .as_ref()
        .filter(|_| part.keep)
        .map_or(ground.folder, TempDir::path);
    let file = |stream: &str| match part.tier {
        None => folder.join(format!("server.{stream}")),
        Some(tier) => folder.join(format!("tier-{tier}.{stream}")),
    };
    let launch = Launch {
        argv: &argv,
        folder: &side.folder,
        env: &environment(side, part, ground, &port, before),
        stdout: file("stdout"),
        stderr: file("stderr"),
        cores: &ground.cores.server,
    };
    let group = launch.start().map_err(|source| failed(&argv[0], source))?;
    let home = ground.kept.filter(|_| part.keep).map(|kept| Home {
        kept: Arc::clone(kept),
        key: key(side, part.server),
    });
    Ok(Instance::new(part, Running::Here(group), authority(host, &port), launch.stderr).with(place, home))
}

/// A folder for the files of a tier that is kept or names `{data}`, with an empty folder `data` in it.
fn place(part: &Part) -> io::Result<Option<TempDir>> {
    let named = |text: &String| text.contains(&format!("{{{DATA}}}"));
    let by_args = part.args.iter().flat_map(Arg::placeholders).any(|word| word == DATA);
    if part.tier.is_none() || !(part.keep || by_args || part.env.values().any(named)) {
        return Ok(None);
    }
    let place = tempfile::Builder::new().prefix("wirebench-").tempdir()?;
    std::fs::create_dir(place.path().join(DATA))?;
    Ok(Some(place))
}
