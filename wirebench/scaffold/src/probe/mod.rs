//! Probes a program: builds it, starts it, reads from /proc where it listens, sends it requests, and declares the
//! result with the evidence for each line.

mod calls;
mod candidates;
mod http;
mod openapi;
mod speak;
mod start;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regex::Regex;

pub use self::candidates::GivenRequest;
use self::http::KnownRoutes;
pub(crate) use self::start::declared_with;
use self::start::{Launcher, Running, Supervised};
use crate::container;
use crate::files::{Files, pattern, word};
use crate::needs;
use crate::port_settings::{self, PortSetting};
use crate::program::{Program, argv, unique_name};
use crate::proto::Call;
use crate::recipes;
use wirebench_declare::args::Arg;
use wirebench_declare::profiles::Profiles;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{self, Before, Operation, Ready, Server};
use wirebench_declare::span::Span;
use wirebench_declare::tier::Part;
use wirebench_engine::measure::build::Builder;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::error::MeasureError;
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::measure::listening;
use wirebench_engine::measure::request::Request;
use wirebench_engine::measure::side::Side;
use wirebench_engine::measure::target::{LaunchContext, Target};
use wirebench_engine::measure::tls::TlsFiles;
use wirebench_engine::measure::values::Captured;
use wirebench_engine::measure::wire::Endpoint;
use wirebench_record::run::VariantRevision;

/// The context of a probe.
pub struct ProbeContext<'a> {
    /// The folder that commands run in.
    pub root: &'a Path,
    /// The name of the code, for the messages of a build.
    pub revision: VariantRevision,
    /// The certificate that servers show.
    pub tls: &'a TlsFiles,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
    /// Requests that the user wants to be measured.
    pub given: &'a [GivenRequest],
    /// What the user says that programs are started with, before what tells them their port.
    pub arguments: &'a [String],
    /// Receives progress lines.
    pub say: &'a dyn Fn(&str),
}

/// The connections of a load, if the server has no reason for fewer.
pub(crate) const CONNECTIONS: u32 = 10;

/// A probed server, ready to be declared.
#[derive(Debug, Clone)]
pub(crate) struct ProbedServer {
    /// The declaration.
    pub(crate) server: Server,
    /// The evidence for keys of the declaration.
    pub(crate) evidence: BTreeMap<&'static str, String>,
    /// The evidence for each operation.
    pub(crate) operations: BTreeMap<String, Evidence>,
    /// Other paths with a response, which are not declared.
    pub(crate) more: Vec<String>,
    /// The open questions.
    pub(crate) questions: Vec<String>,
    /// Whether it closes a connection after each response: load generators that keep connections cannot measure it.
    pub(crate) closes: bool,
    /// Whether its status lines have no words: h2load, which waits for one, takes every response for a failed request.
    pub(crate) bare_status: bool,
    /// The connections of its load.
    pub(crate) connections: u32,
    /// How the length of a response differs from request to request, if it does.
    pub(crate) varies: Option<String>,
}

impl ProbedServer {
    /// A server without operations yet.
    pub(crate) fn new(server: Server, evidence: BTreeMap<&'static str, String>) -> Self {
        Self {
            server,
            evidence,
            operations: BTreeMap::new(),
            more: Vec::new(),
            questions: Vec::new(),
            closes: false,
            bare_status: false,
            connections: CONNECTIONS,
            varies: None,
        }
    }

    /// Declares an operation with its evidence, by this name or a similar one that is free.
    pub(crate) fn declare(&mut self, name: &str, operation: Operation, request: String, expect: String) {
        let mut taken = self.operations.keys().cloned().collect();
        let name = unique_name(name, &mut taken);
        self.operations.insert(name.clone(), Evidence { request, expect });
        self.server.operations.insert(name, operation);
    }

    /// The failure of this probe, with the questions so far.
    fn failure(&mut self, reason: String) -> ProbeFailure {
        ProbeFailure {
            questions: std::mem::take(&mut self.questions),
            ..reason.into()
        }
    }
}

/// The evidence for an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// Where the request comes from.
    pub(crate) request: String,
    /// The origin of the expected response.
    pub(crate) expect: String,
}

