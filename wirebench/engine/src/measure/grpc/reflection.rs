//! Server reflection (grpc.reflection.v1 and v1alpha): the services of a gRPC server, and the .proto files that declare them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use prost::Message;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};

use crate::measure::grpc::frame;
use crate::measure::probe;
use crate::measure::wire::{Endpoint, grpc_request};

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
pub fn services(endpoint: Endpoint) -> Option<Vec<String>> {
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
pub fn files(endpoint: Endpoint, service: &str) -> Result<FileDescriptorSet, String> {
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
        let answer = probe::send(endpoint.address, &request, TIMEOUT).map_err(|error| error.to_string())?;
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
