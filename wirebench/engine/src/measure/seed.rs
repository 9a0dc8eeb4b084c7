//! Sends the seeds of a server before its load, and captures values of their responses.

use std::path::Path;

use serde_json::Value;

use crate::measure::error::MeasureError;
use crate::measure::request::Request;
use crate::measure::values::Captured;
use crate::measure::wire::Endpoint;
use wirebench_declare::seed::Seed;
use wirebench_declare::server::{Operation, Server};

/// Sends the seeds of a server in their order, and adds the values that they capture. Seeds with `once` are sent only if
/// `first_time` is true.
///
/// # Errors
/// When a response is not the expected one, or lacks a value; the error names the seed.
pub fn send_all(
    server: &Server,
    endpoint: Endpoint,
    first_time: bool,
    captured: &mut Captured,
) -> Result<(), MeasureError> {
    for seed in server.seed.iter().filter(|seed| first_time || !seed.once) {
        let failed = |why: String| {
            let request = format!("{} {}", seed.request.method, seed.request.path);
            MeasureError::Failed(format!("server {}: seed {request}: {why}", server.name))
        };
        let operation = Operation::Http(seed.request.clone());
        let request = Request::new(Path::new(""), server, &operation, endpoint, captured)?;
        let response = request
            .check(endpoint.address)
            .map_err(|error| failed(error.to_string()))?;
        captured.extend(values(seed, &response.body).map_err(failed)?);
    }
    Ok(())
}

/// The values that a seed captures from a response.
fn values(seed: &Seed, body: &[u8]) -> Result<Captured, String> {
    if seed.capture.is_empty() {
        return Ok(Captured::new());
    }
    let json: Value = serde_json::from_slice(body)
        .map_err(|error| format!("the response is not JSON ({error}), so it has no value to capture"))?;
    let value = |(name, pointer): (&String, &String)| {
        let text = match json.pointer(pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
            Some(_) => {
                return Err(format!(
                    "the value at {pointer} of the response is no text, number or boolean"
                ));
            }
            None => {
                return Err(format!(
                    "the response has no value at {pointer}, which is captured as {name}"
                ));
            }
        };
        if text.contains(char::is_control) {
            return Err(format!(
                "the value at {pointer} of the response contains control characters"
            ));
        }
        Ok((name.clone(), text))
    };
    seed.capture.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::values::fill_captured;
    use wirebench_declare::server::HttpOperation;

    fn seed(pointer: &str) -> Seed {
        Seed {
            request: HttpOperation::new("POST", "/login".into(), 200, None),
            capture: [("token".to_owned(), pointer.to_owned())].into(),
            once: false,
        }
    }

    #[test]
    fn values_are_captured_from_json_and_filled_in() {
        let body = br#"{"user":{"token":"a.b","id":7},"list":[1]}"#;
        let captured = values(&seed("/user/token"), body).unwrap();
        assert_eq!(captured["token"], "a.b");
        assert_eq!(values(&seed("/user/id"), body).unwrap()["token"], "7");
        assert_eq!(
            fill_captured(r#"{"t":"{token}","x":{}}"#, &captured),
            r#"{"t":"a.b","x":{}}"#
        );
    }

    #[test]
    fn what_cannot_be_captured_is_said() {
        for (pointer, body, expected) in [
            ("/a", "<p>", "is not JSON"),
            ("/a", "{}", "has no value at /a, which is captured as token"),
            ("/a", r#"{"a":[]}"#, "is no text, number or boolean"),
            ("/a", r#"{"a":"x\r\ny: z"}"#, "contains control characters"),
        ] {
            let error = values(&seed(pointer), body.as_bytes()).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
