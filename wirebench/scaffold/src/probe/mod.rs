//! Probes a program: builds it, starts it, reads from /proc where it listens, sends it requests, and declares the
//! result with the evidence for each line.

mod calls;
mod confirm;
mod http;
mod openapi;
mod speak;
mod start;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::files::Files;
use crate::probe::start::Running;
use crate::program::{Made, Program};
use crate::proto::Call;
use crate::ways::{self, Way};
use wirebench_declare::args::Arg;
use wirebench_declare::profiles::Profiles;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{self, Ready, Server};
use wirebench_declare::span::Span;
use wirebench_engine::measure::build::Builder;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::measure::side::Side;
use wirebench_engine::measure::tls::TlsFiles;
use wirebench_record::run::VariantRevision;

/// The context of a probe.
pub struct Scene<'a> {
    /// The folder that commands run in.
    pub root: &'a Path,
    /// The name of the code, for the messages of a build.
    pub revision: VariantRevision,
    /// The certificate that servers show.
    pub tls: &'a TlsFiles,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
    /// Receives progress lines.
    pub say: &'a dyn Fn(&str),
}

/// A probed server, ready to be declared.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// The declaration.
    pub(super) server: Server,
    /// The evidence for keys of the declaration.
    pub(super) because: BTreeMap<&'static str, String>,
    /// The evidence for each operation.
    pub(super) operations: BTreeMap<String, Because>,
    /// Other paths with a response, which are not declared.
    pub(super) more: Vec<String>,
    /// The open questions.
    pub(super) questions: Vec<String>,
    /// Whether it closes a connection after each response: load generators that keep connections cannot measure it.
    pub(super) closes: bool,
}

/// The evidence for an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Because {
    /// Where the request comes from.
    pub(super) request: String,
    /// The origin of the expected response.
    pub(super) expect: String,
}

/// Why a program could not be probed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unseen {
    /// The reason.
    pub(super) reason: String,
    /// The question to be answered first, if known.
    pub(super) questions: Vec<String>,
}

impl From<String> for Unseen {
    fn from(reason: String) -> Self {
        Self {
            reason,
            questions: Vec::new(),
        }
    }
}

/// How long a server may take to get ready, at least.
const READY_AT_LEAST: Duration = Duration::from_secs(10);

/// Probes one program.
///
/// # Errors
/// When it cannot be built or started, does not listen, or no good response was found; the error is a sentence.
pub(super) fn look(scene: &Scene, files: &Files, program: &Program, calls: &[Call]) -> Result<Seen, Unseen> {
    let draft = draft(program);
    let (side, took) = build(scene, &draft)?;
    (scene.say)(&format!("{}: starting it", program.name));
    let place = tempfile::tempdir().map_err(|error| format!("a temporary folder cannot be made: {error}"))?;
    let cores = Cores::shared();
    let stage = start::Stage {
        scene,
        side: &side,
        folder: place.path(),
        cores: &cores,
    };
    let (way, running) = stage.find(&draft, &ways::of(files, program))?;
    let mut seen = Seen {
        server: told(&draft, &way),
        because: evidence(&way, &running, took),
        operations: BTreeMap::new(),
        more: Vec::new(),
        questions: Vec::new(),
        closes: false,
    };
    seen.questions.extend(running.unmeasured());
    ask(scene, files, program, calls, &running, &mut seen)?;
    let ready_after = running.listened_after;
    running.stop();
    let least = READY_AT_LEAST.max(Duration::from_secs((ready_after.as_secs() + 1) * 4));
    seen.server.ready_timeout = Span(least);
    confirm::confirm(&stage, &mut seen)?;
    Ok(seen)
}

