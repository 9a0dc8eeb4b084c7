//! Writes a `wirebench.toml` from probed servers. Each line has its evidence as a comment.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::guess;
use crate::probe::{Evidence, ProbeFailure, ProbedServer};
use crate::program::{LaunchMethod, Program};
use crate::proto::Call;
use crate::write::{FOOT, list, scenarios, text};
use wirebench_declare::args::Arg;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{
    GrpcOperation, HttpOperation, Operation, Program as Started, ProtoFile, Ready, Server,
};

pub(super) const HEAD: &str = "# How wirebench measures the servers of this repository. Every key: docs/FORMAT.md of wirebench.
# Written by `wirebench init` from servers that were built, started and asked: the comment behind a line is its evidence.
";

/// The column of comments on shorter lines.
const COMMENT_AT: usize = 44;

/// The whole file: tables for the probed servers; then, as comments, programs that could not be probed, and the open
/// questions.
pub(super) fn toml(
    head: &str,
    probed: &[ProbedServer],
    failures: &[(Program, ProbeFailure)],
    calls: &[Call],
    exposed: Option<u16>,
) -> String {
    let mut out = head.to_owned();
    let speaks = |grpc: bool| {
        probed
            .iter()
            .any(|one| one.server.protocols.iter().any(|protocol| protocol.is_grpc() == grpc))
    };
    let closes = probed.iter().any(|one| one.closes);
    let keeps = speaks(false) && probed.iter().any(|one| !one.closes);
    let drivers = [("hey", keeps), ("ab", closes), ("ghz", speaks(true))];
    let drivers: Vec<String> = drivers
        .iter()
        .filter(|(_, needed)| *needed)
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let ab = if closes {
        ", ab (HTTP, a new connection for each request)"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "\nbuiltin_drivers = {}   # load generators: hey (HTTP){ab} and ghz (gRPC); there are also h2load and hyperfine (start-up)",
        list(&drivers)
    );
    let mut operations: BTreeMap<String, Option<&str>> = BTreeMap::new();
    for one in probed {
        server(&mut out, one);
        // Each to its load generator: hey cannot send a call, and keeps connections that a server closes.
        for (name, operation) in &one.server.operations {
            let driver = (drivers.len() > 1).then(|| driver(operation, one.closes));
            let known = operations.entry(name.clone()).or_insert(driver);
            *known = known.filter(|known| Some(*known) == driver);
        }
    }
    scenarios(&mut out, &operations);
    for (program, why) in failures {
        let _ = writeln!(out, "\n# {}: not declared: {}", program.name, plain(&why.reason));
        let mut guessed = String::new();
        server(&mut guessed, &guess::guessed(program, calls, exposed));
        for line in guessed.lines().filter(|line| !line.is_empty()) {
            let _ = writeln!(out, "# {line}");
        }
    }
    out.push_str(&questions(probed, failures));
    out + FOOT
}

/// The load generator of an operation.
fn driver(operation: &Operation, closes: bool) -> &'static str {
    match operation {
        Operation::Grpc(_) => "ghz",
        _ if closes => "ab",
        _ => "hey",
    }
}

/// Every question, one a line.
pub(super) fn asked(probed: &[ProbedServer], failures: &[(Program, ProbeFailure)]) -> Vec<String> {
    let of_seen = probed.iter().map(|one| (&one.server.name, &one.questions));
    let of_unseen = failures.iter().map(|(program, why)| (&program.name, &why.questions));
    of_seen
        .chain(of_unseen)
        .flat_map(|(name, questions)| {
            questions
                .iter()
                .map(move |question| format!("{name}: {}", plain(question)))
        })
        .collect()
}

fn questions(probed: &[ProbedServer], failures: &[(Program, ProbeFailure)]) -> String {
    let all = asked(probed, failures);
    if all.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = all.iter().map(|line| format!("# {line}\n")).collect();
    format!(
        "\n# Questions that could not be answered from here:\n{}",
        lines.concat()
    )
}

fn server(out: &mut String, probed: &ProbedServer) {
    let Server { name, .. } = &probed.server;
    let evidence = |key: &str| probed.evidence.get(key).map(String::as_str);
    let _ = writeln!(out, "\n[servers.{name}]");
    line(out, "about", &text(&probed.server.about), None);
    let protocols: Vec<String> = probed
        .server
        .protocols
        .iter()
        .map(|one| one.name().to_owned())
        .collect();
    line(out, "protocols", &list(&protocols), evidence("protocols"));
    program_lines(out, probed);
    let args = args(probed);
    if !args.is_empty() {
        line(out, "args", &list(&args), evidence("args"));
    }
    if !probed.server.env.is_empty() {
        let pairs = probed
            .server
            .env
            .iter()
            .map(|(name, value)| format!("{name} = {}", text(value)));
        let table = format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "));
        line(out, "env", &table, evidence("env"));
    }
    if let Some(port) = probed.server.port {
        line(out, "port", &port.to_string(), evidence("port"));
    }
    if !probed.server.before.is_empty() {
        let commands = probed.server.before.iter().map(|before| {
            let words: Vec<String> = before.command.iter().filter_map(Arg::one).map(str::to_owned).collect();
            format!("{{ command = {} }}", list(&words))
        });
        let tables = format!("[{}]", commands.collect::<Vec<_>>().join(", "));
        line(out, "before", &tables, Some("worked, before each start"));
    }
    let ready = match &probed.server.ready {
        Ready::Http(path) => format!("{{ http = {} }}", text(path)),
        Ready::GrpcHealth(service) => format!("{{ grpc_health = {} }}", text(service)),
        // The servers that init finds speak HTTP or gRPC.
        Ready::Tcp(_) | Ready::Database(_) | Ready::AtOnce => "{ tcp = true }".to_owned(),
    };
    line(out, "ready", &ready, evidence("ready"));
    let timeout = probed.server.ready_timeout.0.as_secs();
    if timeout > 10 {
        line(
            out,
            "ready_timeout",
            &format!("\"{timeout}s\""),
            Some("four times what its start took here"),
        );
    }
    for (operation, declared) in &probed.server.operations {
        let _ = writeln!(out, "\n[servers.{name}.operations.{operation}]");
        self::operation(out, declared, &probed.operations[operation]);
    }
    if !probed.more.is_empty() {
        let _ = writeln!(
            out,
            "\n# {name} answers these too; they are not measured: {}",
            plain(&probed.more.join(", "))
        );
    }
}

