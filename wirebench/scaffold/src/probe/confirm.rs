//! Starts the server as declared and checks it as `verify` does, so that the declaration passes `verify`.

use crate::probe::start::Stage;
use crate::probe::{Seen, Unseen};
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{Operation, Server};
use wirebench_engine::measure::captured::Captured;
use wirebench_engine::measure::endpoint::Endpoint;
use wirebench_engine::measure::request::Request;
use wirebench_engine::measure::target::{Target, TargetError};

/// Requests for each operation after the new start.
const TIMES: usize = 2;

/// Starts it again and requests every operation. An expected response that is not repeated is left out; an operation
/// that still fails becomes a question.
///
/// # Errors
/// When it does not get ready as declared, or no operation is left.
pub(super) fn confirm(stage: &Stage, seen: &mut Seen) -> Result<(), Unseen> {
    (stage.scene.say)(&format!("{}: starting it again, as declared", seen.server.name));
    let target = Target::start(stage.side, &seen.server, &stage.context()).map_err(|error| error.to_string())?;
    let address = target.front.address.clone();
    let names: Vec<String> = seen.server.operations.keys().cloned().collect();
    for name in names {
        if let Err(error) = passes(stage, &seen.server, &name, &address) {
            amend(stage, seen, &name, &address, &error.to_string());
        } else if let Some(because) = seen.operations.get_mut(&name) {
            let words = match &seen.server.operations[&name] {
                Operation::Http(http) if http.expected_body.is_some() => {
                    format!("{}, and after a new start", because.expect)
                }
                Operation::Grpc(grpc) if grpc.expected_message.is_some() => {
                    "the same before and after a new start".to_owned()
                }
                _ => because.expect.clone(),
            };
            because.expect = words;
        }
    }
    // An error means that it has ended already.
    let _ = target.stop();
    if seen.server.operations.is_empty() {
        return Err(Unseen {
            reason: "no operation answered again after a new start".into(),
            questions: std::mem::take(&mut seen.questions),
        });
    }
    Ok(())
}

/// Removes what does not hold.
fn amend(stage: &Stage, seen: &mut Seen, name: &str, address: &str, why: &str) {
    match seen.server.operations.get_mut(name) {
        Some(Operation::Http(http)) => http.expected_body = None,
        Some(Operation::Grpc(grpc)) => grpc.expected_message = None,
        Some(Operation::Bench(_)) | None => {}
    }
    if passes(stage, &seen.server, name, address).is_ok() {
        if let Some(because) = seen.operations.get_mut(name) {
            because.expect = "the response differs between requests or starts, so only the status is checked".into();
        }
        return;
    }
    seen.server.operations.remove(name);
    seen.operations.remove(name);
    seen.questions.push(format!(
        "{name} did not answer again after a new start ({why}): what does it need?"
    ));
}

fn passes(stage: &Stage, server: &Server, name: &str, address: &str) -> Result<(), TargetError> {
    let operation = &server.operations[name];
    let protocol = protocol_of(server, operation);
    let ca = stage.scene.tls.certificate();
    let endpoint = Endpoint {
        address,
        protocol,
        ca: &ca,
    };
    let request = Request::new(stage.scene.root, server, operation, endpoint, &Captured::new())?;
    for _ in 0..TIMES {
        request.check(address)?;
    }
    Ok(())
}

/// The server's protocol for an operation.
fn protocol_of(server: &Server, operation: &Operation) -> Protocol {
    let is_call = matches!(operation, Operation::Grpc(_));
    let mut fitting = server.protocols.iter().filter(|one| one.is_grpc() == is_call);
    fitting.next().copied().unwrap_or(server.protocols[0])
}
