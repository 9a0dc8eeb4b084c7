//! Holds `openapi.json` against the router: both know the same paths, and whatever is asked, the answer is one that the file
//! describes.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Method, Request, header};
use http_body_util::BodyExt;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample;
use serde_json::{Value, json};
use tower::ServiceExt;

/// Lines of a stream that are looked at one by one; the others are counted.
const LINES_READ: usize = 20;

fn described() -> Value {
    serde_json::from_str(include_str!("../openapi.json")).unwrap()
}

/// What came back: status, content type, body.
type Got = (u16, String, Vec<u8>);

/// Asks the router in process, on a clock that stands still.
fn ask(method: &Method, uri: &str) -> Got {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let request = Request::builder().method(method).uri(uri).body(Body::empty()).unwrap();
        let response = crate::router().oneshot(request).await.unwrap();
        let kind = response.headers()[header::CONTENT_TYPE].to_str().unwrap().to_owned();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, kind, body.to_vec())
    })
}

/// The schema with this place in the file, with all it refers to.
fn schema(file: &Value, schema: &Value) -> jsonschema::Validator {
    let mut whole = schema.clone();
    whole["components"] = file["components"].clone();
    jsonschema::validator_for(&whole).unwrap()
}

/// Panics unless the answer is one that the file describes for this operation.
fn fits(file: &Value, operation: &Value, uri: &str, (status, kind, body): &Got) {
    let response = &operation["responses"][status.to_string()];
    assert!(response.is_object(), "GET {uri}: status {status} is not described");
    let media = &response["content"][kind];
    assert!(media.is_object(), "GET {uri}: {status} with {kind} is not described");
    let schema = schema(file, &media["schema"]);
    let text = str::from_utf8(body).unwrap();
    let values: Vec<Value> = match kind.as_str() {
        "application/json" => vec![serde_json::from_str(text).unwrap()],
        "application/x-ndjson" => {
            let lines = text.lines().take(LINES_READ);
            lines.map(|line| serde_json::from_str(line).unwrap()).collect()
        }
        _ => vec![json!(text)],
    };
    for value in values {
        if let Err(error) = schema.validate(&value) {
            panic!("GET {uri}: {status}: {error}");
        }
    }
}

/// Names, and texts in the place of a value, as they stand in a query.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

/// A value for a parameter: around the bounds of its schema, anywhere, or no number at all.
fn value(schema: &Value) -> impl Strategy<Value = String> + use<> {
    let bounds: Vec<i64> = ["minimum", "maximum", "default"]
        .iter()
        .filter_map(|bound| schema[bound].as_i64())
        .chain([0, i64::from(i32::MAX), i64::MIN + 1, i64::MAX - 1])
        .collect();
    prop_oneof![
        4 => (sample::select(bounds), -1..=1_i64).prop_map(|(bound, away)| (bound + away).to_string()),
        2 => (1..=100_i64).prop_map(|number| number.to_string()),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<String>().prop_map(|text| encoded(&text)),
        1 => sample::select(vec!["", "Kyiv", "%ff%fe", "1e3", "1.0", "0x10", "%00", "+1", "99999999999999999999", " "])
            .prop_map(|text| text.replace(' ', "%20")),
    ]
}

/// A question about one of the operations: its path in the file, and what to ask.
fn question(file: &Value) -> impl Strategy<Value = (String, String)> + use<> {
    let operations: Vec<_> = file["paths"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(path, item)| {
            let parameters = item["get"]["parameters"].as_array().cloned().unwrap_or_default();
            let pairs: Vec<_> = parameters
                .iter()
                .map(|parameter| {
                    let (name, place) = (parameter["name"].as_str().unwrap(), parameter["in"].as_str().unwrap());
                    let given = if place == "path" {
                        Just(1).boxed()
                    } else {
                        (0..=2_usize).boxed()
                    };
                    let pair = (value(&parameter["schema"]), value(&parameter["schema"]), given);
                    let (name, in_path) = (name.to_owned(), place == "path");
                    pair.prop_map(move |(first, second, given)| {
                        (name.clone(), in_path, vec![first, second][..given].to_vec())
                    })
                })
                .collect();
            (
                Just(path.clone()),
                pairs,
                sample::select(vec!["", "&", "other=1", "=", "%ff"]),
            )
                .prop_map(filled)
                .boxed()
        })
        .collect();
    sample::select((0..operations.len()).collect::<Vec<_>>()).prop_flat_map(move |index| operations[index].clone())
}

