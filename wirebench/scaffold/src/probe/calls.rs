//! Calls the unary methods of the repository's .proto files with a made-up message, and declares those with a good
//! response.

use std::path::Path;

use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor, ReflectMessage,
};
use serde_json::Value;

use super::{ProbeContext, ProbedServer, tells_of_this_machine};
use crate::known::KNOWN;
use crate::probe::candidates::{each_or_all, some_of};
use crate::probe::http::about_empty;
use crate::probe::speak::PATIENCE;
use crate::program::{WORD, slug};
use crate::proto;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{GrpcOperation, Operation, Ready};
use wirebench_engine::measure::grpc::call::{Call, reflected_files, reflected_services};
use wirebench_engine::measure::probe::send;
use wirebench_engine::measure::ready::is_ready;
use wirebench_engine::measure::wire::Endpoint;
use wirebench_engine::measure::wire::grpc_request;

/// Methods that are measured; more only cost time.
const MOST: usize = 3;
/// Nested messages below this depth are left empty.
const DEEPEST: usize = 4;
/// grpc-status of a method that the server does not have.
const UNIMPLEMENTED: &str = "12";

/// Calls each method, and declares readiness.
pub(super) fn probe(context: &ProbeContext, address: &str, calls: &[proto::Call], probed: &mut ProbedServer) {
    let health = Ready::GrpcHealth(String::new());
    let words = if is_ready(&health, address, Protocol::Grpc, Path::new("")).is_ok() {
        probed.server.front.ready = health;
        "grpc.health.v1.Health/Check answered SERVING"
    } else {
        "it has no gRPC health service; it takes connections"
    };
    probed.evidence.insert("ready", words.into());
    let endpoint = Endpoint {
        address,
        protocol: Protocol::Grpc,
        ca: Path::new(""),
    };
    let reflected = reflected_services(endpoint);
    let (mut unread, mut refused) = (Vec::new(), Vec::new());
    let mut probe_all = |calls: &[proto::Call], probed: &mut ProbedServer| {
        for call in calls {
            let listed = is_listed(call, reflected.as_deref());
            if listed == Some(false) {
                continue;
            }
            match load(context, endpoint, call, listed) {
                Ok((operation, loaded)) => {
                    let said = probe_call(endpoint, call, operation, &loaded, listed, probed);
                    refused.extend(said.map(|said| (call.call.clone(), said)));
                }
                Err(why) => unread.push(why),
            }
        }
    };
    let known = |service: &&String| calls.iter().any(|call| call.service() == *service);
    let mut all = calls.to_vec();
    for service in reflected.iter().flatten().filter(|service| !known(service)) {
        match reflected_calls(endpoint, service) {
            Ok(calls) => all.extend(calls),
            Err(why) => probed.questions.push(format!(
                "it serves {service} (server reflection says so), but no .proto file here declares a unary method of it, and {why}: where \
                 is that file? Give its path as proto"
            )),
        }
    }
    let (reading, mut changing): (Vec<_>, Vec<_>) = all.into_iter().partition(|call| !is_changing(call.method()));
    probe_all(&reading, probed);
    if probed.operations.is_empty() {
        // Some services do nothing else. What was destroyed would be lost.
        let is_destroying = |call: &proto::Call| has_word_of(&KNOWN.destroying, call.method());
        let (destroying, rest): (Vec<_>, Vec<_>) = changing.into_iter().partition(is_destroying);
        probe_all(&rest, probed);
        changing = destroying;
    }
    probed.questions.extend(about_unread(unread));
    probed.questions.extend(about_refused(&refused));
    let serves = |call: &&proto::Call| is_listed(call, reflected.as_deref()) == Some(true);
    probed.questions.extend(about_changing(changing.iter().filter(serves)));
}

/// The question about methods that were not called.
fn about_changing<'c>(calls: impl Iterator<Item = &'c proto::Call>) -> Option<String> {
    let names: Vec<String> = calls.map(|call| call.call.clone()).collect();
    let list = some_of(names.into_iter());
    let question = "not called, as it may change data (to measure one, declare it with its message)";
    (!list.is_empty()).then(|| format!("{question}: {list}"))
}

/// Whether the server's reflection names the service of a method; `None` without reflection.
fn is_listed(call: &proto::Call, reflected: Option<&[String]>) -> Option<bool> {
    reflected.map(|all| all.iter().any(|one| one == call.service()))
}

/// Whether a method changes data, by its name.
fn is_changing(method: &str) -> bool {
    let first = WORD.find(method).map_or("", |word| word.as_str());
    !has_word_of(&KNOWN.reading, first)
        && (has_word_of(&KNOWN.changing, method) || has_word_of(&KNOWN.destroying, method))
}

/// Whether one of the words is in a name such as `MemberRemove` or `remove_member`.
pub(super) fn has_word_of(words: &[String], name: &str) -> bool {
    let mut named = WORD.find_iter(name).map(|word| word.as_str());
    named.any(|named| words.iter().any(|word| word.eq_ignore_ascii_case(named)))
}