/// Why a program could not be probed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProbeFailure {
    /// The reason.
    pub(crate) reason: String,
    /// The question to be answered first, if known.
    pub(crate) questions: Vec<String>,
    /// How it was started, if it listened.
    pub(crate) way: Option<Box<PortSetting>>,
    /// True if it could not be built.
    pub(crate) is_of_build: bool,
}

impl From<String> for ProbeFailure {
    fn from(reason: String) -> Self {
        Self {
            reason,
            ..Self::default()
        }
    }
}

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
    let mut draft = draft(program);
    let mut questions = Vec::new();
    let (side, took) = build_with_embedded(context, &mut draft, &mut questions)?;
    (context.say)(&format!("{}: starting it", program.name));
    let output = tempfile::tempdir().map_err(|error| format!("a temporary folder cannot be made: {error}"))?;
    let launcher = Launcher {
        context,
        side: &side,
        launch: LaunchContext {
            folder: output.path(),
            cores: &Cores::shared(),
            tls: context.tls,
            interrupt: context.interrupt,
            kept: None,
            host: None,
            listen_ip: None,
        },
        settings: (port_settings::of(files, program).iter())
            .map(|setting| setting.after(context.arguments))
            .collect(),
        values: needs::known_values(files),
        arguments: match context.arguments {
            [] => container::arguments(files, &program.started),
            _ => Vec::new(),
        },
    };
    let (setting, running) = start(&launcher, files, program, &mut draft, &mut questions)?;
    let asked = draft.front.env.keys().filter(|name| !program.env.contains_key(*name));
    let asked: Vec<&str> = asked.map(String::as_str).collect();
    let ask = |setting: &PortSetting, running: Running| {
        let evidence = evidence_of(setting, &running, took, &asked);
        let mut probed = ProbedServer::new(declared_with(&draft, setting), evidence);
        probed.questions.extend(running.unmeasured());
        probed.questions.extend(questions.iter().cloned());
        let routes = http::known_routes(&launcher.output(), files, program);
        let least = Duration::from_secs((running.listened_after.as_secs() + 1) * 4);
        let supervised = Supervised::new(&launcher, probed.server.clone(), running);
        probe_running(&supervised, &routes, calls, &mut probed)?;
        supervised.stop();
        probed.server.front.ready_timeout = Span(least.max(READY_AT_LEAST));
        confirm(&launcher, &mut probed)?;
        Ok(probed)
    };
    let others = running.other_ports();
    let failure: ProbeFailure = match ask(&setting, running) {
        Ok(probed) => return Ok(probed),
        Err(why) => why,
    };
    for port in others.into_iter().filter(|_| !context.interrupt.is_requested()) {
        let own = setting.at_own(port);
        let Ok(mut running) = launcher.start(&declared_with(&draft, &own)) else {
            continue;
        };
        running.tried = setting.names();
        if let Ok(probed) = ask(&own, running) {
            return Ok(probed);
        }
    }
    // It listened when it was started in this way.
    Err(ProbeFailure {
        way: Some(Box::new(setting)),
        ..failure
    })
}

/// Finds how the program starts; where it does not, after the example of its environment was copied or its pages were built; where its
/// migration fails, without it, which is a question.
fn start(
    launcher: &Launcher,
    files: &Files,
    program: &Program,
    draft: &mut Server,
    questions: &mut Vec<String>,
) -> Result<(PortSetting, Running), ProbeFailure> {
    let context = launcher.context;
    let mut failure = match launcher.find(draft) {
        Err(why) => why,
        found => return found,
    };
    let said = format!("{}\n{}", failure.reason, launcher.output());
    let copied = lacking_environment(context, files, draft, &said);
    for more in copied.into_iter().chain(lacking_pages(files, program, &said)) {
        let built = draft.front.build.replace(more.clone());
        let made = build(context, draft);
        draft.front.build = recipes::join(built.unwrap_or_default(), more);
        made?;
        match launcher.find(draft) {
            Err(why) => failure = why,
            found => return found,
        }
    }
    let migration = program.migration.as_ref().map(shell_words::join);
    if !migration.is_some_and(|command| failure.reason.contains(&command)) {
        return Err(failure);
    }
    (context.say)(&format!("{}: starting it without its migration", program.name));
    draft.before.clear();
    let why = &failure.reason;
    questions.push(format!(
        "it is started without its migration, which is to be mended: {why}"
    ));
    launcher.find(draft).map_err(|_| failure)
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
        profiles: Profiles::default(),
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
        before: program.migration.iter().map(before).collect(),
        seed: Vec::new(),
        operations: BTreeMap::new(),
    }
}

