//! An operation: one kind of request, and the expected response.

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::read::{DeclareError, Place};

/// One kind of request and its expected response.
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

/// An HTTP request and the expected response.
#[derive(Debug, Clone, Serialize)]
pub struct HttpOperation {
    /// The method, upper case.
    pub method: String,
    /// Path and query, from the first `/`.
    pub path: String,
    /// Further paths that are requested in turn with it, in this order: a mix. A path that is listed twice has twice the weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more_paths: Vec<String>,
    /// Header lines `name: value`; `{env:NAME}` and `{env:NAME:default}` stand for environment variables.
    pub headers: Vec<String>,
    /// The request's body; the same variables are replaced in it.
    pub body: Option<String>,
    /// The expected status.
    pub status: u16,
    /// The expected body, byte by byte; `None` accepts any.
    pub expected_body: Option<String>,
    /// A regular expression that the body must match somewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_pattern: Option<String>,
    /// Expected parts of the body as JSON: a value for each JSON pointer, such as `/data/user/id`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub expected_json: BTreeMap<String, Value>,
    /// Whether the body must be a GraphQL response without errors.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub graphql: bool,
}

impl HttpOperation {
    /// A request without headers and body, and an expected response with this status and this body, or any body.
    #[must_use]
    pub fn new(method: &str, path: String, status: u16, expected_body: Option<String>) -> Self {
        Self {
            method: method.into(),
            path,
            more_paths: Vec::new(),
            headers: Vec::new(),
            body: None,
            status,
            expected_body,
            expected_pattern: None,
            expected_json: BTreeMap::new(),
            graphql: false,
        }
    }
}

/// A unary gRPC call and the expected response.
#[derive(Debug, Clone, Serialize)]
pub struct GrpcOperation {
    /// The file that declares the method; `None` if the server describes it by server reflection.
    #[serde(flatten)]
    pub proto: Option<ProtoFile>,
    /// `package.Service/Method`.
    pub call: String,
    /// The request as protobuf JSON.
    pub message: String,
    /// Metadata lines `name: value`, such as a token; variables are replaced as in headers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<String>,
    /// The expected message as protobuf JSON; `None` accepts any message with status OK.
    pub expected_message: Option<String>,
}

/// A .proto file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProtoFile {
    /// The file, relative to the project.
    pub proto: String,
    /// The folder its imports start from.
    pub proto_root: String,
}

impl ProtoFile {
    /// The file and its import folder, or neither.
    fn of(proto: Option<String>, proto_root: Option<String>) -> Result<Option<Self>, Fault> {
        match (proto, proto_root) {
            (Some(proto), Some(proto_root)) => Ok(Some(Self { proto, proto_root })),
            (None, None) => Ok(None),
            _ => fault(
                "request",
                "expected proto (the file) and proto_root (its import folder), or neither: then the server is asked by server reflection",
            ),
        }
    }
}

/// One benchmark, whose iterations are timed inside the program itself.
#[derive(Debug, Clone, Serialize)]
pub struct BenchOperation {
    /// Its name in the program.
    pub id: String,
}

