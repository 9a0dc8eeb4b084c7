//! Converts gRPC messages from JSON and back, by the .proto file that a server declares; no generated code.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, MethodDescriptor};

use crate::measure::probe::MOST_ANSWER_BYTES;
use crate::measure::reflection::{self, Place};
use wirebench_declare::server::{GrpcOperation, ProtoFile};

/// Bytes before each message on the wire: a compression flag and a length.
pub const FRAME_HEADER_BYTES: usize = 5;

/// Why a gRPC request cannot be made, or its response cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GrpcError {
    /// The .proto file does not compile.
    #[error("{file}: {source}")]
    Proto {
        /// The file as declared.
        file: String,
        /// Where and what.
        source: protox::Error,
    },
    /// Server reflection does not tell the method.
    #[error("{call}: server reflection does not tell its messages: {why}; name its file with proto and proto_root")]
    Reflection {
        /// The method as declared.
        call: String,
        /// What went wrong.
        why: String,
    },
    /// The method is not in the file.
    #[error("{file}: declares no method {call}; write \"package.Service/Method\"")]
    NoMethod {
        /// The file as declared.
        file: String,
        /// The method as declared.
        call: String,
    },
    /// JSON that does not fit the message type.
    #[error("message {json} is not a {kind}: {source}")]
    Json {
        /// The JSON as declared.
        json: String,
        /// The message type.
        kind: String,
        /// Where and what.
        source: serde_json::Error,
    },
    /// Bytes that are not one message, or of a stream at least one.
    #[error("the answer is not one {kind} message, or of a stream several: {what}")]
    Wire {
        /// The message type.
        kind: String,
        /// What is wrong.
        what: String,
    },
}

/// A method with its message types: unary, or with a stream of answers.
#[derive(Debug, Clone)]
pub struct Call {
    method: MethodDescriptor,
    protoset: Option<Vec<u8>>,
}

impl Call {
    /// Finds the operation's method: in its .proto file, or without one by reflection of the server at `place`.
    ///
    /// # Errors
    /// When the file does not compile, the server has no reflection, or there is no such method.
    pub fn load(root: &Path, operation: &GrpcOperation, place: Place) -> Result<Self, GrpcError> {
        let (service, _) = operation.call.split_once('/').unwrap_or((&operation.call, ""));
        let Some(ProtoFile { proto, proto_root }) = &operation.proto else {
            let reflected = |why: String| GrpcError::Reflection {
                call: operation.call.clone(),
                why,
            };
            let set = reflection::files(place, service).map_err(reflected)?;
            let bytes = set.encode_to_vec();
            let pool = DescriptorPool::from_file_descriptor_set(set).map_err(|error| reflected(error.to_string()))?;
            let call = Self::of(&pool, &operation.call)
                .ok_or_else(|| reflected("the service has no such method; write \"package.Service/Method\"".into()))?;
            return Ok(Self {
                protoset: Some(bytes),
                ..call
            });
        };
        let files =
            protox::compile([root.join(proto)], [root.join(proto_root)]).map_err(|source| GrpcError::Proto {
                file: proto.clone(),
                source,
            })?;
        let pool =
            DescriptorPool::from_file_descriptor_set(files).expect("protox only returns sets that it has resolved");
        Self::of(&pool, &operation.call).ok_or_else(|| GrpcError::NoMethod {
            file: proto.clone(),
            call: operation.call.clone(),
        })
    }

    /// A method of known files.
    #[must_use]
    pub fn of(pool: &DescriptorPool, call: &str) -> Option<Self> {
        let (service, name) = call.split_once('/')?;
        let service = pool.get_service_by_name(service)?;
        let method = service.methods().find(|method| method.name() == name)?;
        Some(Self { method, protoset: None })
    }

    /// A `FileDescriptorSet` with the method's file and its imports, if the server was asked for them.
    #[must_use]
    pub fn protoset(&self) -> Option<&[u8]> {
        self.protoset.as_deref()
    }

    /// The type of its request message.
    #[must_use]
    pub fn input(&self) -> MessageDescriptor {
        self.method.input()
    }

    /// One request message, framed.
    ///
    /// # Errors
    /// When the JSON does not fit the method's input type.
    pub fn request_frame(&self, json: &str) -> Result<Vec<u8>, GrpcError> {
        Ok(frame(&parse(self.method.input(), json)?.encode_to_vec()))
    }

    /// Whether a framed answer is the message that `json` describes; the actual message as JSON when it is not. Of a stream,
    /// the first one.
    ///
    /// # Errors
    /// When the JSON does not fit, or the bytes are not an answer.
    pub fn answer_differs(&self, body: &[u8], json: &str) -> Result<Option<String>, GrpcError> {
        let expected = parse(self.method.output(), json)?;
        let found = self.answer(body)?;
        if found.first() == Some(&expected) {
            return Ok(None);
        }
        Ok(Some(
            serde_json::to_string(&found[0]).unwrap_or_else(|error| error.to_string()),
        ))
    }

    /// Reads a framed answer: one message, or of a stream at least one.
    ///
    /// # Errors
    /// When the bytes are not exactly that many messages of the method's output type.
    pub fn answer(&self, body: &[u8]) -> Result<Vec<DynamicMessage>, GrpcError> {
        let kind = self.method.output();
        let wire = |what: String| GrpcError::Wire {
            kind: kind.full_name().to_owned(),
            what,
        };
        let broken = || wire(format!("{} bytes that are not whole frames", body.len()));
        let messages = parts(body).ok_or_else(broken)?;
        if messages.is_empty() || (messages.len() > 1 && !self.method.is_server_streaming()) {
            return Err(wire(format!("{} messages", messages.len())));
        }
        let decode = |part: Part| {
            let message = part.opened().map_err(&wire)?;
            DynamicMessage::decode(kind.clone(), message.as_ref()).map_err(|error| wire(error.to_string()))
        };
        messages.into_iter().map(decode).collect()
    }
}

