//! A gRPC method: encodes its request from JSON and decodes its response, by the .proto file that a server declares or by
//! server reflection; no generated code.
//!
//! Server reflection (grpc.reflection.v1 and v1alpha): the services of a gRPC server, and the .proto files that declare them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use prost::Message;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, MethodDescriptor};

use crate::measure::grpc::frame::{self, Frame};
use crate::measure::grpc::proto_file;
use crate::measure::probe;
use crate::measure::wire::{Endpoint, grpc_request};
use wirebench_declare::server::{GrpcOperation, ProtoFile};

/// A method with its message types: unary, or with a stream of responses.
#[derive(Debug, Clone)]
pub struct Call {
    method: MethodDescriptor,
    protoset: Option<Vec<u8>>,
}

impl Call {
    /// Finds the operation's method: in its .proto file, or without one by reflection of the server at `endpoint`.
    ///
    /// # Errors
    /// When the file does not compile, the server has no reflection, or there is no such method.
    pub fn load(root: &Path, operation: &GrpcOperation, endpoint: Endpoint) -> Result<Self, String> {
        let call = &operation.call;
        let (service, _) = call.split_once('/').unwrap_or((call, ""));
        let failed = |why: String| match &operation.proto {
            Some(file) => format!("{}: {why}", file.proto),
            None => format!(
                "{call}: server reflection does not tell its messages: {why}; name its file with proto and proto_root"
            ),
        };
        let (set, is_in_files, missing) = match &operation.proto {
            Some(ProtoFile { proto, proto_root }) => {
                let compiled = proto_file::compile(&root.join(proto), &root.join(proto_root), root);
                let (set, is_partial) = compiled.map_err(|error| failed(error.to_string()))?;
                (set, !is_partial, format!("declares no method {call}"))
            }
            None => {
                let set = reflected_files(endpoint, service).map_err(failed)?;
                (set, false, "the service has no such method".into())
            }
        };
        let protoset = (!is_in_files).then(|| set.encode_to_vec());
        let pool = DescriptorPool::from_file_descriptor_set(set).map_err(|error| failed(error.to_string()))?;
        let found = Self::of(&pool, call);
        let found = found.ok_or_else(|| failed(format!("{missing}; write \"package.Service/Method\"")))?;
        Ok(Self { protoset, ..found })
    }

    /// The method `package.Service/Method` of a descriptor pool; `None` if it has no such method.
    pub fn of(pool: &DescriptorPool, call: &str) -> Option<Self> {
        let (service, name) = call.split_once('/')?;
        let service = pool.get_service_by_name(service)?;
        let method = service.methods().find(|method| method.name() == name)?;
        Some(Self { method, protoset: None })
    }

    /// A `FileDescriptorSet` with the method's file and its imports, if the repository does not have all of these files.
    pub fn protoset(&self) -> Option<&[u8]> {
        self.protoset.as_deref()
    }

    /// The type of its request message.
    pub fn input(&self) -> MessageDescriptor {
        self.method.input()
    }

    /// A request message in a frame.
    ///
    /// # Errors
    /// When the JSON does not fit the method's input type.
    pub fn request_frame(&self, json: &str) -> Result<Vec<u8>, String> {
        Ok(frame::frame(&parse(self.method.input(), json)?.encode_to_vec()))
    }

    /// Compares the first message of a response body with `json`. Returns the actual message as JSON if it differs.
    ///
    /// # Errors
    /// When the JSON does not fit, or the bytes are not a response.
    pub fn response_differs(&self, body: &[u8], json: &str) -> Result<Option<String>, String> {
        let expected = parse(self.method.output(), json)?;
        let found = self.response(body)?;
        if found.first() == Some(&expected) {
            return Ok(None);
        }
        Ok(Some(
            serde_json::to_string(&found[0]).unwrap_or_else(|error| error.to_string()),
        ))
    }

    /// Decodes a response body: one message, or at least one if the method streams its responses.
    ///
    /// # Errors
    /// When the bytes are not exactly that many messages of the method's output type.
    pub fn response(&self, body: &[u8]) -> Result<Vec<DynamicMessage>, String> {
        let kind = self.method.output();
        let wire = |what: String| {
            format!(
                "the answer is not one {} message, or of a stream several: {what}",
                kind.full_name()
            )
        };
        let broken = || wire(format!("{} bytes that are not whole frames", body.len()));
        let frames = frame::split(body).ok_or_else(broken)?;
        if frames.is_empty() || (frames.len() > 1 && !self.method.is_server_streaming()) {
            return Err(wire(format!("{} messages", frames.len())));
        }
        let decode = |frame: Frame| {
            let message = frame.message().map_err(&wire)?;
            DynamicMessage::decode(kind.clone(), message.as_ref()).map_err(|error| wire(error.to_string()))
        };
        frames.into_iter().map(decode).collect()
    }
}

fn parse(kind: MessageDescriptor, json: &str) -> Result<DynamicMessage, String> {
    let name = kind.full_name().to_owned();
    let mut from = serde_json::Deserializer::from_str(json);
    DynamicMessage::deserialize(kind, &mut from)
        .and_then(|message| from.end().map(|()| message))
        .map_err(|error| format!("message {json} is not a {name}: {error}"))
}

