//! Responses of the API: when a request is repeated, and why it failed, and what to do, as text that is safe in a log.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use ureq::http::HeaderMap;

use crate::Refusal;

/// A request without a good response.
#[derive(Debug, thiserror::Error)]
#[error("{request}: {}{message}; {advice}", .status.map_or_else(String::new, |status| format!("status {status}: ")))]
pub struct ApiError {
    /// `GET /repos/…`.
    pub(super) request: String,
    /// The response's status; `None` without a response.
    pub status: Option<u16>,
    /// The message of GitHub or of the network, escaped.
    pub(super) message: String,
    /// What to do about it.
    pub(super) advice: String,
}

impl ApiError {
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
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
    let message = text("/message").unwrap_or("no message");
    match text("/errors/0/message") {
        Some(more) => format!("{message}: {more}"),
        None => message.to_owned(),
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

/// The longest time from sending a request to having its response.
pub(super) const RESPONSE_WITHIN: Duration = Duration::from_secs(20);

/// A response, whatever its status.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Response {
    /// How long GitHub asks to wait before the next request; `None` if it does not ask for that.
    pub(super) fn requested_wait(&self) -> Option<Duration> {
        let number = |name: &str| self.headers.get(name)?.to_str().ok()?.parse::<u64>().ok();
        if let Some(seconds) = number("retry-after") {
            return Some(Duration::from_secs(seconds));
        }
        if number("x-ratelimit-remaining") == Some(0) {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let reset = number("x-ratelimit-reset").unwrap_or_default();
            return Some(Duration::from_secs(reset).saturating_sub(now));
        }
        (self.status == 429).then_some(Duration::ZERO)
    }
}

// Decides when a request is repeated, and after how long: as GitHub requests it, or because of a server error.

/// Whether a request may be repeated if it is unknown whether it was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Sending the request twice has the effect of sending it once.
    Yes,
    /// A second request would have a second effect.
    No,
}

/// How long to wait before the next attempt; `None` if the response is final.
pub(super) fn wait_before_retry(response: &Response, repeat: Repeat, backoff: Duration) -> Option<Duration> {
    match response.status {
        // Refused before anything was done.
        403 | 429 => response.requested_wait().map(|asked| asked.max(backoff)),
        500.. if repeat == Repeat::Yes => Some(backoff),
        _ => None,
    }
}
