//! Writes a `wirebench.toml` from probed servers. Each line has its evidence as a comment.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::checks::counted;
use crate::probe::{CONNECTIONS, Evidence, ProbeFailure, ProbedServer};
use crate::program::Program;
use wirebench_declare::args::Arg;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{Operation, Program as Started, ProtoFile, Ready};

pub(super) const HEAD: &str = "# How wirebench measures the servers of this repository. Every key: docs/FORMAT.md of wirebench.
# Written by `wirebench init` from servers that were built, started and asked: the comment behind a line is its evidence.
";

/// The column of comments on shorter lines.
const COMMENT_AT: usize = 44;

/// The whole file: tables for the probed servers; then, as comments, the guesses of programs that could not be probed, each with the
/// reason, and the open questions.
pub(super) fn toml(
    head: &str,
    probed: &[ProbedServer],
    failed: &[(ProbedServer, String)],
    questions: &[String],
) -> String {
    let mut out = head.to_owned();
    let mut operations: BTreeMap<&str, (BTreeSet<&str>, u32)> = BTreeMap::new();
    for one in probed {
        for (name, operation) in &one.server.operations {
            let (needed, connections) = operations
                .entry(name.as_str())
                .or_insert((BTreeSet::new(), one.connections));
            needed.insert(driver(operation, one));
            *connections = one.connections.min(*connections);
        }
    }
    let drivers: BTreeSet<&str> = operations.values().flat_map(|(needed, _)| needed).copied().collect();
    let has_others = drivers.len() > 1;
    let _ = writeln!(
        out,
        "\nbuiltin_drivers = {}   # load generators: h2load and hey (HTTP), ab (with a new connection for each request), ghz (gRPC), hyperfine (start-up)",
        list(&drivers.into_iter().collect::<Vec<_>>())
    );
    for one in probed {
        server(&mut out, one);
    }
    scenarios(&mut out, &operations, has_others);
    for (guessed, why) in failed {
        let _ = writeln!(out, "\n# {}: not declared: {}", guessed.server.name, plain(why));
        let mut text = String::new();
        server(&mut text, guessed);
        for line in text.lines().filter(|line| !line.is_empty()) {
            let _ = writeln!(out, "# {line}");
        }
    }
    if !questions.is_empty() {
        out.push_str("\n# Questions that could not be answered from here:\n");
        out.extend(questions.iter().map(|line| format!("# {line}\n")));
    }
    out.push_str(FOOT);
    for one in probed {
        if let Some(how) = &one.varies {
            let _ = writeln!(
                out,
                "\n[[margins]]\nseries    = \"*@{}@*\"\nmetric    = \"wire_bytes_sent\"",
                one.server.name
            );
            line(&mut out, "gate", "false", Some(how));
        }
    }
    out
}

/// The load generator of an operation: the one that costs the least CPU, because a server that waits for its load generator hides a
/// part of its own change in waking up. h2load cannot reuse connections that the server closes, needs words in a status line,
/// and does not read whether a call failed.
fn driver(operation: &Operation, probed: &ProbedServer) -> &'static str {
    match operation {
        Operation::Grpc(_) => "ghz",
        // ab sends no body.
        Operation::Http(http) if probed.closes && http.body.is_some() => "hey",
        _ if probed.closes => "ab",
        _ if probed.bare_status => "hey",
        _ => "h2load",
    }
}

/// Gives an operation of HTTP a name with its server's where a server before it has one of that name and needs another load: every load
/// generator of a scenario loads every server that it can.
pub(super) fn separate(probed: &mut [ProbedServer]) {
    let mut loads: BTreeMap<String, (&str, u32)> = BTreeMap::new();
    for one in probed {
        let names: Vec<String> = one.server.operations.keys().cloned().collect();
        for name in names {
            let load = (driver(&one.server.operations[&name], one), one.connections);
            if load.0 != "ghz" && *loads.entry(name.clone()).or_insert(load) != load {
                let operation = one.server.operations.remove(&name).zip(one.operations.remove(&name));
                let Some((operation, evidence)) = operation else {
                    continue;
                };
                one.declare(
                    &format!("{name}-{}", one.server.name),
                    operation,
                    evidence.request,
                    evidence.expect,
                );
            }
        }
    }
}

