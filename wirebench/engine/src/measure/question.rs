//! One operation as a request on the wire, and the check of its response.

use std::path::Path;

use regex::Regex;
use serde_json::Value;

use crate::measure::grpc::{self, Call};
use crate::measure::probe::{PROBE_TIMEOUT, WireAnswer, WireRequest, ask, grpc_request};
use crate::measure::reflection::Place;
use crate::measure::seed::{self, Captured};
use crate::measure::target::TargetError;
use crate::measure::variables;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{HttpOperation, Operation, Server};

/// An operation with its request on the wire and the check of the response.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    server: &'a str,
    operation: &'a Operation,
    call: Option<Call>,
    /// The request; the first, if several paths are requested in turn.
    pub request: WireRequest,
    /// The paths that are requested in turn with it.
    more_paths: Vec<String>,
}

impl<'a> Question<'a> {
    /// Prepares an operation for a server at a place, with the values that seeds captured; process starts use the first
    /// protocol that the server declares.
    ///
    /// # Errors
    /// When a gRPC message does not fit its method, the server does not tell the method, or an environment variable is not set.
    ///
    /// # Panics
    /// For a benchmark, which has no request.
    pub fn new(
        root: &Path,
        server: &'a Server,
        operation: &'a Operation,
        place: Place,
        captured: &Captured,
    ) -> Result<Self, TargetError> {
        let wrong = |source| TargetError::Operation {
            server: server.name.clone(),
            source,
        };
        let filled = |text: &str| {
            variables::filled(&seed::filled(text, captured)).map_err(|variable| TargetError::Variable {
                server: server.name.clone(),
                variable,
            })
        };
        let ca = place.ca;
        let protocol = if place.protocol == Protocol::Process {
            server.protocols[0]
        } else {
            place.protocol
        };
        let (request, call) = match operation {
            Operation::Http(http) => (
                WireRequest {
                    protocol,
                    method: http.method.clone(),
                    path: seed::filled(&http.path, captured),
                    headers: http.headers.iter().map(|line| filled(line)).collect::<Result<_, _>>()?,
                    body: filled(http.body.as_deref().unwrap_or_default())?.into_bytes(),
                    ca: protocol.has_tls().then(|| ca.to_path_buf()),
                },
                None,
            ),
            Operation::Bench(_) => unreachable!("benchmarks have no server to ask"),
            Operation::Grpc(rpc) => {
                let call = Call::load(root, rpc, Place { protocol, ..place }).map_err(wrong)?;
                let body = call.request_frame(&rpc.message).map_err(wrong)?;
                let path = format!("/{}", rpc.call);
                let mut request = grpc_request(protocol, &path, body, ca);
                for line in &rpc.metadata {
                    request.headers.push(filled(line)?);
                }
                (request, Some(call))
            }
        };
        let more_paths = match operation {
            Operation::Http(http) => http
                .more_paths
                .iter()
                .map(|path| seed::filled(path, captured))
                .collect(),
            Operation::Grpc(_) | Operation::Bench(_) => Vec::new(),
        };
        Ok(Self {
            server: &server.name,
            operation,
            call,
            request,
            more_paths,
        })
    }

    /// A gRPC method's descriptors, if the server was asked for them.
    #[must_use]
    pub fn protoset(&self) -> Option<&[u8]> {
        self.call.as_ref().and_then(Call::protoset)
    }

    /// Sends one request for each path and checks the responses against `expect` in `server.toml`. Returns the first.
    ///
    /// # Errors
    /// When there is no response, or a wrong one.
    pub fn check(&self, address: &str) -> Result<WireAnswer, TargetError> {
        let first = self.check_one(address, &self.request)?;
        for path in &self.more_paths {
            let request = WireRequest {
                path: path.clone(),
                ..self.request.clone()
            };
            self.check_one(address, &request)?;
        }
        Ok(first)
    }

    fn check_one(&self, address: &str, request: &WireRequest) -> Result<WireAnswer, TargetError> {
        let server = || self.server.to_owned();
        let answer = ask(address, request, PROBE_TIMEOUT).map_err(|source| TargetError::NoAnswer {
            server: server(),
            source,
        })?;
        let of = if self.more_paths.is_empty() {
            String::new()
        } else {
            format!(" of {}", request.path)
        };
        let wrong = |expected: String, found: String| {
            Err(TargetError::WrongAnswer {
                server: server(),
                expected: short(&expected) + &of,
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
                match differs(http, &answer.body) {
                    Some(expected) => wrong(expected, format!("body {}", String::from_utf8_lossy(&answer.body))),
                    None => Ok(answer),
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
        let messages = self.call.as_ref().and_then(|_| grpc::bytes_of_messages(&answer.body));
        messages.unwrap_or(answer.body.len()) as u64
    }
}

/// The difference between the expected and the actual body; `None` if the body is right.
fn differs(http: &HttpOperation, body: &[u8]) -> Option<String> {
    if let Some(expected) = http
        .expected_body
        .as_ref()
        .filter(|expected| expected.as_bytes() != body)
    {
        return Some(format!("body {expected}"));
    }
    if let Some(pattern) = &http.expected_pattern {
        let matches = Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(&String::from_utf8_lossy(body)));
        if !matches {
            return Some(format!("a body that matches {pattern}"));
        }
    }
    if http.expected_json.is_empty() && !http.graphql {
        return None;
    }
    let Ok(json) = serde_json::from_slice::<Value>(body) else {
        return Some("a body in JSON".into());
    };
    if http.graphql && (json.get("errors").is_some() || json.get("data").is_none_or(Value::is_null)) {
        return Some("a GraphQL response with data and without errors".into());
    }
    let wrong = http
        .expected_json
        .iter()
        .find(|(pointer, value)| json.pointer(pointer) != Some(value));
    wrong.map(|(pointer, value)| format!("{value} at {pointer} of the body"))
}

fn short(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}… ({} bytes)", &text[..cut], text.len()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_a_part_of_the_json_and_graphql_say_what_they_miss() {
        let plain = HttpOperation::new("GET", "/".into(), 200, None);
        let check = |http: &HttpOperation, body: &str| differs(http, body.as_bytes());
        let pattern = HttpOperation {
            expected_pattern: Some("id\":[0-9]+,".into()),
            ..plain.clone()
        };
        assert_eq!(check(&pattern, "{\"id\":17,}"), None);
        assert!(check(&pattern, "{}").unwrap().starts_with("a body that matches"));
        let json = HttpOperation {
            expected_json: [("/data/0/name".to_owned(), "Lviv".into())].into(),
            ..plain.clone()
        };
        assert_eq!(check(&json, "{\"data\":[{\"name\":\"Lviv\",\"at\":1}]}"), None);
        let said = check(&json, "{\"data\":[]}").unwrap();
        assert_eq!(said, "\"Lviv\" at /data/0/name of the body");
        assert_eq!(check(&json, "<p>").unwrap(), "a body in JSON");
        let graphql = HttpOperation { graphql: true, ..plain };
        assert_eq!(check(&graphql, "{\"data\":{\"a\":1}}"), None);
        for body in ["{\"data\":{\"a\":1},\"errors\":[]}", "{\"data\":null}", "{}"] {
            assert!(check(&graphql, body).unwrap().contains("without errors"), "{body}");
        }
    }
}