/// The command that copies the example of the environment, if a program that ended speaks of the file `.env`, which its folder lacks.
fn lacking_environment(context: &ProbeContext, files: &Files, draft: &Server, said: &str) -> Option<Vec<String>> {
    let is_built_here =
        matches!(draft.front.program, server::Program::Command(_)) && draft.front.working_directory.is_none();
    let lacks = said.contains(".env") && !context.root.join(".env").exists();
    let mut examples = files.environments().map(|(path, _)| path);
    let example = examples.next().filter(|_| is_built_here && lacks)?;
    let copy = format!("test -f .env || cp {} .env", shell_words::quote(example));
    Some(argv(&["sh", "-c", &copy]))
}

/// The command of a project of Node.js that builds its pages, if a program that ended speaks of one that is not there.
fn lacking_pages(files: &Files, program: &Program, said: &str) -> Option<Vec<String>> {
    static PAGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:dist|build)/[\w/.-]*\.html\b"));
    static SCRIPT: LazyLock<Regex> = LazyLock::new(|| pattern(r#""build"\s*:"#));
    let manifest = files.text(&format!("{}package.json", program.manifest))?;
    let folder = word(&program.manifest);
    let build = argv(&["npm", "--prefix", &folder, "run", "build"]);
    let is_built = program
        .build
        .as_ref()
        .is_some_and(|words| shell_words::join(words).contains("run build"));
    (PAGE.is_match(said) && SCRIPT.is_match(manifest) && !is_built).then_some(build)
}

/// Builds it. Files that Go embeds and the repository lacks, such as pages that another tool makes, are made empty by the build, which
/// is a question.
fn build_with_embedded(
    context: &ProbeContext,
    draft: &mut Server,
    questions: &mut Vec<String>,
) -> Result<(Side, Duration), ProbeFailure> {
    /// Each build names only the first.
    const MOST: usize = 8;
    let own = draft.front.build.clone().unwrap_or_default();
    let mut made: Vec<String> = Vec::new();
    loop {
        let failure = match build(context, draft) {
            Err(failure) => failure,
            built => {
                questions.extend((!made.is_empty()).then(|| {
                    let made = made.join(", ");
                    format!("the repository lacks what the program embeds, so the build makes it empty: {made}. Does a request need it? Then build it first")
                }));
                return built;
            }
        };
        let Some(file) = lacking_embedded(&failure.reason).filter(|_| failure.is_of_build && made.len() < MOST) else {
            return Err(failure);
        };
        let folder = draft.front.working_directory.as_deref().unwrap_or(Path::new(""));
        made.push(folder.join(file).display().to_string());
        let folders = made
            .iter()
            .filter_map(|file| Some(Path::new(file).parent()?.to_string_lossy()));
        let folders = shell_words::join(folders.collect::<BTreeSet<_>>());
        let make = format!(
            "mkdir -p {folders} && touch {} && {}",
            shell_words::join(&made),
            shell_words::join(&own)
        );
        draft.front.build = Some(vec!["sh".into(), "-c".into(), make]);
    }
}

/// The first file to be embedded that a build of Go did not find: of a folder, its first page.
fn lacking_embedded(said: &str) -> Option<PathBuf> {
    static LACKING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            // Not in the folder of a dependency, which is outside.
            r"(?:^|\s)(?P<folder>(?:[^\s:/.][^\s:/]*/)*)[^\s:/]+\.go:\d+:\d+: pattern (?:all:)?(?P<what>[^\s:]+): no matching files found",
        )
    });
    let found = LACKING.captures(said)?;
    let file = Path::new(&found["folder"]).join(found["what"].trim_end_matches(['*', '/']));
    let is_folder = file.extension().is_none();
    Some(if is_folder { file.join("index.html") } else { file })
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
    let log = tempfile::NamedTempFile::new().map_err(|error| format!("a temporary file cannot be made: {error}"))?;
    let builder = Builder {
        folder,
        interrupt: context.interrupt.clone(),
        log: Some(log.path().to_owned()),
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

/// `asked` has the variables without which it did not start.
fn evidence_of(
    setting: &PortSetting,
    running: &Running,
    built: Duration,
    asked: &[&str],
) -> BTreeMap<&'static str, String> {
    let (at, port, after) = (running.at, running.port, running.listened_after.as_secs_f64());
    let (tried, set) = (&running.tried, setting.names());
    let heard = match setting.fixed {
        Some(_) => format!(
            "told {tried}, it listened on {at} all the same, after {after:.1} s; better is a port that it is told"
        ),
        None => format!("started with {set} set to port {port}, it listened on {at} after {after:.1} s"),
    };
    let lacked = match asked {
        [] => String::new(),
        asked => format!("; it did not start before it got {}", asked.join(", ")),
    };
    let worked = format!("worked, in {:.1} s", built.as_secs_f64());
    let args = heard.clone();
    [
        ("args", args),
        ("port", heard.clone()),
        ("env", heard + &lacked),
        ("build", worked),
    ]
    .into()
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
    supervised: &Supervised,
    routes: &KnownRoutes,
    calls: &[Call],
    probed: &mut ProbedServer,
) -> Result<(), ProbeFailure> {
    let context = supervised.launcher.context;
    let (address, at, port) = (supervised.address(), supervised.listens_on(), supervised.port());
    (context.say)(&format!("{}: listens on {at}; asking it", probed.server.name));
    supervised.learns_routes();
    speak::detect(&address, calls, probed);
    let Some(first) = probed.server.protocols.first().copied() else {
        let silent = || {
            format!(
                "it listens on {at}, but answers neither HTTP/1.1, HTTP/2 nor gRPC there; a server over TLS needs {{tls_cert}} and {{tls_key}} in args or env, and protocols = [\"https\"]"
            )
        };
        let why = exited(supervised).unwrap_or_else(silent);
        return Err(probed.failure(why));
    };
    if probed.closes {
        // Each request connects anew. What does not fit into the queue of connections to accept waits for a second.
        let queue = listening::backlog(port).unwrap_or(CONNECTIONS);
        probed.connections = queue.clamp(1, CONNECTIONS);
    }
    if probed.server.protocols.contains(&Protocol::Grpc) {
        calls::probe(context, &address, calls, probed);
    }
    if first != Protocol::Grpc {
        http::probe(routes, supervised, first, probed);
    }
    keep_one_kind(probed);
    if probed.operations.is_empty() {
        let why = if let Some(why) = exited(supervised) {
            // Requests that it did not survive are no questions.
            probed.questions.clear();
            why
        } else {
            if probed.questions.is_empty() {
                let question = format!("which request does it answer? If you know one, {}", candidates::GIVE);
                probed.questions.push(question);
            }
            let said = http::answer_of_root(&supervised.address(), first);
            format!("it answers, but no request with a good answer was found{said}")
        };
        return Err(probed.failure(why));
    }
    Ok(())
}

