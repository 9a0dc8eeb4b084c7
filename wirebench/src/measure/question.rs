//! A question: one operation as a request on the wire, and the check of its answer.

use std::path::Path;

use crate::declare::protocol::Protocol;
use crate::declare::server::{Operation, Server};
use crate::measure::grpc::{self, Call, FRAME_HEADER_BYTES};
use crate::measure::probe::{PROBE_TIMEOUT, WireAnswer, WireRequest, ask, grpc_request};
use crate::measure::target::TargetError;

/// An operation with its request on the wire and the means to check the answer.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    server: &'a str,
    operation: &'a Operation,
    call: Option<Call>,
    /// The request.
    pub request: WireRequest,
}

impl<'a> Question<'a> {
    /// Prepares an operation for a protocol; process starts are asked over what the server answers first. Over TLS the
    /// server must show the certificate in the file `ca`.
    ///
    /// # Errors
    /// When a gRPC message does not fit its .proto file.
    ///
    /// # Panics
    /// For a benchmark, which nobody can be asked for.
    pub fn new(
        root: &Path,
        server: &'a Server,
        operation: &'a Operation,
        protocol: Protocol,
        ca: &Path,
    ) -> Result<Self, TargetError> {
        let wrong = |source| TargetError::Operation {
            server: server.name.clone(),
            source,
        };
        let protocol = if protocol == Protocol::Process {
            server.protocols[0]
        } else {
            protocol
        };
        let (request, call) = match operation {
            Operation::Http(http) => (
                WireRequest {
                    protocol,
                    method: http.method.clone(),
                    path: http.path.clone(),
                    headers: http.headers.clone(),
                    body: http.body.clone().unwrap_or_default().into_bytes(),
                    ca: protocol.has_tls().then(|| ca.to_path_buf()),
                },
                None,
            ),
            Operation::Bench(_) => unreachable!("benchmarks have no server to ask"),
            Operation::Grpc(rpc) => {
                let call = Call::load(root, rpc).map_err(wrong)?;
                let body = call.request_frame(&rpc.message).map_err(wrong)?;
                let path = format!("/{}", rpc.call);
                (grpc_request(protocol, &path, body, ca), Some(call))
            }
        };
        Ok(Self {
            server: &server.name,
            operation,
            call,
            request,
        })
    }

    /// Asks once and checks the answer against what `server.toml` expects.
    ///
    /// # Errors
    /// When there is no answer, or a wrong one.
    pub fn check(&self, address: &str) -> Result<WireAnswer, TargetError> {
        let server = || self.server.to_owned();
        let answer = ask(address, &self.request, PROBE_TIMEOUT).map_err(|source| TargetError::NoAnswer {
            server: server(),
            source,
        })?;
        let wrong = |expected: String, found: String| {
            Err(TargetError::WrongAnswer {
                server: server(),
                expected: short(&expected),
                found: short(&found),
            })
        };
        if let Some(fault) = &answer.fault {
            return wrong("a gRPC-web answer".into(), fault.clone());
        }
        match (self.operation, &self.call) {
            (Operation::Http(http), _) => {
                if answer.status != http.status {
                    let found = format!(
                        "status {} with body {}",
                        answer.status,
                        String::from_utf8_lossy(&answer.body)
                    );
                    return wrong(format!("status {}", http.status), found);
                }
                match &http.expected_body {
                    Some(body) if body.as_bytes() != answer.body => wrong(
                        format!("body {body}"),
                        format!("body {}", String::from_utf8_lossy(&answer.body)),
                    ),
                    _ => Ok(answer),
                }
            }
            (Operation::Grpc(rpc), Some(call)) => {
                match &answer.grpc {
                    Some((status, _)) if status == "0" => {}
                    Some((status, message)) => {
                        return wrong("grpc-status 0".into(), format!("grpc-status {status}: {message}"));
                    }
                    None => {
                        return wrong(
                            "grpc-status 0".into(),
                            format!("HTTP status {} without grpc-status", answer.status),
                        );
                    }
                }
                let unreadable = |source| TargetError::Operation {
                    server: server(),
                    source,
                };
                let differs = match &rpc.expected_message {
                    Some(json) => call.answer_differs(&answer.body, json).map_err(unreadable)?,
                    None => call.answer(&answer.body).map(|_| None).map_err(unreadable)?,
                };
                match differs {
                    Some(found) => wrong(
                        format!("message {}", rpc.expected_message.as_deref().unwrap_or_default()),
                        found,
                    ),
                    None => Ok(answer),
                }
            }
            (Operation::Grpc(_), None) | (Operation::Bench(_), _) => {
                unreachable!("new() loads the call of every gRPC operation, and takes no benchmark")
            }
        }
    }

    /// Bytes of the body (HTTP) or the messages (gRPC) in an answer.
    #[must_use]
    pub fn payload_bytes(&self, answer: &WireAnswer) -> u64 {
        let frames = self.call.as_ref().and_then(|_| grpc::frames(&answer.body));
        let framing = FRAME_HEADER_BYTES * frames.map_or(0, |frames| frames.len());
        answer.body.len().saturating_sub(framing) as u64
    }
}

fn short(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}… ({} bytes)", &text[..cut], text.len()),
        None => text.to_owned(),
    }
}
