//! Probes a program: builds it, starts it, reads from /proc where it listens, sends it requests, and declares the
//! result with the evidence for each line.

mod calls;
mod candidates;
mod confirm;
mod http;
mod machine;
mod openapi;
mod probed;
mod speak;
mod start;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use self::http::KnownRoutes;
pub use self::probed::ProbeContext;
pub(crate) use self::probed::{CONNECTIONS, Evidence, ProbeFailure, ProbedServer};
pub(crate) use self::start::declared_with;
use self::start::{Launcher, Running};
use crate::files::Files;
use crate::port_settings::{self, PortSetting};
use crate::program::Program;
use crate::proto::Call;
use wirebench_declare::args::Arg;
use wirebench_declare::profiles::Profiles;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{self, Before, Operation, Ready, Server};
use wirebench_declare::span::Span;
use wirebench_declare::tier::Part;
use wirebench_engine::measure::build::Builder;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::listening;
use wirebench_engine::measure::side::Side;

/// Some servers listen before they know their routes (Javalin: 0.3 s), and answer 404 until then. They get this time, and
/// half of what they took to listen, which grows with the load of the machine.
const LEARNS_ROUTES: Duration = Duration::from_secs(1);
/// How long a server may take to get ready, at least.
const READY_AT_LEAST: Duration = Duration::from_secs(10);

/// Probes one program.
///
/// # Errors
/// When it cannot be built or started, does not listen, or no good response was found; the error is a sentence.
pub(super) fn probe(
    context: &ProbeContext,
    files: &Files,
    program: &Program,
    calls: &[Call],
) -> Result<ProbedServer, ProbeFailure> {
    let draft = draft(program);
    let (side, took) = build(context, &draft)?;
    (context.say)(&format!("{}: starting it", program.name));
    let output = tempfile::tempdir().map_err(|error| format!("a temporary folder cannot be made: {error}"))?;
    let cores = Cores::shared();
    let launcher = Launcher {
        context,
        side: &side,
        folder: output.path(),
        cores: &cores,
    };
    let (setting, running) = launcher.find(&draft, &port_settings::of(files, program))?;
    let evidence = evidence_of(&setting, &running, took);
    let mut probed = ProbedServer::new(declared_with(&draft, &setting), evidence);
    probed.questions.extend(running.unmeasured());
    let routes = http::known_routes(&launcher.output(), files, program);
    let ask = || {
        probe_running(context, &routes, calls, &running, &mut probed)?;
        let least = Duration::from_secs((running.listened_after.as_secs() + 1) * 4);
        running.stop();
        probed.server.front.ready_timeout = Span(least.max(READY_AT_LEAST));
        confirm::confirm(&launcher, &mut probed)
    };
    // It listened when it was started in this way.
    ask().map_err(|why| ProbeFailure {
        way: Some(setting),
        ..why
    })?;
    Ok(probed)
}

/// The declaration before the probe.
pub(crate) fn draft(program: &Program) -> Server {
    let before = |words: &Vec<String>| Before {
        command: words.iter().cloned().map(Arg::One).collect(),
        once: false,
    };
    Server {
        name: program.name.clone(),
        about: program.about.clone(),
        profiles: Profiles::all(),
        protocols: vec![Protocol::Http],
        front: Part {
            server: program.name.clone(),
            tier: None,
            program: program.started.clone(),
            build: program.build.clone(),
            working_directory: program.folder.clone().map(Into::into),
            args: Vec::new(),
            env: program.env.clone(),
            host: server::LOOPBACK,
            port: None,
            ready: Ready::Tcp(true),
            ready_timeout: Span(READY_AT_LEAST),
            protocol: Protocol::Http,
            keep: false,
        },
        ca: None,
        tiers: Vec::new(),
        before: program.before.iter().map(before).collect(),
        seed: Vec::new(),
        operations: BTreeMap::new(),
    }
}

fn build(context: &ProbeContext, server: &Server) -> Result<(Side, Duration), ProbeFailure> {
    let with = match (&server.front.program, &server.front.build) {
        (server::Program::Package(package), _) => format!("cargo build --release --package {package}"),
        (_, Some(build)) => shell_words::join(build),
        (server::Program::Command(_), None) => String::new(),
    };
    if !with.is_empty() {
        (context.say)(&format!("{}: building it with: {with}", server.name));
    }
    let began = Instant::now();
    let (folder, servers) = (context.root.to_path_buf(), std::slice::from_ref(server));
    let mut side = Side::new(context.revision.clone(), folder.clone(), servers);
    let builder = Builder {
        folder,
        interrupt: context.interrupt.clone(),
        ..Builder::default()
    };
    side.build([server.name.as_str()].into_iter(), &builder);
    match side.broken.remove(&server.name) {
        Some(reason) => Err(ProbeFailure {
            is_of_build: true,
            ..ProbeFailure::from(format!("it cannot be built: {reason}"))
        }),
        None => Ok((side, began.elapsed())),
    }
}