fn program_lines(out: &mut String, probed: &ProbedServer) {
    let evidence = probed.evidence.get("build").map(String::as_str);
    match &probed.server.program {
        Started::Package(package) => line(out, "package", &text(package), evidence),
        Started::Command(command) => {
            if let Some(build) = &probed.server.build {
                line(out, "build", &list(build), evidence);
            }
            line(out, "command", &list(command), None);
            if let Some(folder) = &probed.server.working_directory {
                line(out, "working_directory", &text(&folder.to_string_lossy()), None);
            }
        }
    }
}

fn operation(out: &mut String, operation: &Operation, evidence: &Evidence) {
    let (request, expect) = match operation {
        Operation::Http(HttpOperation {
            path,
            status,
            expected_body,
            ..
        }) => {
            let body = expected_body.as_ref().map(|body| format!(", body = {}", text(body)));
            (
                format!("{{ path = {} }}", text(path)),
                format!("{{ status = {status}{} }}", body.unwrap_or_default()),
            )
        }
        Operation::Grpc(GrpcOperation {
            proto,
            call,
            message,
            expected_message,
            ..
        }) => (
            format!(
                "{{ {}call = {}, message = {} }}",
                file(proto.as_ref()),
                text(call),
                text(message)
            ),
            match expected_message {
                Some(message) => format!("{{ message = {} }}", text(message)),
                None => "{}".to_owned(),
            },
        ),
        Operation::Bench(_) => return,
    };
    line(out, "request", &request, Some(&evidence.request));
    line(out, "expect", &expect, Some(&evidence.expect));
}

/// `key = value   # why`.
fn line(out: &mut String, key: &str, value: &str, why: Option<&str>) {
    let written = format!("{key:<9} = {value}");
    let _ = match why.filter(|why| !why.is_empty()) {
        Some(why) => writeln!(out, "{written:<COMMENT_AT$} # {}", plain(why)),
        None => writeln!(out, "{written}"),
    };
}

/// A text on one line, without control characters, of a length that can be read.
fn plain(text: &str) -> String {
    const LONGEST: usize = 400;
    let one_line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match one_line.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &one_line[..cut]),
        None => one_line,
    }
}

/// The arguments that a server is started with.
fn args(probed: &ProbedServer) -> Vec<String> {
    probed
        .server
        .args
        .iter()
        .filter_map(Arg::one)
        .map(str::to_owned)
        .collect()
}

/// A server in one line: `HTTP/1.1, port by PORT, 3 operations`.
pub(super) fn summary(probed: &ProbedServer) -> String {
    let protocols: Vec<&str> = probed.server.protocols.iter().copied().map(Protocol::label).collect();
    let args = args(probed);
    let env = probed.server.env.iter().map(|(name, value)| format!("{name}={value}"));
    let told: Vec<String> = env.chain(args).collect();
    let port = match probed.server.port {
        Some(port) => format!("port {port}, its own choice"),
        None if told.is_empty() => "port by its command".to_owned(),
        None => format!("port by {}", told.join(" ")),
    };
    let many = probed.server.operations.len();
    let operations: Vec<&str> = probed.server.operations.keys().map(String::as_str).collect();
    let word = if many == 1 { "operation" } else { "operations" };
    format!(
        "{}, {port}, {many} {word}: {}",
        protocols.join(" and "),
        operations.join(", ")
    )
}

/// The services of the repository's compose files, as questions.
pub(super) fn services(images: &[(String, String)]) -> Vec<String> {
    let words = |(file, image): &(String, String)| {
        format!("{file} starts {image}: does a server need it? Declare it as a tier, or start it before a run")
    };
    images.iter().map(words).collect()
}

/// A program as an item in the list of programs found.
pub(super) fn found(program: &Program) -> String {
    let how = match &program.launch {
        LaunchMethod::Package(package) => format!("cargo package {package}"),
        LaunchMethod::Command { command, .. } => shell_words::join(command),
    };
    let fixed = program.hints.port.as_ref().and_then(|setting| setting.fixed);
    let port = fixed
        .map(|port| format!(", port {port} in its source"))
        .unwrap_or_default();
    format!("{} ({}: {how}{port})", program.name, program.about)
}
/// The keys that name a .proto file; empty if the server's reflection is used.
fn file(proto: Option<&ProtoFile>) -> String {
    proto.map_or_else(String::new, |ProtoFile { proto, proto_root }| {
        format!("proto = {}, proto_root = {}, ", text(proto), text(proto_root))
    })
}