/// A parameter's name, whether it stands in the path, and the values it is given.
type Given = (String, bool, Vec<String>);

/// Puts values into a path and behind it.
fn filled((path, pairs, more): (String, Vec<Given>, &str)) -> (String, String) {
    let mut uri = path.clone();
    let mut query = Vec::new();
    for (name, in_path, values) in pairs {
        if in_path {
            // An empty segment would be another path.
            let value = if values[0].is_empty() { "1" } else { &values[0] };
            uri = uri.replace(&format!("{{{name}}}"), value);
        } else {
            query.extend(values.iter().map(|value| format!("{name}={value}")));
        }
    }
    query.push(more.to_owned());
    (path, format!("{uri}?{}", query.join("&")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_asked_the_answer_is_described((path, uri) in question(&described())) {
        let file = described();
        let got = ask(&Method::GET, &uri);
        fits(&file, &file["paths"][&path]["get"], &uri, &got);
    }
}

#[test]
fn the_file_and_the_router_know_the_same_paths() {
    let file = described();
    let described: BTreeSet<&str> = file["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(described, BTreeSet::from(crate::PATHS));
}

#[test]
fn another_method_is_refused_on_every_path() {
    for path in crate::PATHS {
        for method in [
            Method::POST,
            Method::PUT,
            Method::DELETE,
            Method::PATCH,
            Method::OPTIONS,
        ] {
            let (status, _, body) = ask(&method, &path.replace("{id}", "1"));
            assert_eq!(status, 405, "{method} {path}: {body:?}");
        }
    }
}

/// Every number that its schema allows is answered, and no other.
#[test]
fn bounds_are_where_the_file_says() {
    let file = described();
    for (path, item) in file["paths"].as_object().unwrap() {
        for parameter in item["get"]["parameters"].as_array().into_iter().flatten() {
            let schema = &parameter["schema"];
            if parameter["in"] != "query" || schema["type"] != "integer" {
                continue;
            }
            let name = parameter["name"].as_str().unwrap();
            for (bound, outside) in [("minimum", -1), ("maximum", 1)] {
                let Some(bound) = schema[bound].as_i64() else { continue };
                for (number, expected) in [(bound, 200), (bound + outside, 400)] {
                    let uri = format!("{path}?{name}={number}");
                    assert_eq!(ask(&Method::GET, &uri).0, expected, "{uri}");
                }
            }
        }
    }
}

#[test]
fn every_status_in_the_file_can_happen() {
    let file = described();
    for (path, uri, status) in [
        ("/api/weather/current", "/api/weather/current?city=Kyiv", 200),
        ("/api/weather/current", "/api/weather/current", 400),
        ("/api/weather/current", "/api/weather/current?city=Atlantis", 404),
        ("/api/users", "/api/users", 200),
        ("/api/users", "/api/users?limit=0", 400),
        ("/api/users/page", "/api/users/page", 200),
        ("/api/users/page", "/api/users/page?size=0", 400),
        ("/api/users/page", "/api/users/page?page=21", 404),
        ("/api/users/stream", "/api/users/stream", 200),
        ("/api/users/stream", "/api/users/stream?count=0", 400),
        ("/api/users/{id}", "/api/users/1", 200),
        ("/api/users/{id}", "/api/users/x", 400),
        ("/api/users/{id}", "/api/users/0", 404),
        ("/api/metrics/document", "/api/metrics/document", 200),
        ("/health", "/health", 200),
    ] {
        let got = ask(&Method::GET, uri);
        assert_eq!(got.0, status, "{uri}");
        fits(&file, &file["paths"][path]["get"], uri, &got);
    }
    let described: usize = file["paths"]
        .as_object()
        .unwrap()
        .values()
        .map(|item| item["get"]["responses"].as_object().unwrap().len())
        .sum();
    assert_eq!(described, 15, "a status in the file is not asked for above");
}