/// `ServerReflectionRequest` of grpc/reflection/v1/reflection.proto, with the fields used here; exactly one has a value.
#[derive(Clone, PartialEq, Message)]
struct Request {
    /// Requests a file by its name.
    #[prost(string, optional, tag = "3")]
    file_by_filename: Option<String>,
    /// Requests the file that declares a symbol, and perhaps those it imports.
    #[prost(string, optional, tag = "4")]
    file_containing_symbol: Option<String>,
    /// Requests the list of services; the value has no meaning.
    #[prost(string, optional, tag = "7")]
    list_services: Option<String>,
}

/// `ServerReflectionResponse`, with the fields read here.
#[derive(Clone, PartialEq, Message)]
struct Response {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<ErrorResponse>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    /// Each a `FileDescriptorProto`.
    #[prost(bytes = "vec", repeated, tag = "1")]
    file: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    service: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct ErrorResponse {
    #[prost(string, tag = "2")]
    message: String,
}

const VERSIONS: [&str; 2] = ["v1", "v1alpha"];
/// The package of services that come with gRPC, such as health checks.
const GRPC_PACKAGE: &str = "grpc.";
const TIMEOUT: Duration = Duration::from_secs(5);
/// The most files of one service.
const MAX_FILES: usize = 1000;

/// The full names of the services that a server has besides gRPC's own; `None` if it has no reflection.
pub fn reflected_services(endpoint: Endpoint) -> Option<Vec<String>> {
    let request = Request {
        list_services: Some("*".into()),
        ..Request::default()
    };
    let listed = exchange(endpoint, &request).ok()?.services?;
    let names = listed.service.into_iter().map(|service| service.name);
    Some(names.filter(|name| !name.starts_with(GRPC_PACKAGE)).collect())
}

/// The file that declares a service and all files that it imports, directly or not. Each file comes after its imports.
///
/// # Errors
/// When the server has no reflection, does not know the service, or leaves out a file; the error is a sentence.
pub fn reflected_files(endpoint: Endpoint, service: &str) -> Result<FileDescriptorSet, String> {
    let symbol = Request {
        file_containing_symbol: Some(service.to_owned()),
        ..Request::default()
    };
    let mut known: BTreeMap<String, FileDescriptorProto> = BTreeMap::new();
    let first = decode_files(exchange(endpoint, &symbol)?)?;
    let root = (first.first().map(|file| file.name().to_owned()))
        .ok_or_else(|| format!("server reflection has no file that declares {service}"))?;
    known.extend(first.into_iter().map(|file| (file.name().to_owned(), file)));
    while let Some(missing) = missing(&known) {
        let request = Request {
            file_by_filename: Some(missing.clone()),
            ..Request::default()
        };
        let more = decode_files(exchange(endpoint, &request)?)?;
        known.extend(more.into_iter().map(|file| (file.name().to_owned(), file)));
        if !known.contains_key(&missing) || known.len() > MAX_FILES {
            return Err(format!(
                "server reflection has no file {missing}, which another one imports"
            ));
        }
    }
    let mut file = Vec::new();
    add_in_order(&root, &known, &mut BTreeSet::new(), &mut file);
    Ok(FileDescriptorSet { file })
}

/// An imported file that is not known yet.
fn missing(known: &BTreeMap<String, FileDescriptorProto>) -> Option<String> {
    let mut imported = known.values().flat_map(|file| &file.dependency);
    imported.find(|name| !known.contains_key(*name)).cloned()
}

/// Adds a file after the files that it imports.
fn add_in_order(
    name: &str,
    known: &BTreeMap<String, FileDescriptorProto>,
    seen: &mut BTreeSet<String>,
    all: &mut Vec<FileDescriptorProto>,
) {
    let Some(file) = known.get(name).filter(|_| seen.insert(name.to_owned())) else {
        return;
    };
    for import in &file.dependency {
        add_in_order(import, known, seen, all);
    }
    all.push(file.clone());
}

fn decode_files(response: Response) -> Result<Vec<FileDescriptorProto>, String> {
    let files = response.files.map(|files| files.file).unwrap_or_default();
    let decode = |bytes: &Vec<u8>| FileDescriptorProto::decode(bytes.as_slice()).map_err(|error| error.to_string());
    files.iter().map(decode).collect()
}

/// Sends one request in the newest version that the server has.
fn exchange(endpoint: Endpoint, request: &Request) -> Result<Response, String> {
    let frame = frame::frame(&request.encode_to_vec());
    let mut last = String::new();
    for version in VERSIONS {
        let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
        let request = grpc_request(endpoint.protocol, &path, frame.clone(), endpoint.ca);
        let answer = probe::send(endpoint.address, &request, TIMEOUT)?;
        let response = frame::frames(&answer.body)
            .and_then(|frames| Response::decode(*frames.first()?).ok())
            .filter(|response| response != &Response::default());
        match response {
            Some(Response {
                error: Some(failed), ..
            }) => last = failed.message,
            Some(response) => return Ok(response),
            None => last = "the server has no server reflection".into(),
        }
    }
    Err(last)
}