fn parse(kind: MessageDescriptor, json: &str) -> Result<DynamicMessage, GrpcError> {
    let name = kind.full_name().to_owned();
    let mut from = serde_json::Deserializer::from_str(json);
    DynamicMessage::deserialize(kind, &mut from)
        .and_then(|message| from.end().map(|()| message))
        .map_err(|source| GrpcError::Json {
            json: json.to_owned(),
            kind: name,
            source,
        })
}

/// Puts the length prefix before a message.
#[must_use]
pub fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("requests are declared in a TOML file, far below 4 GiB");
    let mut out = vec![0];
    out.extend(length.to_be_bytes());
    out.extend(message);
    out
}

/// The message inside a single uncompressed frame; `None` if the bytes are not such a frame.
#[must_use]
pub fn unframe(body: &[u8]) -> Option<&[u8]> {
    match frames(body)?.as_slice() {
        [message] => Some(message),
        _ => None,
    }
}

/// The messages inside uncompressed frames, in order; `None` if the bytes are not such frames.
#[must_use]
pub fn frames(body: &[u8]) -> Option<Vec<&[u8]>> {
    parts(body)?.into_iter().map(Part::plain).collect()
}

/// Bytes of the messages inside the frames of a body, as they were sent; `None` if the bytes are not frames.
#[must_use]
pub fn bytes_of_messages(body: &[u8]) -> Option<usize> {
    parts(body).map(|parts| parts.iter().map(|part| part.bytes.len()).sum())
}

/// What one frame holds.
#[derive(Debug)]
struct Part<'a> {
    compressed: bool,
    bytes: &'a [u8],
}

impl<'a> Part<'a> {
    /// The message, if it is not compressed.
    fn plain(self) -> Option<&'a [u8]> {
        (!self.compressed).then_some(self.bytes)
    }

    /// The message, decompressed if need be: with gzip, the one compression that servers of every language have.
    fn opened(self) -> Result<Cow<'a, [u8]>, String> {
        if !self.compressed {
            return Ok(Cow::Borrowed(self.bytes));
        }
        let mut message = Vec::new();
        let most = u64::try_from(MOST_ANSWER_BYTES).unwrap_or(u64::MAX);
        let read = GzDecoder::new(self.bytes).take(most + 1).read_to_end(&mut message);
        match read {
            Ok(length) if length <= MOST_ANSWER_BYTES => Ok(Cow::Owned(message)),
            Ok(_) => Err(format!("a compressed message of more than {MOST_ANSWER_BYTES} bytes")),
            Err(error) => Err(format!("a compressed message that gzip cannot read: {error}")),
        }
    }
}

/// The frames of a body, in order; `None` if the bytes are not whole frames.
fn parts(mut body: &[u8]) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    while !body.is_empty() {
        let (header, rest) = body.split_at_checked(FRAME_HEADER_BYTES)?;
        let length = u32::from_be_bytes(header[1..].try_into().ok()?);
        let (bytes, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        let compressed = match header[0] {
            0 => false,
            1 => true,
            _ => return None,
        };
        parts.push(Part { compressed, bytes });
        body = rest;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{bytes_of_messages, frame, frames, parts, unframe};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_framed_message_comes_back(message in prop::collection::vec(any::<u8>(), 0..300)) {
            let framed = frame(&message);
            prop_assert_eq!(unframe(&framed), Some(message.as_slice()));
        }

        #[test]
        fn other_bytes_are_refused_or_whole(body in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(message) = unframe(&body) {
                prop_assert_eq!(frame(message), body.clone());
            }
        }
    }

    #[test]
    fn a_stream_is_several_messages() {
        let body = [frame(b"one"), frame(b""), frame(b"three")].concat();
        assert_eq!(frames(&body), Some(vec![&b"one"[..], b"", b"three"]));
        assert_eq!((frames(&body[..body.len() - 1]), unframe(&body)), (None, None));
        assert_eq!((frames(&[]), unframe(&[])), (Some(vec![]), None));
    }

    #[test]
    fn a_compressed_message_is_opened_and_its_bytes_are_those_that_were_sent() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&[7; 4000]).unwrap();
        let mut framed = frame(&encoder.finish().unwrap());
        framed[0] = 1;
        let opened = |body: &[u8]| {
            parts(body)
                .unwrap()
                .remove(0)
                .opened()
                .map(std::borrow::Cow::into_owned)
        };
        assert_eq!(opened(&framed), Ok(vec![7; 4000]));
        assert_eq!(bytes_of_messages(&framed), Some(framed.len() - 5));
        assert_eq!(frames(&framed), None);
        framed[8] ^= 0xff;
        assert!(opened(&framed).unwrap_err().contains("gzip cannot read"));
        framed[0] = 2;
        assert!(parts(&framed).is_none());
    }

    #[test]
    fn a_compressed_or_cut_frame_is_refused() {
        assert_eq!(unframe(&[1, 0, 0, 0, 0]), None);
        assert_eq!(unframe(&[0, 0, 0, 0, 2, 7]), None);
    }
}
