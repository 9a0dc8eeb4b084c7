//! A gRPC method: encodes its request from JSON and decodes its response, by the .proto file that a server declares or by
//! server reflection; no generated code.

use std::path::Path;

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, MethodDescriptor};

use crate::measure::grpc::frame::{self, Frame};
use crate::measure::grpc::{proto_file, reflection};
use crate::measure::wire::Endpoint;
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
                let compiled = compiled.map_err(|error| failed(error.to_string()))?;
                let missing = format!("declares no method {call}");
                (compiled.set, !compiled.is_partial, missing)
            }
            None => {
                let set = reflection::files(endpoint, service).map_err(failed)?;
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
