//! Declares a program from its sources alone, for the user to complete.

use std::collections::BTreeMap;

use crate::port_settings::PortSetting;
use crate::probe::{ProbedServer, declared_with, draft};
use crate::program::{Program, slug, unique_name};
use crate::proto::Call;
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
pub(super) fn guessed(program: &Program, calls: &[Call], exposed: Option<u16>) -> ProbedServer {
    let hints = &program.hints;
    let mut evidence = BTreeMap::new();
    let setting = match (&hints.port, exposed) {
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
    let spoken = [(program.http, Protocol::Http), (program.grpc, Protocol::Grpc)];
    let spoken = spoken.into_iter().filter(|(speaks, _)| *speaks);
    one.server.protocols = spoken.map(|(_, protocol)| protocol).collect();
    if one.server.protocols.len() > 1 {
        one.evidence.insert("protocols", GUESSED.to_owned());
    }
    match &hints.health {
        Some(path) if program.http => one.server.front.ready = Ready::Http(path.clone()),
        _ if !program.http && hints.grpc_health => one.server.front.ready = Ready::GrpcHealth(String::new()),
        _ => {}
    }
    for (name, operation) in operations(program, calls) {
        one.declare(name, operation, GUESSED.to_owned(), String::new());
    }
    one
}

/// Guesses of an operation for each protocol.
fn operations(program: &Program, calls: &[Call]) -> BTreeMap<String, Operation> {
    let mut found = BTreeMap::new();
    if program.http {
        let path = program.hints.path.as_deref().unwrap_or("/");
        let name = Some(slug(path)).filter(|name| !name.is_empty());
        let operation = HttpOperation::new("GET", path.to_owned(), 200, None);
        found.insert(name.unwrap_or_else(|| "home".into()), Operation::Http(operation));
    }
    if !program.grpc {
        return found;
    }
    if calls.is_empty() {
        let file = ProtoFile {
            proto: "service.proto".into(),
            proto_root: ".".into(),
        };
        let call = Call {
            file: Some(file),
            call: "package.Service/Method".into(),
        };
        found.insert("call".into(), Operation::Grpc(call.operation()));
    }
    for call in calls.iter().take(MOST_CALLS) {
        let mut taken = found.keys().cloned().collect();
        let name = unique_name(&format!("call-{}", slug(call.method())), &mut taken);
        found.insert(name, Operation::Grpc(call.operation()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Files;
    use crate::recipes;

    #[test]
    fn a_port_that_nothing_tells_is_the_containers_or_the_environments() {
        let ports = |listens: &str, exposed| {
            let main = format!("package main\nfunc main() {{ gin-gonic/gin; {listens} }}\n");
            let files = Files::of(&[("go.mod", "module x\n"), ("main.go", &main)]);
            let one = guessed(&recipes::programs(&files)[0], &[], exposed);
            (
                one.server.front.port,
                one.server.front.env.contains_key("PORT"),
                one.evidence.len(),
            )
        };
        assert_eq!(ports("", Some(8080)), (Some(8080), false, 1));
        assert_eq!(ports("", None), (None, true, 1));
        assert_eq!(ports("os.Getenv(\"PORT\")", Some(8080)), (None, true, 0));
        assert_eq!(ports("ListenAndServe(\":3000\")", Some(8080)), (Some(3000), false, 1));
    }
}
