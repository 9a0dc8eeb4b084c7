//! Declares a program from its sources alone, for the user to complete.

use std::collections::BTreeMap;

use crate::files::Files;
use crate::known::KNOWN;
use crate::port_settings::{self, PortSetting};
use crate::probe::{ProbedServer, declared_with, draft};
use crate::program::{Program, name_of_path, slug};
use crate::proto::Call;
use crate::routes;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{HttpOperation, Operation, ProtoFile, Ready};

/// The comment behind a guessed line.
pub const CHANGE_THIS: &str = "# change this";
/// The same as evidence.
const GUESSED: &str = "change this";
/// The most gRPC methods that are declared.
const MOST_CALLS: usize = 3;

/// The first lines of a file of guesses.
pub(super) const HEAD: &str =
    "# How wirebench measures the servers of this repository. Every key: docs/FORMAT.md of wirebench.
# A line that was guessed says \"change this\"; `wirebench verify` starts every server and asks it once.
";

/// A program as its sources suggest; guesses are marked.
pub(super) fn guessed(files: &Files, program: &Program, calls: &[Call]) -> ProbedServer {
    let mut evidence = BTreeMap::new();
    let setting = match (&program.port, port_settings::exposed(files)) {
        (Some(setting), _) => setting.clone(),
        (None, Some(port)) => PortSetting::fixed(port),
        (None, None) => {
            evidence.insert("env", GUESSED.to_owned());
            PortSetting::variable("PORT".into(), "{port}".into())
        }
    };
    if setting.fixed.is_some() {
        evidence.insert("port", GUESSED.to_owned());
    }
    let mut one = ProbedServer::new(declared_with(&draft(program), &setting), evidence);
    one.server.protocols.clone_from(&program.protocols);
    let [http, grpc] = [Protocol::Http, Protocol::Grpc].map(|one| program.protocols.contains(&one));
    if one.server.protocols.len() > 1 {
        one.evidence.insert("protocols", GUESSED.to_owned());
    }
    let mut texts = program.sources.iter().filter_map(|source| files.text(source));
    let (health, path) = paths(files, program);
    match health {
        Some(path) if http => one.server.front.ready = Ready::Http(path),
        _ if !http && texts.any(|text| KNOWN.grpc_health.is_match(text)) => {
            one.server.front.ready = Ready::GrpcHealth(String::new());
        }
        _ => {}
    }
    let mut declare = |name: &str, operation| one.declare(name, operation, GUESSED.to_owned(), String::new());
    if http {
        let path = path.unwrap_or_else(|| "/".into());
        let name = name_of_path(&path);
        declare(&name, Operation::Http(HttpOperation::new("GET", path, 200, None)));
    }
    if grpc && calls.is_empty() {
        let file = ProtoFile {
            proto: "service.proto".into(),
            proto_root: ".".into(),
        };
        let call = Call {
            file: Some(file),
            call: "package.Service/Method".into(),
        };
        declare("call", Operation::Grpc(call.operation()));
    }
    for call in calls.iter().take(MOST_CALLS).filter(|_| grpc) {
        let name = format!("call-{}", slug(call.method()));
        declare(&name, Operation::Grpc(call.operation()));
    }
    one
}

/// The first path of a health check, and the first other one, that the sources answer to a GET without parameters.
fn paths(files: &Files, program: &Program) -> (Option<String>, Option<String>) {
    let routes = routes::of(files, &program.sources).into_iter();
    let is_plain = |path: &String| !path.contains([':', '{', '<', '*', '[']);
    let gets = routes.filter(|route| route.method == "GET").map(|route| route.path);
    let (health, others): (Vec<_>, Vec<_>) = gets.filter(is_plain).partition(|path| KNOWN.health.is_match(path));
    (health.into_iter().next(), others.into_iter().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipes;

    #[test]
    fn a_port_that_nothing_tells_is_the_containers_or_the_environments() {
        let ports = |listens: &str, container: &str| {
            let main = format!("package main\nfunc main() {{ gin-gonic/gin; {listens} }}\n");
            let files = Files::of(&[("go.mod", "module x\n"), ("main.go", &main), ("Dockerfile", container)]);
            let one = guessed(&files, &recipes::programs(&files)[0], &[]);
            (
                one.server.front.port,
                one.server.front.env.contains_key("PORT"),
                one.evidence.len(),
            )
        };
        assert_eq!(ports("", "EXPOSE 8080"), (Some(8080), false, 1));
        assert_eq!(ports("", ""), (None, true, 1));
        assert_eq!(ports("os.Getenv(\"PORT\")", "EXPOSE 8080"), (None, true, 0));
        assert_eq!(
            ports("ListenAndServe(\":3000\")", "EXPOSE 8080"),
            (Some(3000), false, 1)
        );
    }

    #[test]
    fn health_and_the_first_plain_path_are_told_apart() {
        for (text, health, path) in [
            (
                "mux.HandleFunc(\"GET /healthz\", h)\nmux.HandleFunc(\"GET /users/{id}\", u)\nmux.HandleFunc(\"GET /users\", l)\n",
                Some("/healthz"),
                "/users",
            ),
            (
                "app.get('/weather', f); app.get(\"/health\", g)",
                Some("/health"),
                "/weather",
            ),
            (".route(\"/weather/current\", get(f))", None, "/weather/current"),
            (".route(\"/users\", get(f))", None, "/users"),
        ] {
            let files = Files::of(&[("a", text)]);
            let program = Program {
                sources: vec!["a".into()],
                ..Program::default()
            };
            let found = paths(&files, &program);
            assert_eq!((found.0.as_deref(), found.1.as_deref()), (health, Some(path)), "{text}");
        }
    }

    #[test]
    fn the_grpc_health_service_is_seen_in_any_language() {
        for text in [
            "google.golang.org/grpc/health/grpc_health_v1",
            "tonic_health::server",
            "require('grpc-js-health-check')",
        ] {
            assert!(KNOWN.grpc_health.is_match(text), "{text}");
        }
        assert!(!KNOWN.grpc_health.is_match("\"/health\""));
    }
}