/// Every question, one a line.
pub(super) fn asked(probed: &[ProbedServer], failures: &[(Program, ProbeFailure)]) -> Vec<String> {
    let of_seen = probed.iter().map(|one| (&one.server.name, &one.questions));
    let of_unseen = failures.iter().map(|(program, why)| (&program.name, &why.questions));
    let all = of_seen.chain(of_unseen);
    let all = all.flat_map(|(name, questions)| questions.iter().map(move |one| format!("{name}: {}", plain(one))));
    all.collect()
}

fn server(out: &mut String, probed: &ProbedServer) {
    let server = &probed.server;
    let name = &server.name;
    let evidence = |key: &str| probed.evidence.get(key).map(String::as_str);
    let _ = writeln!(out, "\n[servers.{name}]");
    let protocols: Vec<String> = server.protocols.iter().map(|one| one.name().to_owned()).collect();
    let front = &server.front;
    let (package, command) = match &front.program {
        Started::Package(package) => (Some(text(package)), None),
        Started::Command(command) => (None, Some(list(command))),
    };
    let build = front.build.as_deref().map(list);
    let folder = (front.working_directory.as_ref()).map(|folder| text(&folder.to_string_lossy()));
    let args = Some(words(&front.args)).filter(|args| !args.is_empty());
    let pairs = (front.env.iter()).map(|(name, value)| format!("{name} = {}", text(value)));
    let env = joined(pairs).map(|pairs| format!("{{ {pairs} }}"));
    let before = server.before.iter().map(|one| list(&words(&one.command)));
    let before = joined(before.map(|command| format!("{{ command = {command} }}"))).map(|all| format!("[{all}]"));
    let ready = match &front.ready {
        Ready::Http(path) => format!("{{ http = {} }}", text(path)),
        Ready::GrpcHealth(service) => format!("{{ grpc_health = {} }}", text(service)),
        // The servers that init finds speak HTTP or gRPC.
        Ready::Tcp(_) | Ready::Database(_) | Ready::AtOnce => "{ tcp = true }".to_owned(),
    };
    let timeout = front.ready_timeout.0.as_secs();
    let timeout = (timeout > 10).then(|| format!("\"{timeout}s\""));
    for (key, value, why) in [
        ("about", Some(text(&server.about)), None),
        ("protocols", Some(list(&protocols)), evidence("protocols")),
        ("package", package, evidence("build")),
        ("build", build, evidence("build")),
        ("command", command, None),
        ("working_directory", folder, None),
        ("args", args.as_deref().map(list), evidence("args")),
        ("env", env, evidence("env")),
        ("port", front.port.map(|port| port.to_string()), evidence("port")),
        ("before", before, Some("worked, before each start")),
        ("ready", Some(ready), evidence("ready")),
        ("ready_timeout", timeout, Some("four times what its start took here")),
    ] {
        if let Some(value) = value {
            line(out, key, &value, why);
        }
    }
    for (operation, declared) in &server.operations {
        let _ = writeln!(out, "\n[servers.{name}.operations.{operation}]");
        self::operation(out, declared, &probed.operations[operation]);
    }
    if !probed.more.is_empty() {
        let more = plain(&probed.more.join(", "));
        let _ = writeln!(out, "\n# {name} answers these too; they are not measured: {more}");
    }
}

