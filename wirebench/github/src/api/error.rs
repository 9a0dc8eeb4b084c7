//! Why an API request failed, and what to do, as text that is safe in a log.

use serde_json::Value;

use crate::Refusal;
use crate::api::response::{RESPONSE_WITHIN, Response};

/// A request without a good response.
#[derive(Debug, thiserror::Error)]
#[error("{request}: {}{message}; {advice}", .status.map_or_else(String::new, |status| format!("status {status}: ")))]
pub struct ApiError {
    /// `GET /repos/…`.
    pub(super) request: String,
    /// The response's status; `None` without a response.
    pub(super) status: Option<u16>,
    /// The message of GitHub or of the network, escaped.
    pub(super) message: String,
    /// What to do about it.
    pub(super) advice: String,
}

impl ApiError {
    /// The response's status; `None` without a response.
    pub const fn status(&self) -> Option<u16> {
        self.status
    }

    /// True if the request may have been executed without a confirmation.
    pub fn may_be_done(&self) -> bool {
        self.status.is_none_or(|status| status >= 500)
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self::new(error.to_string())
    }
}

/// Why there was no response at all; never with the address, which may hold a secret.
pub(super) fn no_response(error: &ureq::Error) -> String {
    match error {
        // Others may hold the address.
        ureq::Error::Timeout(_) => format!("no answer within {} s", RESPONSE_WITHIN.as_secs()),
        ureq::Error::Io(error) => format!("no answer: {}", error.kind()),
        ureq::Error::HostNotFound => "no answer: no such host".into(),
        _ => "no answer".into(),
    }
}

/// GitHub's message for a request that it refuses.
pub(super) fn message(response: &Response) -> String {
    let value: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let message = value
        .get("message")
        .and_then(text)
        .unwrap_or_else(|| "no message".into());
    match value.pointer("/errors/0/message").and_then(text) {
        Some(more) => format!("{message}: {more}"),
        None => message,
    }
}

/// Advice for a request that GitHub refuses.
pub(super) fn advice(method: &str, path: &str, response: &Response) -> String {
    match response.status {
        401 => "GITHUB_TOKEN is wrong or has expired; give the step: env: GITHUB_TOKEN: github.token".to_owned(),
        403 | 429 if response.requested_wait().is_some() => "GitHub asks for a long pause; run this again later".into(),
        403 | 404 => format!(
            "give the job the permission {}, and see that what is asked for exists",
            permission(method, path)
        ),
        500.. => "GitHub does not answer well; run this again later".into(),
        _ => "see what GitHub says".into(),
    }
}

/// The permission that a job's token needs for a request.
fn permission(method: &str, path: &str) -> &'static str {
    let reads = method == "GET";
    match () {
        () if path.contains("/check-runs") => "checks: write",
        () if path.starts_with("/issues") && !reads => "pull-requests: write",
        () if path.starts_with("/issues") || path.starts_with("/pulls") => "pull-requests: read",
        () if path.starts_with("/actions") && !reads => "actions: write",
        () if path.starts_with("/actions") => "actions: read",
        () => "contents: read",
    }
}
