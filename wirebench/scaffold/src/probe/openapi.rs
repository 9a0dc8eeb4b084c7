//! The operations that a server's OpenAPI or Swagger document lists, with sample values for their parameters.

use serde_json::Value;

use crate::routes::Route;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Every operation of the document at a place, with the path to request: with parameters filled in and the required query. `None` if
/// the text is no OpenAPI document.
pub(super) fn operations(text: &[u8], place: &str) -> Option<Vec<(Route, String)>> {
    let document: Value = serde_json::from_slice(text).ok()?;
    document.get("openapi").or(document.get("swagger"))?;
    let base = base(&document);
    let mut found = Vec::new();
    for (template, item) in document.get("paths")?.as_object()? {
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let lists = [item, operation].into_iter();
            let lists = lists.filter_map(|place| place["parameters"].as_array());
            let parameters: Vec<&Value> = lists.flatten().map(|one| resolved(&document, one)).collect();
            let route = Route {
                method: method.to_ascii_uppercase(),
                path: format!("{base}{template}"),
                place: format!("listed by GET {place}"),
            };
            found.push((route, format!("{base}{}", filled(&document, template, &parameters))));
        }
    }
    Some(found)
}

/// The prefix of every path: `basePath` of Swagger 2, the path of the first server of OpenAPI 3.
fn base(document: &Value) -> String {
    let url = document["basePath"].as_str().or(document["servers"][0]["url"].as_str());
    let url = url.unwrap_or_default();
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |start| &rest[start..]),
        None => url,
    };
    let is_plain = path.starts_with('/') && !path.contains('{');
    if is_plain { path.trim_end_matches('/') } else { "" }.to_owned()
}

/// Resolves a `$ref` within the document; returns other values unchanged.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let way = value["$ref"].as_str().and_then(|way| way.strip_prefix('#'));
    way.and_then(|way| document.pointer(way)).unwrap_or(value)
}

fn filled(document: &Value, template: &str, parameters: &[&Value]) -> String {
    let mut path = template.to_owned();
    let mut query: Vec<String> = Vec::new();
    for parameter in parameters {
        let Some(name) = parameter["name"].as_str() else {
            continue;
        };
        let value = encoded(&sample(document, parameter));
        match parameter["in"].as_str() {
            Some("path") => path = path.replace(&format!("{{{name}}}"), &value),
            Some("query") if parameter["required"] == true => query.push(format!("{}={value}", encoded(name))),
            _ => {}
        }
    }
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{path}{mark}{}", query.join("&"))
}

/// An example or default where the document has one; otherwise a value of the parameter's type.
fn sample(document: &Value, parameter: &Value) -> String {
    let schema = resolved(document, &parameter["schema"]);
    let given = [
        &parameter["example"],
        &schema["example"],
        &schema["default"],
        &parameter["default"],
        &schema["enum"][0],
        &parameter["enum"][0],
    ];
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    };
    if let Some(text) = given.into_iter().find_map(text) {
        return text;
    }
    let either = |key| schema[key].as_str().or(parameter[key].as_str());
    let minimum = schema["minimum"].as_i64().unwrap_or(1).max(1);
    match (either("type"), either("format")) {
        (Some("integer" | "number"), _) => minimum.to_string(),
        (Some("boolean"), _) => "true".into(),
        (_, Some("uuid")) => "00000000-0000-4000-8000-000000000001".into(),
        (_, Some("date")) => "2024-01-01".into(),
        _ => "world".into(),
    }
}

/// A value as a part of a path or query.
fn encoded(value: &str) -> String {
    let each = value.bytes().map(|byte| match byte {
        b'-' | b'.' | b'_' | b'~' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> Vec<String> {
        let found = operations(text.as_bytes(), "/openapi.json").unwrap();
        let told = found.iter().map(|(route, path)| format!("{} {path}", route.method));
        told.collect()
    }

    #[test]
    fn parameters_get_values_of_their_kind() {
        let text = r##"{"openapi":"3.1.0","servers":[{"url":"https://x.test/v1"}],"paths":{
            "/items/{id}":{"get":{"parameters":[{"name":"id","in":"path","schema":{"type":"integer"}},
                {"name":"q","in":"query","required":true,"schema":{"$ref":"#/components/schemas/Q"}},
                {"name":"page","in":"query","schema":{"type":"integer"}}]},
              "delete":{}}},
            "components":{"schemas":{"Q":{"type":"string","enum":["a b"]}}}}"##;
        assert_eq!(listed(text), ["GET /v1/items/1?q=a%20b", "DELETE /v1/items/{id}"]);
    }

    #[test]
    fn swagger_has_a_base_path_and_other_texts_are_no_document() {
        let text = r#"{"swagger":"2.0","basePath":"/api/","paths":{"/u/{n}":{"parameters":[{"name":"n","in":"path","type":"string"}],"get":{}}}}"#;
        assert_eq!(listed(text), ["GET /api/u/world"]);
        assert_eq!(operations(b"<html>", ""), None);
        assert_eq!(operations(b"{\"paths\":{}}", ""), None);
    }
}