/// What is said of a server that requests ended; `None` if it runs as it was started.
fn exited(supervised: &Supervised) -> Option<String> {
    supervised.restart();
    let last_words = supervised.last_words()?;
    Some(format!("it exited when init sent requests to it{last_words}"))
}

/// Requests for each operation after the new start.
const TIMES: usize = 2;

/// Starts it again and requests every operation. An expected response that is not repeated is left out, so that only the status is
/// checked; an operation that still fails becomes a question.
///
/// # Errors
/// When it does not get ready as declared, or no operation is left.
fn confirm(launcher: &Launcher, probed: &mut ProbedServer) -> Result<(), ProbeFailure> {
    (launcher.context.say)(&format!("{}: starting it again, as declared", probed.server.name));
    let target = Target::start(launcher.side, &probed.server, &launcher.launch).map_err(|error| error.to_string())?;
    let address = target.front.address.clone();
    let names: Vec<String> = probed.server.operations.keys().cloned().collect();
    for name in names {
        let Some(Evidence { expect, .. }) = probed.operations.get_mut(&name) else {
            continue;
        };
        let Err(why) = passes(launcher, &probed.server, &name, &address) else {
            match &probed.server.operations[&name] {
                Operation::Http(http) if http.expected_body.is_some() => expect.push_str(", and after a new start"),
                Operation::Grpc(grpc) if grpc.expected_message.is_some() => {
                    "the same before and after a new start".clone_into(expect);
                }
                _ => {}
            }
            continue;
        };
        match probed.server.operations.get_mut(&name) {
            Some(Operation::Http(http)) => http.expected_body = None,
            Some(Operation::Grpc(grpc)) => grpc.expected_message = None,
            Some(Operation::Bench(_)) | None => {}
        }
        if passes(launcher, &probed.server, &name, &address).is_ok() {
            *expect = "the response differs between requests or starts, so only the status is checked".into();
            continue;
        }
        probed.server.operations.remove(&name);
        probed.operations.remove(&name);
        let question = format!("{name} did not answer again after a new start ({why}): what does it need?");
        probed.questions.push(question);
    }
    // An error means that it has ended already.
    let _ = target.stop();
    if probed.server.operations.is_empty() {
        return Err(probed.failure("no operation answered again after a new start".into()));
    }
    Ok(())
}

