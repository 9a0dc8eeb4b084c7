//! Calls the unary methods of the repository's .proto files with a made-up message, and declares those with a good
//! response.

use std::path::Path;

use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, Value};

use crate::probe::speak::PATIENCE;
use crate::probe::{Because, Scene, Seen, reflection};
use crate::program::slug;
use crate::proto;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{GrpcOperation, Operation, Ready};
use wirebench_engine::measure::grpc::Call;
use wirebench_engine::measure::probe::{ask as ask_once, grpc_request};
use wirebench_engine::measure::ready::is_ready;

/// Methods that are measured; more only cost time.
const MOST: usize = 3;
/// Nested messages below this depth are left empty.
const DEEPEST: usize = 4;
/// grpc-status of a method that the server does not have.
const UNIMPLEMENTED: &str = "12";

/// Calls each method, and declares readiness.
pub(super) fn ask(scene: &Scene, address: &str, calls: &[proto::Call], seen: &mut Seen) {
    let health = Ready::GrpcHealth(String::new());
    if is_ready(&health, address, Protocol::Grpc, Path::new("")).is_ok() {
        seen.server.ready = health;
        let words = "grpc.health.v1.Health/Check answered SERVING";
        seen.because.insert("ready", words.into());
    } else {
        let words = "it has no gRPC health service; it takes connections";
        seen.because.insert("ready", words.into());
    }
    let reflected = reflection::services(address);
    for call in calls {
        if let Err(question) = ask_for(scene, address, call, reflected.as_deref(), seen) {
            seen.questions.push(question);
        }
    }
    let known = |service: &&String| calls.iter().any(|call| call.call.starts_with(&format!("{service}/")));
    for service in reflected.iter().flatten().filter(|service| !known(service)) {
        seen.questions.push(format!(
            "it serves {service} (server reflection says so), but no .proto file here declares a unary method of it: where is that file? \
             Give its path as proto"
        ));
    }
}

/// Calls one method; a response that is not good becomes a question.
fn ask_for(
    scene: &Scene,
    address: &str,
    call: &proto::Call,
    reflected: Option<&[String]>,
    seen: &mut Seen,
) -> Result<(), String> {
    let service = call.call.split('/').next().unwrap_or_default();
    let listed = reflected.map(|all| all.iter().any(|one| one == service));
    if listed == Some(false) {
        return Ok(());
    }
    let mut operation = GrpcOperation {
        proto: call.proto.clone(),
        proto_root: call.root.clone(),
        call: call.call.clone(),
        message: "{}".into(),
        expected_message: None,
    };
    let loaded = Call::load(scene.root, &operation).map_err(|error| format!("{error}: where do its imports start?"))?;
    let made_up = sample(&loaded.input(), 0);
    let mut last = String::new();
    for message in [serde_json::to_string(&made_up).unwrap_or_default(), "{}".to_owned()] {
        let Ok(frame) = loaded.request_frame(&message) else {
            continue;
        };
        let request = grpc_request(Protocol::Grpc, &format!("/{}", call.call), frame, Path::new(""));
        let answer = match ask_once(address, &request, PATIENCE) {
            Ok(answer) => answer,
            Err(error) => {
                last = error.to_string();
                continue;
            }
        };
        match answer.grpc {
            Some((status, _)) if status == "0" => {
                operation.message = message;
                let first = loaded.answer(&answer.body).ok().and_then(|all| all.into_iter().next());
                operation.expected_message = first.and_then(|message| serde_json::to_string(&message).ok());
                declare(call, operation, listed, seen);
                return Ok(());
            }
            Some((status, _)) if status == UNIMPLEMENTED && listed.is_none() => return Ok(()),
            Some((status, message)) => last = format!("grpc-status {status} {message:?}"),
            None => last = format!("HTTP status {} without grpc-status", answer.status),
        }
    }
    Err(format!(
        "{}: it answered {last} to a made-up message: which message does it take?",
        call.call
    ))
}

fn declare(call: &proto::Call, operation: GrpcOperation, listed: Option<bool>, seen: &mut Seen) {
    if seen.operations.len() >= MOST {
        seen.more.push(call.call.clone());
        return;
    }
    let mut taken = seen.operations.keys().cloned().collect();
    let name = crate::program::free(&slug(&call.method), &mut taken);
    let by = if listed.is_some() {
        ", and server reflection"
    } else {
        ""
    };
    let because = Because {
        request: format!("{}{by}; a made-up message", call.proto),
        expect: String::new(),
    };
    seen.operations.insert(name.clone(), because);
    seen.server.operations.insert(name, Operation::Grpc(operation));
}

/// A message with a value in every field: texts "world", numbers 1; of a oneof only the first.
fn sample(kind: &MessageDescriptor, depth: usize) -> DynamicMessage {
    let mut message = DynamicMessage::new(kind.clone());
    if depth >= DEEPEST || kind.full_name().starts_with("google.protobuf.") {
        return message;
    }
    let later = |field: &FieldDescriptor| {
        let first = field.containing_oneof().and_then(|group| group.fields().next());
        first.is_some_and(|first| first.number() != field.number())
    };
    for field in kind
        .fields()
        .filter(|field| !field.is_list() && !field.is_map() && !later(field))
    {
        if let Some(value) = value(&field, depth) {
            message.set_field(&field, value);
        }
    }
    message
}

fn value(field: &FieldDescriptor, depth: usize) -> Option<Value> {
    Some(match field.kind() {
        Kind::Double => Value::F64(1.0),
        Kind::Float => Value::F32(1.0),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(1),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(1),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(1),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(1),
        Kind::Bool => Value::Bool(true),
        Kind::String => Value::String("world".into()),
        Kind::Bytes => Value::Bytes(bytes::Bytes::from_static(b"world")),
        Kind::Enum(kind) => Value::EnumNumber(kind.values().map(|value| value.number()).find(|number| *number != 0)?),
        Kind::Message(kind) if kind.full_name().starts_with("google.protobuf.") => return None,
        Kind::Message(kind) => Value::Message(sample(&kind, depth + 1)),
    })
}
