//! One operation as a request on the wire, and the check of its response.
//!
//! The seeds of a server, which are sent before its load, and the values that are captured from their responses.

use std::path::Path;

use regex::Regex;
use serde_json::Value;

use crate::measure::error::MeasureError;
use crate::measure::grpc::call::Call;
use crate::measure::grpc::frame;
use crate::measure::probe::{PROBE_TIMEOUT, send};
use crate::measure::values::{Captured, fill_captured, fill_variables};
use crate::measure::wire::{Endpoint, WireRequest, WireResponse, grpc_request};
use wirebench_declare::protocol::Protocol;
use wirebench_declare::seed::Seed;
use wirebench_declare::server::{GrpcOperation, HttpOperation, Operation, Server};

/// One operation of a server: the request to send, and the check of the response.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    server: &'a str,
    operation: &'a Operation,
    call: Option<Call>,
    /// The request as it is sent; the first one, if several paths are requested in turn.
    pub wire: WireRequest,
    /// The other paths that are requested in turn.
    more_paths: Vec<String>,
}

impl<'a> Request<'a> {
    /// Prepares an operation of a server, with the values that seeds captured. Process starts use the first protocol that the
    /// server declares.
    ///
    /// # Errors
    /// When a gRPC message does not fit its method, server reflection does not describe the method, or an environment variable
    /// is not set.
    ///
    /// # Panics
    /// For a benchmark, which has no request.
    pub fn new(
        root: &Path,
        server: &'a Server,
        operation: &'a Operation,
        endpoint: Endpoint,
        captured: &Captured,
    ) -> Result<Self, MeasureError> {
        let protocol = match endpoint.protocol {
            Protocol::Process => server.protocols[0],
            other => other,
        };
        let endpoint = Endpoint { protocol, ..endpoint };
        let ca = protocol.has_tls().then(|| endpoint.ca.to_path_buf());
        let mut request = Self {
            server: &server.name,
            operation,
            call: None,
            wire: WireRequest::get(protocol, String::new(), ca),
            more_paths: Vec::new(),
        };
        let set = match operation {
            Operation::Http(http) => request.set_http(http, captured),
            Operation::Grpc(rpc) => request.set_grpc(rpc, root, endpoint, captured),
            Operation::Bench(_) => unreachable!("benchmarks have no server to send requests to"),
        };
        set.map_err(|why| request.error(&why))?;
        Ok(request)
    }

    fn set_http(&mut self, http: &HttpOperation, captured: &Captured) -> Result<(), String> {
        self.wire.method.clone_from(&http.method);
        self.wire.path = fill_captured(&http.path, captured);
        self.wire.headers = fill_all(&http.headers, captured)?;
        let body = http.body.as_deref().unwrap_or_default();
        self.wire.body = fill(body, captured)?.into_bytes();
        let more_paths = http.more_paths.iter();
        self.more_paths = more_paths.map(|path| fill_captured(path, captured)).collect();
        Ok(())
    }

    fn set_grpc(
        &mut self,
        rpc: &GrpcOperation,
        root: &Path,
        endpoint: Endpoint,
        captured: &Captured,
    ) -> Result<(), String> {
        let call = Call::load(root, rpc, endpoint)?;
        let body = call.request_frame(&rpc.message)?;
        self.wire = grpc_request(endpoint.protocol, &format!("/{}", rpc.call), body, endpoint.ca);
        self.wire.headers.extend(fill_all(&rpc.metadata, captured)?);
        self.call = Some(call);
        Ok(())
    }

    fn error(&self, why: &str) -> MeasureError {
        MeasureError::Failed(format!("server {}: {why}", self.server))
    }

    /// A gRPC method's descriptors, if the repository does not have all of its .proto files.
    pub fn protoset(&self) -> Option<&[u8]> {
        self.call.as_ref().and_then(Call::protoset)
    }