fn operation(out: &mut String, operation: &Operation, evidence: &Evidence) {
    let (request, expect) = match operation {
        Operation::Http(http) => {
            let body = http.expected_body.iter().map(|body| format!(", body = {}", text(body)));
            let expect = format!("{{ status = {}{} }}", http.status, body.collect::<String>());
            let method = (http.method != "GET").then(|| format!("method = {}", text(&http.method)));
            let headers = (!http.headers.is_empty()).then(|| format!("headers = {}", list(&http.headers)));
            let sent = http.body.iter().map(|body| format!("body = {}", text(body)));
            let path = format!("path = {}", text(&http.path));
            let request = joined(method.into_iter().chain([path]).chain(headers).chain(sent));
            (format!("{{ {} }}", request.unwrap_or_default()), expect)
        }
        Operation::Grpc(grpc) => {
            let (call, message) = (text(&grpc.call), text(&grpc.message));
            // Without a file, the server's reflection is used.
            let file = grpc.proto.as_ref().map(|ProtoFile { proto, proto_root }| {
                format!("proto = {}, proto_root = {}, ", text(proto), text(proto_root))
            });
            let expect = grpc.expected_message.as_ref();
            let expect = expect.map_or_else(|| "{}".to_owned(), |one| format!("{{ message = {} }}", text(one)));
            let request = format!("{{ {}call = {call}, message = {message} }}", file.unwrap_or_default());
            (request, expect)
        }
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

/// The words of a command line, which has no groups here.
fn words(args: &[Arg]) -> Vec<String> {
    args.iter().filter_map(Arg::one).map(str::to_owned).collect()
}

/// A server in one line: `HTTP/1.1, port by PORT, 3 operations`.
pub(super) fn summary(probed: &ProbedServer) -> String {
    let server = &probed.server;
    let protocols: Vec<&str> = server.protocols.iter().copied().map(Protocol::label).collect();
    let telling = server.front.env.iter().filter(|(_, value)| value.contains('{'));
    let env = telling.map(|(name, value)| format!("{name}={value}"));
    let told: Vec<String> = env.chain(words(&server.front.args)).collect();
    let port = match server.front.port {
        Some(port) => format!("port {port}, its own choice"),
        None if told.is_empty() => "port by its command".to_owned(),
        None => format!("port by {}", told.join(" ")),
    };
    let operations: Vec<&str> = server.operations.keys().map(String::as_str).collect();
    let many = counted(operations.len(), "operation");
    format!("{}, {port}, {many}: {}", protocols.join(" and "), operations.join(", "))
}

/// The services of the repository's compose files, as one question of each file.
pub(super) fn services(images: &[(String, String)]) -> Vec<String> {
    let mut by_file: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, image) in images {
        by_file.entry(file).or_default().insert(image);
    }
    let words = |(file, images): (&str, BTreeSet<&str>)| {
        let one = if images.len() == 1 { "it" } else { "one of them" };
        let images = images.into_iter().collect::<Vec<_>>().join(", ");
        format!("{file} starts {images}: does a server need {one}? Declare it as a tier, or start it before a run")
    };
    by_file.into_iter().map(words).collect()
}

/// A program as an item in the list of programs found.
pub(super) fn found(program: &Program) -> String {
    let how = match &program.started {
        Started::Package(package) => format!("cargo package {package}"),
        Started::Command(command) => shell_words::join(command),
    };
    let fixed = program.port.as_ref().and_then(|setting| setting.fixed);
    let port = fixed.map_or_else(String::new, |port| format!(", port {port} in its source"));
    format!("{} ({}: {how}{port})", program.name, program.about)
}

const FOOT: &str = "
# What change is ignored, and what gates. Server CPU per request gates, and so do counts; the rest informs.
# [[margins]]
# series = \"*@*@*\"
# metric = \"server_cpu\"
# margin = \"2%\"
";

/// A scenario for each operation, with its load generators if there are others.
fn scenarios(out: &mut String, operations: &BTreeMap<&str, (BTreeSet<&str>, u32)>, has_others: bool) {
    for (operation, (needed, connections)) in operations {
        let about = format!("5 seconds of {operation} over {connections} connections, one request at a time on each");
        let fewer = if *connections < CONNECTIONS {
            "   # as many as wait until the server accepts them"
        } else {
            ""
        };
        let _ = write!(
            out,
            "\n[scenarios.{operation}]\nabout     = {}\noperation = {}\nload      = {{ connections = {connections}, duration = \"5s\" }}{fewer}\n",
            text(&about),
            text(operation)
        );
        if has_others {
            let _ = writeln!(out, "drivers   = {}", list(&needed.iter().collect::<Vec<_>>()));
        }
    }
}

/// A text as TOML writes it, on one line; in single quotes where that saves escapes, as in JSON.
fn text(text: &str) -> String {
    if text.contains('"') && !text.contains('\'') && !text.contains(char::is_control) {
        return format!("'{text}'");
    }
    // JSON's escapes are TOML's, which escapes one more control character.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

/// Texts with commas between them; `None` without any.
fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    Some(texts.collect::<Vec<_>>().join(", ")).filter(|all| !all.is_empty())
}

/// A list of texts as TOML writes it, on one line.
fn list(texts: &[impl AsRef<str>]) -> String {
    let texts = texts.iter().map(|one| text(one.as_ref()));
    format!("[{}]", joined(texts).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::files::Files;
    use crate::{guess, recipes};

    #[test]
    fn each_server_gets_a_load_generator_that_speaks_to_it() {
        let main = "package main\nfunc main() { http.ListenAndServe(\":1\", nil) }\n";
        let files = Files::of(&[("go.mod", "module x\n"), ("main.go", main)]);
        let program = recipes::programs(&files).remove(0);
        let drivers = |protocols: &[Protocol], closes: bool, bare_status: bool| {
            let mut one = guess::guessed(&files, &program, &[]);
            one.server.protocols = protocols.to_vec();
            (one.closes, one.bare_status) = (closes, bare_status);
            let toml: toml::Table = toml("", &[one], &[], &[]).parse().unwrap();
            toml["builtin_drivers"].as_array().unwrap().clone()
        };
        assert_eq!(drivers(&[Protocol::H2c], false, false), ["h2load".into()]);
        assert_eq!(
            drivers(&[Protocol::Http, Protocol::H2c], false, false),
            ["h2load".into()]
        );
        assert_eq!(drivers(&[Protocol::Http], true, false), ["ab".into()]);
        assert_eq!(drivers(&[Protocol::Http], false, true), ["hey".into()]);
    }

    #[test]
    fn servers_that_need_another_load_have_a_scenario_of_their_own() {
        let main = "package main\nfunc main() { http.ListenAndServe(\":1\", nil) }\n";
        let files = Files::of(&[("go.mod", "module x\n"), ("main.go", main)]);
        let guessed = guess::guessed(&files, &recipes::programs(&files)[0], &[]);
        let mut all = ["shop", "mirror", "hook"].map(|name| {
            let mut one = guessed.clone();
            one.server.name = name.into();
            one
        });
        all[2].closes = true;
        separate(&mut all);
        let toml: toml::Table = toml("", &all, &[], &[]).parse().unwrap();
        let drivers = |scenario: &str| toml["scenarios"][scenario]["drivers"].clone();
        assert_eq!(drivers("home"), vec!["h2load"].into());
        assert_eq!(drivers("home-hook"), vec!["ab"].into());
        let has = |server: &str, operation: &str| toml["servers"][server]["operations"].get(operation).is_some();
        assert!(has("shop", "home") && has("mirror", "home"));
        assert!(has("hook", "home-hook") && !has("hook", "home"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_back_as_it_was(given in any::<String>()) {
            let table: toml::Table = format!("a = {}\n", text(&given)).parse().unwrap();
            prop_assert_eq!(table["a"].as_str(), Some(given.as_str()));
        }
    }
}
