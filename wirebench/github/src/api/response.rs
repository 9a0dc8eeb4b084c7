//! A response of the API.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ureq::http::HeaderMap;

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