    /// Sends one request for each path and checks the responses against `expect` in `server.toml`. Returns the first
    /// response.
    ///
    /// # Errors
    /// When there is no response, or a wrong one.
    pub fn check(&self, address: &str) -> Result<WireResponse, MeasureError> {
        let first = self.check_one(address, &self.wire)?;
        for path in &self.more_paths {
            let request = WireRequest {
                path: path.clone(),
                ..self.wire.clone()
            };
            self.check_one(address, &request)?;
        }
        Ok(first)
    }

    fn check_one(&self, address: &str, request: &WireRequest) -> Result<WireResponse, MeasureError> {
        let response = send(address, request, PROBE_TIMEOUT)
            .map_err(|error| self.error(&format!("no answer to the probe: {error}")))?;
        let mismatch = self.mismatch(&response).map_err(|why| self.error(&why))?;
        let Some((expected, found)) = mismatch else {
            return Ok(response);
        };
        let path = if self.more_paths.is_empty() {
            String::new()
        } else {
            format!(" of {}", request.path)
        };
        Err(self.error(&format!(
            "wrong answer: expected {}{path}, found {}",
            short(&expected),
            short(&found)
        )))
    }

    /// The expected and the found part of a wrong response; `None` if it is right.
    fn mismatch(&self, response: &WireResponse) -> Result<Option<(String, String)>, String> {
        if let Some(fault) = &response.fault {
            return Ok(Some(("a gRPC-web answer".into(), fault.clone())));
        }
        match (self.operation, &self.call) {
            (Operation::Http(http), _) => Ok(http_mismatch(http, response)),
            (Operation::Grpc(rpc), Some(call)) => grpc_mismatch(rpc, call, response),
            (Operation::Grpc(_), None) | (Operation::Bench(_), _) => {
                unreachable!("new() loads the call of every gRPC operation, and takes no benchmark")
            }
        }
    }

    /// Bytes of the body (HTTP) or of the messages (gRPC) in a response.
    pub fn payload_bytes(&self, response: &WireResponse) -> u64 {
        let messages = self.call.as_ref().and_then(|_| frame::message_bytes(&response.body));
        messages.unwrap_or(response.body.len()) as u64
    }
}

/// Replaces captured values and environment variables in a text.
fn fill(text: &str, captured: &Captured) -> Result<String, String> {
    fill_variables(&fill_captured(text, captured)).map_err(|variable| {
        format!("environment variable {variable} is not set; set it, or give a default: {{env:{variable}:default}}")
    })
}

fn fill_all(lines: &[String], captured: &Captured) -> Result<Vec<String>, String> {
    lines.iter().map(|line| fill(line, captured)).collect()
}

fn http_mismatch(http: &HttpOperation, response: &WireResponse) -> Option<(String, String)> {
    let body = String::from_utf8_lossy(&response.body);
    if response.status != http.status {
        let found = format!("status {} with body {body}", response.status);
        return Some((format!("status {}", http.status), found));
    }
    let expected = body_mismatch(http, &response.body)?;
    Some((expected, format!("body {body}")))
}

fn grpc_mismatch(
    rpc: &GrpcOperation,
    call: &Call,
    response: &WireResponse,
) -> Result<Option<(String, String)>, String> {
    let status_mismatch = |found: String| Ok(Some(("grpc-status 0".into(), found)));
    match &response.grpc {
        Some((status, _)) if status == "0" => {}
        Some((status, message)) => return status_mismatch(format!("grpc-status {status}: {message}")),
        None => return status_mismatch(format!("HTTP status {} without grpc-status", response.status)),
    }
    let Some(json) = &rpc.expected_message else {
        return call.response(&response.body).map(|_| None);
    };
    let found = call.response_differs(&response.body, json)?;
    Ok(found.map(|found| (format!("message {json}"), found)))
}