/// The declaration before the probe.
fn draft(program: &Program) -> Server {
    let (made, build) = match &program.made {
        Made::Package(package) => (server::Program::Package(package.clone()), None),
        Made::Command { build, command } => (server::Program::Command(command.clone()), build.clone()),
    };
    Server {
        name: program.name.clone(),
        about: program.about.clone(),
        profiles: Profiles::all(),
        protocols: vec![Protocol::Http],
        program: made,
        build,
        args: Vec::new(),
        env: BTreeMap::new(),
        host: server::LOOPBACK,
        port: None,
        ca: None,
        ready: Ready::Tcp(true),
        ready_timeout: Span(READY_AT_LEAST),
        tiers: Vec::new(),
        before: Vec::new(),
        seed: Vec::new(),
        operations: BTreeMap::new(),
    }
}

/// A declaration that sets the port in this way.
fn told(draft: &Server, way: &Way) -> Server {
    Server {
        args: way.args.iter().cloned().map(Arg::One).collect(),
        env: way.env.clone(),
        port: way.fixed,
        ..draft.clone()
    }
}

fn build(scene: &Scene, server: &Server) -> Result<(Side, Duration), Unseen> {
    let with = match (&server.program, &server.build) {
        (server::Program::Package(package), _) => format!("cargo build --release --package {package}"),
        (_, Some(build)) => shell_words::join(build),
        (server::Program::Command(_), None) => String::new(),
    };
    if !with.is_empty() {
        (scene.say)(&format!("{}: building it with: {with}", server.name));
    }
    let began = Instant::now();
    let mut side = Side::new(
        scene.revision.clone(),
        scene.root.to_path_buf(),
        std::slice::from_ref(server),
    );
    let builder = Builder {
        folder: scene.root.to_path_buf(),
        ..Builder::default()
    };
    side.build([server.name.as_str()].into_iter(), &builder);
    match side.broken.remove(&server.name) {
        Some(reason) => Err(Unseen::from(format!("it cannot be built: {reason}"))),
        None => Ok((side, began.elapsed())),
    }
}

fn evidence(way: &Way, running: &Running, built: Duration) -> BTreeMap<&'static str, String> {
    let mut because = BTreeMap::new();
    because.insert("build", format!("worked, in {:.1} s", built.as_secs_f64()));
    let after = running.listened_after.as_secs_f64();
    let port = running.port;
    let heard = match way.fixed {
        Some(_) => format!(
            "told {}, it listened on {} all the same, after {after:.1} s; better is a port that it is told",
            running.tried, running.at
        ),
        None => format!(
            "started with {} set to port {port}, it listened on {} after {after:.1} s",
            way.names(),
            running.at
        ),
    };
    for key in ["args", "env", "port"] {
        because.insert(key, heard.clone());
    }
    because
}

/// Sends requests to the running server and declares those with a good response.
fn ask(
    scene: &Scene,
    files: &Files,
    program: &Program,
    calls: &[Call],
    running: &Running,
    seen: &mut Seen,
) -> Result<(), Unseen> {
    let address = format!("127.0.0.1:{}", running.port);
    (scene.say)(&format!("{}: listens on {}; asking it", program.name, running.at));
    let spoken = speak::to(&address, scene.tls);
    if let Some(question) = spoken.question {
        seen.questions.push(question);
    }
    let Some((first, _)) = spoken.protocols.first() else {
        return Err(Unseen {
            reason: format!(
                "it listens on {}, but answers neither HTTP/1.1, HTTP/2 nor gRPC there",
                running.at
            ),
            questions: std::mem::take(&mut seen.questions),
        });
    };
    let first = *first;
    seen.closes = spoken.closes && first == Protocol::Http;
    seen.server.protocols = spoken.protocols.iter().map(|(protocol, _)| *protocol).collect();
    let words: Vec<&str> = spoken.protocols.iter().map(|(_, words)| words.as_str()).collect();
    seen.because.insert("protocols", words.join("; "));
    if spoken.grpc {
        calls::ask(scene, &address, calls, seen);
    }
    if first != Protocol::Grpc {
        http::ask(files, program, &address, first, seen);
    }
    if seen.operations.is_empty() {
        return Err(Unseen {
            reason: "it answers, but no request with a good answer was found".into(),
            questions: std::mem::take(&mut seen.questions),
        });
    }
    Ok(())
}
