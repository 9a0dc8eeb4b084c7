//! The services of a gRPC server, by server reflection (grpc.reflection.v1 and v1alpha).

use std::path::Path;

use prost::Message;

use crate::probe::speak::PATIENCE;
use wirebench_declare::protocol::Protocol;
use wirebench_engine::measure::grpc;
use wirebench_engine::measure::probe::{ask, grpc_request};

/// `ServerReflectionRequest` of grpc/reflection/v1/reflection.proto, with the fields used here.
#[derive(Clone, PartialEq, Message)]
struct Request {
    /// Requests the list of services; the value has no meaning.
    #[prost(string, tag = "7")]
    list_services: String,
}

/// `ServerReflectionResponse`, with the fields read here.
#[derive(Clone, PartialEq, Message)]
struct Response {
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
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

const VERSIONS: [&str; 2] = ["v1", "v1alpha"];
/// Services that come with gRPC, not with a program.
const GRPCS_OWN: &str = "grpc.";

/// The full names of a server's own services; `None` when it has no reflection.
pub(super) fn services(address: &str) -> Option<Vec<String>> {
    let request = Request {
        list_services: "*".into(),
    };
    let frame = grpc::frame(&request.encode_to_vec());
    let listed = VERSIONS.iter().find_map(|version| {
        let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
        let answer = ask(
            address,
            &grpc_request(Protocol::Grpc, &path, frame.clone(), Path::new("")),
            PATIENCE,
        )
        .ok()?;
        let frames = grpc::frames(&answer.body)?;
        Response::decode(*frames.first()?).ok()?.services
    })?;
    let names = listed.service.into_iter().map(|service| service.name);
    Some(names.filter(|name| !name.starts_with(GRPCS_OWN)).collect())
}