/// An operation as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    request: RequestTable,
    #[serde(default)]
    expect: ExpectTable,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestTable {
    method: Option<String>,
    path: Option<String>,
    paths: Option<Vec<String>>,
    #[serde(default)]
    headers: Vec<String>,
    body: Option<String>,
    body_file: Option<String>,
    call: Option<String>,
    message: Option<String>,
    #[serde(default)]
    metadata: Vec<String>,
    proto: Option<String>,
    proto_root: Option<String>,
    bench: Option<String>,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectTable {
    status: Option<u16>,
    body: Option<String>,
    pattern: Option<String>,
    #[serde(default)]
    json: BTreeMap<String, Value>,
    graphql: Option<bool>,
    message: Option<String>,
}

impl ExpectTable {
    /// True if it expects something of an HTTP body.
    fn names_a_body(&self) -> bool {
        self.body.is_some() || self.pattern.is_some() || !self.json.is_empty() || self.graphql.is_some()
    }

    /// What is wrong with it: the key, and why.
    fn fault(&self) -> Option<(&'static str, String)> {
        if let Some(Err(error)) = self.pattern.as_deref().map(Regex::new) {
            return Some(("expect.pattern", format!("expected a regular expression: {error}")));
        }
        let pointer = |pointer: &&String| !pointer.starts_with('/') && !pointer.is_empty();
        if let Some(wrong) = self.json.keys().find(pointer) {
            let message = format!("expected JSON pointers such as \"/data/id\", found \"{wrong}\"");
            return Some(("expect.json", message));
        }
        (self.graphql == Some(false)).then(|| ("expect.graphql", "expected true; leave it out otherwise".to_owned()))
    }
}

/// The longest request body.
const LONGEST_BODY: u64 = 16 << 20;

/// Reads the body from a file, whose path is relative to the file that names it.
///
/// # Errors
/// When it cannot be read, is not UTF-8, or is too long; in words.
fn body_of(place: &Place, name: &str) -> Result<String, String> {
    let file = place
        .file
        .parent()
        .map_or_else(|| name.into(), |folder| folder.join(name));
    let length = fs::metadata(&file).map(|found| found.len());
    if length.is_ok_and(|length| length > LONGEST_BODY) {
        return Err(format!("{}: is longer than {LONGEST_BODY} bytes", file.display()));
    }
    fs::read_to_string(&file).map_err(|error| format!("{}: cannot be read: {error}", file.display()))
}

/// The first path, and the others; at least one of the two keys has a value.
fn in_turn(path: Option<String>, paths: Option<Vec<String>>) -> Result<(String, Vec<String>), Fault> {
    match (path, paths) {
        (Some(path), None) => Ok((path, Vec::new())),
        (None, Some(mut paths)) if (2..=MOST_PATHS).contains(&paths.len()) => {
            let first = paths.remove(0);
            Ok((first, paths))
        }
        (None, _) => fault(
            "request.paths",
            "expected 2 to 1,000 paths, which are requested in turn",
        ),
        (Some(_), Some(_)) => fault("request.paths", "expected path or paths, found both"),
    }
}

/// Paths of one operation, at most: they stand on a command line.
const MOST_PATHS: usize = 1000;

/// Checks that every `{env:` of a text is well-formed.
fn names_variables_well(text: &str) -> bool {
    static VARIABLE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\{env:[A-Za-z_][A-Za-z0-9_]*(?::[^{}]*)?\}").expect("a constant pattern"));
    text.matches("{env:").count() == VARIABLE.find_iter(text).count()
}

/// The error of a metadata line; `None` if it is valid.
fn flaw_of_metadata(line: &str) -> Option<&'static str> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[a-z0-9_.-]+$").expect("a constant pattern"));
    let Some((name, _)) = line.split_once(": ").filter(|(name, _)| NAME.is_match(name)) else {
        return Some("expected lines such as \"authorization: Bearer {env:TOKEN}\", the name in lower case");
    };
    if name.ends_with("-bin") {
        return Some("expected text; drivers encode the values of names that end with -bin each in their own way");
    }
    (!names_variables_well(line)).then_some("expected variables such as {env:TOKEN} or {env:TOKEN:default}")
}

impl Table {
    /// An operation of these two parts.
    pub(super) const fn of(request: RequestTable, expect: ExpectTable) -> Self {
        Self { request, expect }
    }

    /// Checks the operation at `key` of the server's file.
    ///
    /// # Errors
    /// When a value is impossible or contradicts another one.
    pub(super) fn check(mut self, place: &Place, key: &str) -> Result<Operation, DeclareError> {
        let wrong = |(what, message): (&str, String)| place.wrong(&format!("{key}.{what}"), message);
        if let Some(fault) = self.expect.fault() {
            return Err(wrong(fault));
        }
        if let Some(name) = self.request.body_file.take() {
            if self.request.body.is_some() {
                let message = "expected body or body_file, found both";
                return Err(wrong(("request.body_file", message.into())));
            }
            let body = body_of(place, &name).map_err(|message| wrong(("request.body_file", message)))?;
            self.request.body = Some(body);
        }
        let operation = match (self.request.is_http(), &self.request.call, &self.request.bench) {
            (_, _, Some(_)) => self.bench(),
            (true, None, None) => self.http(),
            (false, Some(_), None) => self.grpc(),
            _ => fault(
                "request",
                "expected exactly one of path (HTTP), call (gRPC) and bench (a benchmark)",
            ),
        };
        operation.map_err(wrong)
    }