fn evidence_of(setting: &PortSetting, running: &Running, built: Duration) -> BTreeMap<&'static str, String> {
    let (at, port, after) = (running.at, running.port, running.listened_after.as_secs_f64());
    let (tried, set) = (&running.tried, setting.names());
    let heard = match setting.fixed {
        Some(_) => format!(
            "told {tried}, it listened on {at} all the same, after {after:.1} s; better is a port that it is told"
        ),
        None => format!("started with {set} set to port {port}, it listened on {at} after {after:.1} s"),
    };
    let worked = format!("worked, in {:.1} s", built.as_secs_f64());
    let heard = ["args", "env", "port"].map(|key| (key, heard.clone()));
    heard.into_iter().chain([("build", worked)]).collect()
}

/// Keeps the operations of one kind, requests or else calls, and the protocols that carry them: counts pair every operation of a
/// server with every protocol of it.
fn keep_one_kind(probed: &mut ProbedServer) {
    let is_call = |operation: &Operation| matches!(operation, Operation::Grpc(_));
    let calls = probed.server.operations.values().all(is_call);
    if probed.server.operations.is_empty() {
        return;
    }
    probed.server.protocols.retain(|protocol| protocol.is_grpc() == calls);
    let operations = &mut probed.server.operations;
    for (name, operation) in operations.extract_if(.., |_, operation| is_call(operation) != calls) {
        probed.operations.remove(&name);
        if let Operation::Grpc(call) = operation {
            probed.more.push(format!("{} (gRPC: in a second server)", call.call));
        }
    }
}

/// Sends requests to the running server and declares those with a good response.
fn probe_running(
    context: &ProbeContext,
    routes: &KnownRoutes,
    calls: &[Call],
    running: &Running,
    probed: &mut ProbedServer,
) -> Result<(), ProbeFailure> {
    let address = format!("127.0.0.1:{}", running.port);
    (context.say)(&format!("{}: listens on {}; asking it", probed.server.name, running.at));
    std::thread::sleep(LEARNS_ROUTES.max(running.listened_after / 2));
    let spoken = speak::detect(&address, context.tls, calls);
    if let Some(question) = spoken.question {
        probed.questions.push(question);
    }
    let (protocols, words): (Vec<Protocol>, Vec<String>) = spoken.protocols.into_iter().unzip();
    let Some(first) = protocols.first().copied() else {
        let (at, neither) = (running.at, "but answers neither HTTP/1.1, HTTP/2 nor gRPC there");
        return Err(probed.failure(format!("it listens on {at}, {neither}")));
    };
    probed.closes = spoken.closes && first == Protocol::Http;
    if probed.closes {
        // Each request connects anew. What does not fit into the queue of connections to accept waits for a second.
        let queue = listening::backlog(running.port).unwrap_or(CONNECTIONS);
        probed.connections = queue.clamp(1, CONNECTIONS);
    }
    probed.evidence.insert("protocols", words.join("; "));
    if protocols.contains(&Protocol::Grpc) {
        calls::probe(context, &address, calls, probed);
    }
    probed.server.protocols = protocols;
    if first != Protocol::Grpc {
        http::probe(routes, &address, first, probed);
    }
    keep_one_kind(probed);
    if probed.operations.is_empty() {
        return Err(probed.failure("it answers, but no request with a good answer was found".into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Files;
    use crate::guess;
    use crate::recipes;

    #[test]
    fn a_server_of_requests_and_calls_keeps_its_requests() {
        let main = "package main\nfunc main() { http.ListenAndServe(\":1\", nil); grpc.NewServer() }\n";
        let files = Files::of(&[("go.mod", "module x\n"), ("main.go", main)]);
        let mut probed = guess::guessed(&recipes::programs(&files)[0], &[], None);
        assert_eq!(probed.server.operations.len(), 2);
        keep_one_kind(&mut probed);
        let names: Vec<&str> = probed.server.operations.keys().map(String::as_str).collect();
        assert_eq!(
            (names, probed.server.protocols.as_slice()),
            (vec!["home"], &[Protocol::Http][..])
        );
        assert_eq!(probed.more, ["package.Service/Method (gRPC: in a second server)"]);
        probed.server.operations.clear();
        keep_one_kind(&mut probed);
        assert_eq!(probed.server.protocols, [Protocol::Http]);
    }
}