/// One question for all files that cannot be read.
fn about_unread(mut why: Vec<String>) -> Option<String> {
    why.sort();
    why.dedup();
    let first = why.first()?;
    let more = match why.len() - 1 {
        0 => String::new(),
        1 => "; another .proto file cannot be read either".to_owned(),
        many => format!("; {many} other .proto files cannot be read either"),
    };
    Some(format!("{first}: where do its imports start?{more}"))
}

/// The questions about methods without a good answer.
fn about_refused(refused: &[(String, String)]) -> Vec<String> {
    let named = refused.iter().map(|(call, said)| format!("{call} ({said})"));
    let question = |(call, said): &(String, String)| {
        format!("{call}: it answered {said} to a made-up message: which message does it take?")
    };
    each_or_all(named, refused.iter().map(question), |many, list| {
        format!("{many} methods gave no good answer to a made-up message: which messages do they take? {list}")
    })
}

/// The unary methods of a service, by the server's reflection.
fn reflected_calls(endpoint: Endpoint, service: &str) -> Result<Vec<proto::Call>, String> {
    let set = reflected_files(endpoint, service)?;
    let pool = DescriptorPool::from_file_descriptor_set(set).map_err(|error| error.to_string())?;
    let found = pool.get_service_by_name(service);
    let found = found.ok_or_else(|| "its reflection has no such service".to_owned())?;
    let is_unary = |method: &MethodDescriptor| !method.is_client_streaming() && !method.is_server_streaming();
    let calls = found.methods().filter(is_unary).map(|method| proto::Call {
        file: None,
        call: format!("{service}/{}", method.name()),
    });
    Ok(calls.collect())
}

/// The call of a method and its messages, by its file, or by the server's reflection if that lists it and the file cannot be read.
fn load(
    context: &ProbeContext,
    endpoint: Endpoint,
    call: &proto::Call,
    listed: Option<bool>,
) -> Result<(GrpcOperation, Call), String> {
    let mut operation = call.operation();
    let mut loaded = Call::load(context.root, &operation, endpoint);
    if loaded.is_err() && listed == Some(true) && operation.proto.take().is_some() {
        loaded = Call::load(context.root, &operation, endpoint).or(loaded);
    }
    Ok((operation, loaded?))
}

/// Calls one method, and declares it if the response is good; otherwise returns the first response, if it has the method.
fn probe_call(
    endpoint: Endpoint,
    call: &proto::Call,
    mut operation: GrpcOperation,
    loaded: &Call,
    listed: Option<bool>,
    probed: &mut ProbedServer,
) -> Option<String> {
    let sampled = sample(&loaded.input(), 0);
    let made_up = DynamicMessage::deserialize(loaded.input(), &sampled);
    let made_up = made_up.unwrap_or_else(|_| DynamicMessage::new(loaded.input()));
    let mut first = None;
    for message in [
        serde_json::to_string(&made_up).unwrap_or_default(),
        "{}".to_owned(),
        without_texts(&sampled).to_string(),
    ] {
        let Ok(frame) = loaded.request_frame(&message) else {
            continue;
        };
        let request = grpc_request(Protocol::Grpc, &format!("/{}", call.call), frame, Path::new(""));
        let answer = match send(endpoint.address, &request, PATIENCE) {
            Ok(answer) => answer,
            Err(error) => {
                first.get_or_insert(error);
                continue;
            }
        };
        match answer.grpc {
            Some((status, _)) if status == "0" => {
                operation.message = message;
                let messages = loaded.response(&answer.body).unwrap_or_default();
                let expected = messages.first().and_then(|message| serde_json::to_string(message).ok());
                operation.expected_message = expected.filter(|message| !tells_of_this_machine(message));
                let lacks_items = messages.first().is_some_and(lacks_items) && probed.operations.len() < MOST;
                probed.questions.extend(lacks_items.then(|| about_empty(&call.call)));
                declare(call, operation, listed, probed);
                return None;
            }
            Some((status, _)) if status == UNIMPLEMENTED && listed.is_none() => return None,
            Some((status, message)) => first.get_or_insert_with(|| format!("grpc-status {status} {message:?}")),
            None => first.get_or_insert_with(|| format!("HTTP status {} without grpc-status", answer.status)),
        };
    }
    Some(first.unwrap_or_default())
}

/// A message without its texts, some of which name what the server does not have.
fn without_texts(message: &Value) -> Value {
    let Value::Object(fields) = message else {
        return message.clone();
    };
    let fields = fields.iter().filter(|(_, value)| !value.is_string());
    Value::Object(
        fields
            .map(|(name, value)| (name.clone(), without_texts(value)))
            .collect(),
    )
}

/// Whether a message has a list, and nothing in it.
fn lacks_items(message: &DynamicMessage) -> bool {
    let kind = message.descriptor();
    message.fields().next().is_none() && kind.fields().any(|field| field.is_list())
}

