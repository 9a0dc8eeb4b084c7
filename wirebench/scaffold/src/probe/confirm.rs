//! Starts the server as declared and checks it as `verify` does, so that the declaration passes `verify`.

use super::probed::{Evidence, ProbeFailure, ProbedServer};
use super::start::Launcher;
use wirebench_declare::server::{Operation, Server};
use wirebench_engine::measure::captured::Captured;
use wirebench_engine::measure::endpoint::Endpoint;
use wirebench_engine::measure::error::MeasureError;
use wirebench_engine::measure::request::Request;
use wirebench_engine::measure::target::Target;

/// Requests for each operation after the new start.
const TIMES: usize = 2;

/// Starts it again and requests every operation. An expected response that is not repeated is left out; an operation
/// that still fails becomes a question.
///
/// # Errors
/// When it does not get ready as declared, or no operation is left.
pub(super) fn confirm(launcher: &Launcher, probed: &mut ProbedServer) -> Result<(), ProbeFailure> {
    (launcher.context.say)(&format!("{}: starting it again, as declared", probed.server.name));
    let target =
        Target::start(launcher.side, &probed.server, &launcher.launch_context()).map_err(|error| error.to_string())?;
    let address = target.front.address.clone();
    let names: Vec<String> = probed.server.operations.keys().cloned().collect();
    for name in names {
        if let Err(error) = passes(launcher, &probed.server, &name, &address) {
            amend(launcher, probed, &name, &address, &error.to_string());
        } else if let Some(Evidence { expect, .. }) = probed.operations.get_mut(&name) {
            match &probed.server.operations[&name] {
                Operation::Http(http) if http.expected_body.is_some() => expect.push_str(", and after a new start"),
                Operation::Grpc(grpc) if grpc.expected_message.is_some() => {
                    "the same before and after a new start".clone_into(expect);
                }
                _ => {}
            }
        }
    }
    // An error means that it has ended already.
    let _ = target.stop();
    if probed.server.operations.is_empty() {
        return Err(probed.failure("no operation answered again after a new start".into()));
    }
    Ok(())
}

/// Declares only the status of an operation whose response differs; removes the operation if that fails too.
fn amend(launcher: &Launcher, probed: &mut ProbedServer, name: &str, address: &str, why: &str) {
    match probed.server.operations.get_mut(name) {
        Some(Operation::Http(http)) => http.expected_body = None,
        Some(Operation::Grpc(grpc)) => grpc.expected_message = None,
        Some(Operation::Bench(_)) | None => {}
    }
    if passes(launcher, &probed.server, name, address).is_ok() {
        if let Some(evidence) = probed.operations.get_mut(name) {
            evidence.expect = "the response differs between requests or starts, so only the status is checked".into();
        }
        return;
    }
    probed.server.operations.remove(name);
    probed.operations.remove(name);
    probed.questions.push(format!(
        "{name} did not answer again after a new start ({why}): what does it need?"
    ));
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