    /// An HTTP request.
    fn http(self) -> Result<Operation, Fault> {
        let Self { request, expect } = self;
        let is_grpc = request.message.is_some() || request.names_a_file() || !request.metadata.is_empty();
        if is_grpc || expect.message.is_some() {
            return fault(
                "request",
                "path makes this an HTTP request; message, metadata, proto and proto_root are gRPC's",
            );
        }
        let (path, more_paths) = in_turn(request.path, request.paths)?;
        if !more_paths.iter().chain([&path]).all(|path| path.starts_with('/')) {
            return fault("request.path", "expected a path that starts with /");
        }
        if request.headers.iter().any(|line| !line.contains(": ")) {
            return fault("request.headers", "expected lines such as \"accept: application/json\"");
        }
        let mut texts = request.headers.iter().chain(&request.body);
        if !texts.all(|text| names_variables_well(text)) {
            return fault(
                "request",
                "expected variables such as {env:TOKEN} or {env:TOKEN:default}",
            );
        }
        Ok(Operation::Http(HttpOperation {
            method: request.method.unwrap_or_else(|| "GET".into()),
            path,
            more_paths,
            headers: request.headers,
            body: request.body,
            status: expect.status.unwrap_or(200),
            expected_body: expect.body,
            expected_pattern: expect.pattern,
            expected_json: expect.json,
            graphql: expect.graphql.unwrap_or(false),
        }))
    }

    /// A gRPC call.
    fn grpc(self) -> Result<Operation, Fault> {
        let Self { request, expect } = self;
        if request.method.is_some() || !request.headers.is_empty() || request.body.is_some() || expect.names_a_body() {
            return fault(
                "request",
                "call makes this a gRPC request; method, headers and body are HTTP's, and metadata is its own",
            );
        }
        if let Some(flaw) = request.metadata.iter().find_map(|line| flaw_of_metadata(line)) {
            return fault("request.metadata", flaw);
        }
        let call = request.call.unwrap_or_default();
        if call.split('/').filter(|part| !part.is_empty()).count() != 2 {
            return fault("request.call", "expected \"package.Service/Method\"");
        }
        Ok(Operation::Grpc(GrpcOperation {
            proto: ProtoFile::of(request.proto, request.proto_root)?,
            call,
            message: request.message.unwrap_or_else(|| "{}".into()),
            metadata: request.metadata,
            expected_message: expect.message,
        }))
    }

    /// A benchmark of a program.
    fn bench(self) -> Result<Operation, Fault> {
        let Self { request, expect } = self;
        let has_lines = !request.headers.is_empty() || !request.metadata.is_empty();
        let is_more = request.is_http() || request.call.is_some() || request.names_a_file() || has_lines;
        let expects = expect.status.is_some() || expect.names_a_body();
        let others = [request.method, request.body, request.message, expect.message];
        let id = request.bench.unwrap_or_default();
        if id.is_empty() || is_more || others.iter().any(Option::is_some) || expects {
            return fault(
                "request",
                "bench names a benchmark, and nothing goes with it: it is not asked over a wire",
            );
        }
        Ok(Operation::Bench(BenchOperation { id }))
    }
}

impl RequestTable {
    fn is_http(&self) -> bool {
        self.path.is_some() || self.paths.is_some()
    }

    fn names_a_file(&self) -> bool {
        self.proto.is_some() || self.proto_root.is_some()
    }
}

/// A wrong key, and the fault.
type Fault = (&'static str, String);

fn fault<T>(key: &'static str, message: &str) -> Result<T, Fault> {
    Err((key, message.to_owned()))
}
