//! An operation: one kind of request that a server answers, and the right answer.

use serde::{Deserialize, Serialize};

use crate::declare::read::{DeclareError, Place};

/// One kind of request and its one right answer.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Over HTTP.
    Http(HttpOperation),
    /// Over gRPC, unary.
    Grpc(GrpcOperation),
    /// Not over a wire: one benchmark of the program.
    Bench(BenchOperation),
}

/// An HTTP request and the answer expected.
#[derive(Debug, Clone, Serialize)]
pub struct HttpOperation {
    /// The method, upper case.
    pub method: String,
    /// Path and query, from the first `/`.
    pub path: String,
    /// Header lines `name: value`.
    pub headers: Vec<String>,
    /// The request's body.
    pub body: Option<String>,
    /// The status of a right answer.
    pub status: u16,
    /// The body of a right answer, to the byte; none given means any.
    pub expected_body: Option<String>,
}

/// A unary gRPC call and the answer expected.
#[derive(Debug, Clone, Serialize)]
pub struct GrpcOperation {
    /// The .proto file that declares the method, relative to the project.
    pub proto: String,
    /// The folder its imports start from.
    pub proto_root: String,
    /// `package.Service/Method`.
    pub call: String,
    /// The request as protobuf JSON.
    pub message: String,
    /// The right answer as protobuf JSON; none given means any message with status OK.
    pub expected_message: Option<String>,
}

/// One benchmark, whose iterations a driver times inside the program itself.
#[derive(Debug, Clone, Serialize)]
pub struct BenchOperation {
    /// What the program calls it.
    pub id: String,
}

/// An operation as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    request: RequestTable,
    #[serde(default)]
    expect: ExpectTable,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestTable {
    method: Option<String>,
    path: Option<String>,
    #[serde(default)]
    headers: Vec<String>,
    body: Option<String>,
    call: Option<String>,
    message: Option<String>,
    proto: Option<String>,
    proto_root: Option<String>,
    bench: Option<String>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct ExpectTable {
    status: Option<u16>,
    body: Option<String>,
    message: Option<String>,
}

impl Table {
    /// Checks what is written at `key`, a place within the server's file.
    ///
    /// # Errors
    /// When it says something impossible.
    pub(super) fn check(self, place: &Place, key: &str) -> Result<Operation, DeclareError> {
        let wrong = |what: &str, message: &str| Err(place.wrong(&format!("{key}.{what}"), message));
        let RequestTable {
            method,
            path,
            headers,
            body,
            call,
            message,
            proto,
            proto_root,
            bench,
        } = self.request;
        if let Some(id) = bench {
            let others = [path, call, method, body, message, proto, proto_root];
            let expects = self.expect.status.is_some() || self.expect.body.is_some() || self.expect.message.is_some();
            if id.is_empty() || others.iter().any(Option::is_some) || !headers.is_empty() || expects {
                return wrong(
                    "request",
                    "bench names a benchmark, and nothing goes with it: it is not asked over a wire",
                );
            }
            return Ok(Operation::Bench(BenchOperation { id }));
        }
        match (path, call) {
            (Some(path), None) => {
                if message.is_some() || proto.is_some() || proto_root.is_some() || self.expect.message.is_some() {
                    return wrong(
                        "request",
                        "path makes this an HTTP request; message, proto and proto_root are gRPC's",
                    );
                }
                if !path.starts_with('/') {
                    return wrong("request.path", "expected a path that starts with /");
                }
                if headers.iter().any(|line| !line.contains(": ")) {
                    return wrong("request.headers", "expected lines such as \"accept: application/json\"");
                }
                Ok(Operation::Http(HttpOperation {
                    method: method.unwrap_or_else(|| "GET".into()),
                    path,
                    headers,
                    body,
                    status: self.expect.status.unwrap_or(200),
                    expected_body: self.expect.body,
                }))
            }
            (None, Some(call)) => {
                if method.is_some() || !headers.is_empty() || body.is_some() || self.expect.body.is_some() {
                    return wrong(
                        "request",
                        "call makes this a gRPC request; method, headers and body are HTTP's",
                    );
                }
                if call.split('/').filter(|part| !part.is_empty()).count() != 2 {
                    return wrong("request.call", "expected \"package.Service/Method\"");
                }
                let (Some(proto), Some(proto_root)) = (proto, proto_root) else {
                    return wrong(
                        "request",
                        "a gRPC request needs proto (the file) and proto_root (its import folder)",
                    );
                };
                let message = message.unwrap_or_else(|| "{}".into());
                let expected_message = self.expect.message;
                Ok(Operation::Grpc(GrpcOperation {
                    proto,
                    proto_root,
                    call,
                    message,
                    expected_message,
                }))
            }
            _ => wrong(
                "request",
                "expected exactly one of path (HTTP), call (gRPC) and bench (a benchmark)",
            ),
        }
    }
}
