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
#[derive(Debug, Clone, Default, Serialize)]
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
    pub fn new(method: &str, path: String, status: u16, expected_body: Option<String>) -> Self {
        Self {
            method: method.into(),
            path,
            status,
            expected_body,
            ..Self::default()
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
    pub(super) request: RequestTable,
    #[serde(default)]
    pub(super) expect: ExpectTable,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RequestTable {
    method: Option<String>,
    path: Option<String>,
    paths: Option<Vec<String>>,
    headers: Vec<String>,
    body: Option<String>,
    body_file: Option<String>,
    call: Option<String>,
    message: Option<String>,
    metadata: Vec<String>,
    proto: Option<String>,
    proto_root: Option<String>,
    bench: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ExpectTable {
    status: Option<u16>,
    body: Option<String>,
    pattern: Option<String>,
    json: BTreeMap<String, Value>,
    graphql: Option<bool>,
    message: Option<String>,
}

impl ExpectTable {
    /// True if it expects something of an HTTP body.
    fn names_a_body(&self) -> bool {
        self.body.is_some() || self.pattern.is_some() || !self.json.is_empty() || self.graphql.is_some()
    }

    fn check(&self, place: &Place) -> Result<(), DeclareError> {
        if let Some(Err(error)) = self.pattern.as_deref().map(Regex::new) {
            return Err(place.wrong("expect.pattern", format!("expected a regular expression: {error}")));
        }
        let is_wrong = |pointer: &&String| !pointer.starts_with('/') && !pointer.is_empty();
        if let Some(wrong) = self.json.keys().find(is_wrong) {
            let message = format!("expected JSON pointers such as \"/data/id\", found \"{wrong}\"");
            return Err(place.wrong("expect.json", message));
        }
        let message = "expected true; leave it out otherwise";
        place.refuse_if(self.graphql == Some(false), "expect.graphql", message)
    }
}

/// The longest request body.
const LONGEST_BODY: u64 = 16 << 20;

/// Reads the body from a file, whose path is relative to the file that names it.
///
/// # Errors
/// When it cannot be read, is not UTF-8, or is too long; in words.
fn body_of(place: &Place, name: &str) -> Result<String, String> {
    let file = place.file.with_file_name(name);
    if fs::metadata(&file).is_ok_and(|found| found.len() > LONGEST_BODY) {
        return Err(format!("{}: is longer than {LONGEST_BODY} bytes", file.display()));
    }
    fs::read_to_string(&file).map_err(|error| format!("{}: cannot be read: {error}", file.display()))
}

/// Paths of one operation, at most: they stand on a command line.
const MOST_PATHS: usize = 1000;

/// An environment variable in a header, a body or metadata, `{env:NAME}` or `{env:NAME:default}`: captures the name and the default.
pub static VARIABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{env:([A-Za-z_][A-Za-z0-9_]*)(?::([^{}]*))?\}").expect("a constant pattern"));

/// Checks that every `{env:` of a text is well-formed.
fn names_variables_well(text: &str) -> bool {
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
    /// Checks the operation at a place.
    ///
    /// # Errors
    /// When a value is impossible or contradicts another one.
    pub(super) fn check(mut self, place: &Place) -> Result<Operation, DeclareError> {
        self.expect.check(place)?;
        if let Some(name) = self.request.body_file.take() {
            let (key, message) = ("request.body_file", "expected body or body_file, found both");
            place.refuse_if(self.request.body.is_some(), key, message)?;
            self.request.body = Some(body_of(place, &name).map_err(|message| place.wrong(key, message))?);
        }
        let is_http = self.request.path.is_some() || self.request.paths.is_some();
        match (is_http, &self.request.call, &self.request.bench) {
            (_, _, Some(_)) => self.bench(place).map(Operation::Bench),
            (true, None, None) => self.http(place).map(Operation::Http),
            (false, Some(_), None) => self.grpc(place).map(Operation::Grpc),
            _ => {
                let message = "expected exactly one of path (HTTP), call (gRPC) and bench (a benchmark)";
                Err(place.wrong("request", message))
            }
        }
    }

    /// An HTTP request.
    fn http(self, place: &Place) -> Result<HttpOperation, DeclareError> {
        let Self { request, expect } = self;
        let names_a_file = request.proto.is_some() || request.proto_root.is_some();
        let is_grpc = request.message.is_some() || names_a_file || !request.metadata.is_empty();
        let message = "path makes this an HTTP request; message, metadata, proto and proto_root are gRPC's";
        place.refuse_if(is_grpc || expect.message.is_some(), "request", message)?;
        let has_both = request.path.is_some() && request.paths.is_some();
        place.refuse_if(has_both, "request.paths", "expected path or paths, found both")?;
        let number = request.paths.as_ref().map(Vec::len);
        let is_number = number.is_none_or(|number| (2..=MOST_PATHS).contains(&number));
        let message = "expected 2 to 1,000 paths, which are requested in turn";
        place.refuse_if(!is_number, "request.paths", message)?;
        let mut paths = request.path.into_iter().chain(request.paths.into_iter().flatten());
        let (path, more_paths) = (paths.next().unwrap_or_default(), paths.collect::<Vec<_>>());
        let is_absolute = more_paths.iter().chain([&path]).all(|path| path.starts_with('/'));
        place.refuse_if(!is_absolute, "request.path", "expected a path that starts with /")?;
        let are_lines = request.headers.iter().all(|line| line.contains(": "));
        let message = "expected lines such as \"accept: application/json\"";
        place.refuse_if(!are_lines, "request.headers", message)?;
        let mut texts = request.headers.iter().chain(&request.body);
        let are_named_well = texts.all(|text| names_variables_well(text));
        let message = "expected variables such as {env:TOKEN} or {env:TOKEN:default}";
        place.refuse_if(!are_named_well, "request", message)?;
        Ok(HttpOperation {
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
        })
    }

    /// A gRPC call.
    fn grpc(self, place: &Place) -> Result<GrpcOperation, DeclareError> {
        let Self { request, expect } = self;
        let has_lines = request.method.is_some() || !request.headers.is_empty() || request.body.is_some();
        let message = "call makes this a gRPC request; method, headers and body are HTTP's, and metadata is its own";
        place.refuse_if(has_lines || expect.names_a_body(), "request", message)?;
        if let Some(flaw) = request.metadata.iter().find_map(|line| flaw_of_metadata(line)) {
            return Err(place.wrong("request.metadata", flaw));
        }
        let call = request.call.unwrap_or_default();
        let is_method = call.split('/').filter(|part| !part.is_empty()).count() == 2;
        place.refuse_if(!is_method, "request.call", "expected \"package.Service/Method\"")?;
        let has_one = request.proto.is_some() != request.proto_root.is_some();
        let message = "expected proto (the file) and proto_root (its import folder), or neither: then the server is asked by server reflection";
        place.refuse_if(has_one, "request", message)?;
        let file = request.proto.zip(request.proto_root);
        Ok(GrpcOperation {
            proto: file.map(|(proto, proto_root)| ProtoFile { proto, proto_root }),
            call,
            message: request.message.unwrap_or_else(|| "{}".into()),
            metadata: request.metadata,
            expected_message: expect.message,
        })
    }

    /// A benchmark of a program.
    fn bench(mut self, place: &Place) -> Result<BenchOperation, DeclareError> {
        let id = self.request.bench.take().unwrap_or_default();
        let is_alone = self.request == RequestTable::default() && self.expect == ExpectTable::default();
        let message = "bench names a benchmark, and nothing goes with it: it is not asked over a wire";
        place.refuse_if(id.is_empty() || !is_alone, "request", message)?;
        Ok(BenchOperation { id })
    }
}