fn declare(call: &proto::Call, operation: GrpcOperation, listed: Option<bool>, probed: &mut ProbedServer) {
    if probed.operations.len() >= MOST {
        probed.more.push(call.call.clone());
        return;
    }
    let by = match (&operation.proto, listed) {
        (Some(file), Some(_)) => format!("{}, and server reflection", file.proto),
        (Some(file), None) => file.proto.clone(),
        (None, _) => "server reflection".to_owned(),
    };
    let request = format!("{by}; a made-up message");
    let name = slug(call.method());
    probed.declare(&name, Operation::Grpc(operation), request, String::new());
}

/// A message as JSON with a value in every field: texts "world", numbers 1; of a oneof only the first.
fn sample(kind: &MessageDescriptor, depth: usize) -> Value {
    let is_later = |field: &FieldDescriptor| {
        let first = field.containing_oneof().and_then(|group| group.fields().next());
        first.is_some_and(|first| first.number() != field.number())
    };
    let left_out = |field: &FieldDescriptor| field.is_list() || field.is_map() || is_later(field);
    let fields = kind.fields().filter(|field| depth < DEEPEST && !left_out(field));
    let named = |field: FieldDescriptor| Some((field.json_name().to_owned(), value(&field, depth)?));
    Value::Object(fields.filter_map(named).collect())
}

fn value(field: &FieldDescriptor, depth: usize) -> Option<Value> {
    Some(match field.kind() {
        Kind::Bool => true.into(),
        Kind::String => "world".into(),
        // The same in base64.
        Kind::Bytes => "d29ybGQ=".into(),
        Kind::Enum(kind) => (kind.values().map(|value| value.number()))
            .find(|number| *number != 0)?
            .into(),
        Kind::Message(kind) if kind.full_name().starts_with("google.protobuf.") => return None,
        Kind::Message(kind) => sample(&kind, depth + 1),
        _ => 1.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_change_data_are_told_by_their_words() {
        for name in [
            "CreateStore",
            "Write",
            "Register",
            "upload_file",
            "BatchUpdate",
            "setKey",
            "MemberAdd",
            "Charge",
        ] {
            assert!(is_changing(name) && !has_word_of(&KNOWN.destroying, name), "{name}");
        }
        for name in [
            "DeleteStore",
            "EmptyCart",
            "BatchRemoveItems",
            "MemberRemove",
            "AuthDisable",
            "Shutdown",
        ] {
            assert!(is_changing(name) && has_word_of(&KNOWN.destroying, name), "{name}");
        }
        for name in [
            "Get",
            "ListAddresses",
            "Settings",
            "SayHello",
            "BatchGet",
            "Stored",
            "CheckWrite",
            "GetDeleted",
            "Range",
        ] {
            assert!(!is_changing(name), "{name}");
        }
    }

    #[test]
    fn an_empty_list_has_no_items_and_a_message_without_one_none_to_lack() {
        let read = |name: &str, json: &str| {
            let kind = DescriptorPool::global().get_message_by_name(name).unwrap();
            let mut text = serde_json::Deserializer::from_str(json);
            DynamicMessage::deserialize(kind, &mut text).unwrap()
        };
        assert!(lacks_items(&read("google.protobuf.ListValue", "[]")));
        assert!(!lacks_items(&read("google.protobuf.ListValue", "[1]")));
        assert!(!lacks_items(&read("google.protobuf.Empty", "{}")));
    }

    #[test]
    fn a_message_is_tried_without_its_texts() {
        let message = serde_json::json!({"size": 1, "token": "world", "context": {"tenant": "world", "depth": 1}});
        let without = serde_json::json!({"size": 1, "context": {"depth": 1}});
        assert_eq!(without_texts(&message), without);
    }

    #[test]
    fn files_that_cannot_be_read_are_one_question_whatever_they_declare() {
        let why = |file: &str| format!("{file}: import 'google/api/annotations.proto' not found");
        assert_eq!(about_unread(Vec::new()), None);
        let one = about_unread(vec![why("a.proto"), why("a.proto")]).unwrap();
        assert!(one.starts_with(&why("a.proto")) && !one.contains("other"), "{one}");
        let more = about_unread(vec![why("c.proto"), why("a.proto"), why("b.proto"), why("a.proto")]).unwrap();
        assert!(more.starts_with(&why("a.proto")) && more.contains("2 other"), "{more}");
    }

    #[test]
    fn many_methods_without_a_good_answer_are_one_question() {
        let refused = |many: usize| -> Vec<(String, String)> {
            (0..many)
                .map(|at| (format!("Bank/M{at}"), "grpc-status 16".to_owned()))
                .collect()
        };
        for (many, expected) in [(0, 0), (1, 1), (2, 2), (3, 1), (40, 1)] {
            assert_eq!(about_refused(&refused(many)).len(), expected, "{many}");
        }
        assert!(about_refused(&refused(40))[0].contains("40 methods"));
    }
}