fn passes(launcher: &Launcher, server: &Server, name: &str, address: &str) -> Result<(), MeasureError> {
    let operation = &server.operations[name];
    // Every operation that is left is of the kind that the protocols carry.
    let protocol = server.protocols[0];
    let ca = launcher.context.tls.certificate();
    let endpoint = Endpoint {
        address,
        protocol,
        ca: &ca,
    };
    let request = Request::new(launcher.context.root, server, operation, endpoint, &Captured::new())?;
    for _ in 0..TIMES {
        request.check(address)?;
    }
    Ok(())
}

/// Shorter values stand in many texts by chance.
const SHORTEST: usize = 8;

/// Values of the environment, as they are and as JSON writes them, and the machine's name as a JSON string.
static TEXTS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let json = |text: &str| serde_json::Value::from(text).to_string();
    let values = std::env::vars_os().filter_map(|(_, value)| value.into_string().ok());
    let values = values.filter(|value| value.len() >= SHORTEST);
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    values
        .flat_map(|value| [json(&value).trim_matches('"').to_owned(), value])
        .chain(name.map(|name| json(name.trim())))
        .collect()
});

/// True if a text has one of them.
pub(super) fn tells_of_this_machine(text: &str) -> bool {
    TEXTS.iter().any(|one| text.contains(one))
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
        let mut probed = guess::guessed(&files, &recipes::programs(&files)[0], &[]);
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

    #[test]
    fn a_file_to_be_embedded_that_is_missing_is_read_from_what_go_says() {
        let lacks = |what: &str| {
            let said = format!("go: downloading x v1\nui/web/serve.go:15:12: pattern {what}: no matching files found");
            lacking_embedded(&said).map(|file| file.display().to_string())
        };
        for (what, file) in [
            ("build/*", "ui/web/build/index.html"),
            ("all:dist", "ui/web/dist/index.html"),
            ("static/app.js", "ui/web/static/app.js"),
        ] {
            assert_eq!(lacks(what).as_deref(), Some(file));
        }
        assert_eq!(
            lacking_embedded("main.go:3:1: pattern site: no matching files found"),
            Some("site/index.html".into())
        );
        for other in [
            "main.go:3:1: undefined: x",
            "/mod/x@v1/ui.go:3:1: pattern dist: no matching files found",
        ] {
            assert_eq!(lacking_embedded(other), None);
        }
    }

    #[test]
    fn a_variable_of_the_environment_and_the_name_are_known_again() {
        let path = std::env::var("PATH").unwrap();
        assert!(tells_of_this_machine(&format!("[\"PATH={path}\"]")));
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert!(tells_of_this_machine(&format!("{{\"host\": \"{}\"}}", name.trim())));
        assert!(!tells_of_this_machine("{\"city\":\"Kyiv\"}"));
    }
}