/// What the body should be; `None` if it is right.
fn body_mismatch(http: &HttpOperation, body: &[u8]) -> Option<String> {
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

/// At most 200 characters of a text, and its length if it is longer.
fn short(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    match text.char_indices().nth(MAX_CHARS) {
        Some((cut, _)) => format!("{}… ({} bytes)", &text[..cut], text.len()),
        None => text.to_owned(),
    }
}

/// Sends the seeds of a server in their order, and adds the values that they capture. Seeds with `once` are sent only if
/// `first_time` is true.
///
/// # Errors
/// When a response is not the expected one, or lacks a value; the error names the seed.
pub fn send_seeds(
    server: &Server,
    endpoint: Endpoint,
    first_time: bool,
    captured: &mut Captured,
) -> Result<(), MeasureError> {
    for seed in server.seed.iter().filter(|seed| first_time || !seed.once) {
        let failed = |why: String| {
            let request = format!("{} {}", seed.request.method, seed.request.path);
            MeasureError::Failed(format!("server {}: seed {request}: {why}", server.name))
        };
        let operation = Operation::Http(seed.request.clone());
        let request = Request::new(Path::new(""), server, &operation, endpoint, captured)?;
        let response = request
            .check(endpoint.address)
            .map_err(|error| failed(error.to_string()))?;
        captured.extend(seed_values(seed, &response.body).map_err(failed)?);
    }
    Ok(())
}

/// The values that a seed captures from a response.
fn seed_values(seed: &Seed, body: &[u8]) -> Result<Captured, String> {
    if seed.capture.is_empty() {
        return Ok(Captured::new());
    }
    let json: Value = serde_json::from_slice(body)
        .map_err(|error| format!("the response is not JSON ({error}), so it has no value to capture"))?;
    let value = |(name, pointer): (&String, &String)| {
        let text = match json.pointer(pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
            Some(_) => {
                return Err(format!(
                    "the value at {pointer} of the response is no text, number or boolean"
                ));
            }
            None => {
                return Err(format!(
                    "the response has no value at {pointer}, which is captured as {name}"
                ));
            }
        };
        if text.contains(char::is_control) {
            return Err(format!(
                "the value at {pointer} of the response contains control characters"
            ));
        }
        Ok((name.clone(), text))
    };
    seed.capture.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_a_part_of_the_json_and_graphql_say_what_they_miss() {
        let plain = HttpOperation::new("GET", "/".into(), 200, None);
        let check = |http: &HttpOperation, body: &str| body_mismatch(http, body.as_bytes());
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
        let expected = check(&json, "{\"data\":[]}").unwrap();
        assert_eq!(expected, "\"Lviv\" at /data/0/name of the body");
        assert_eq!(check(&json, "<p>").unwrap(), "a body in JSON");
        let graphql = HttpOperation { graphql: true, ..plain };
        assert_eq!(check(&graphql, "{\"data\":{\"a\":1}}"), None);
        for body in ["{\"data\":{\"a\":1},\"errors\":[]}", "{\"data\":null}", "{}"] {
            assert!(check(&graphql, body).unwrap().contains("without errors"), "{body}");
        }
    }
}

#[cfg(test)]
mod seed_tests {
    use super::*;
    use crate::measure::values::fill_captured;
    use wirebench_declare::server::HttpOperation;

    fn seed(pointer: &str) -> Seed {
        Seed {
            request: HttpOperation::new("POST", "/login".into(), 200, None),
            capture: [("token".to_owned(), pointer.to_owned())].into(),
            once: false,
        }
    }

    #[test]
    fn values_are_captured_from_json_and_filled_in() {
        let body = br#"{"user":{"token":"a.b","id":7},"list":[1]}"#;
        let captured = seed_values(&seed("/user/token"), body).unwrap();
        assert_eq!(captured["token"], "a.b");
        assert_eq!(seed_values(&seed("/user/id"), body).unwrap()["token"], "7");
        assert_eq!(
            fill_captured(r#"{"t":"{token}","x":{}}"#, &captured),
            r#"{"t":"a.b","x":{}}"#
        );
    }

    #[test]
    fn what_cannot_be_captured_is_said() {
        for (pointer, body, expected) in [
            ("/a", "<p>", "is not JSON"),
            ("/a", "{}", "has no value at /a, which is captured as token"),
            ("/a", r#"{"a":[]}"#, "is no text, number or boolean"),
            ("/a", r#"{"a":"x\r\ny: z"}"#, "contains control characters"),
        ] {
            let error = seed_values(&seed(pointer), body.as_bytes()).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
