//! What a gRPC server says of itself by server reflection (grpc.reflection.v1 and v1alpha): its services, and the files that
//! declare them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use prost::Message;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};

use crate::measure::grpc;
use crate::measure::probe::{ask, grpc_request};
use wirebench_declare::protocol::Protocol;

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
    error: Option<Failed>,
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
struct Failed {
    #[prost(string, tag = "2")]
    message: String,
}

const VERSIONS: [&str; 2] = ["v1", "v1alpha"];
/// Services that come with gRPC, not with a program.
const GRPCS_OWN: &str = "grpc.";
const PATIENCE: Duration = Duration::from_secs(5);
/// Files of one service, at most.
const MOST_FILES: usize = 1000;

/// Where a server is asked.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// `127.0.0.1:8080`.
    pub address: &'a str,
    /// gRPC, with TLS or without, or gRPC-web.
    pub protocol: Protocol,
    /// Over TLS: the file with the certificate that it must show.
    pub ca: &'a Path,
}

/// The full names of a server's own services; `None` when it has no reflection.
#[must_use]
pub fn services(place: Place) -> Option<Vec<String>> {
    let request = Request {
        list_services: Some("*".into()),
        ..Request::default()
    };
    let listed = send(place, &request).ok()?.services?;
    let names = listed.service.into_iter().map(|service| service.name);
    Some(names.filter(|name| !name.starts_with(GRPCS_OWN)).collect())
}

/// The file that declares a service, and all that it imports, every file after those it imports.
///
/// # Errors
/// When the server has no reflection, does not know the service, or leaves out a file; in words.
pub fn files(place: Place, service: &str) -> Result<FileDescriptorSet, String> {
    let symbol = Request {
        file_containing_symbol: Some(service.to_owned()),
        ..Request::default()
    };
    let mut known: BTreeMap<String, FileDescriptorProto> = BTreeMap::new();
    let first = received(send(place, &symbol)?)?;
    let root = (first.first().map(|file| file.name().to_owned()))
        .ok_or_else(|| format!("server reflection has no file that declares {service}"))?;
    known.extend(first.into_iter().map(|file| (file.name().to_owned(), file)));
    while let Some(missing) = missing(&known) {
        let request = Request {
            file_by_filename: Some(missing.clone()),
            ..Request::default()
        };
        let more = received(send(place, &request)?)?;
        known.extend(more.into_iter().map(|file| (file.name().to_owned(), file)));
        if !known.contains_key(&missing) || known.len() > MOST_FILES {
            return Err(format!(
                "server reflection has no file {missing}, which another one imports"
            ));
        }
    }
    let mut file = Vec::new();
    in_order(&root, &known, &mut BTreeSet::new(), &mut file);
    Ok(FileDescriptorSet { file })
}

/// A file that is imported and not known yet.
fn missing(known: &BTreeMap<String, FileDescriptorProto>) -> Option<String> {
    let mut imported = known.values().flat_map(|file| &file.dependency);
    imported.find(|name| !known.contains_key(*name)).cloned()
}

/// Adds a file after those it imports.
fn in_order(
    name: &str,
    known: &BTreeMap<String, FileDescriptorProto>,
    seen: &mut BTreeSet<String>,
    all: &mut Vec<FileDescriptorProto>,
) {
    let Some(file) = known.get(name).filter(|_| seen.insert(name.to_owned())) else {
        return;
    };
    for import in &file.dependency {
        in_order(import, known, seen, all);
    }
    all.push(file.clone());
}

fn received(response: Response) -> Result<Vec<FileDescriptorProto>, String> {
    let files = response.files.map(|files| files.file).unwrap_or_default();
    let decode = |bytes: &Vec<u8>| FileDescriptorProto::decode(bytes.as_slice()).map_err(|error| error.to_string());
    files.iter().map(decode).collect()
}

/// Sends one request in the newest version that the server has.
fn send(place: Place, request: &Request) -> Result<Response, String> {
    let frame = grpc::frame(&request.encode_to_vec());
    let mut last = String::new();
    for version in VERSIONS {
        let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
        let request = grpc_request(place.protocol, &path, frame.clone(), place.ca);
        let answer = ask(place.address, &request, PATIENCE).map_err(|error| error.to_string())?;
        let response = grpc::frames(&answer.body)
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
