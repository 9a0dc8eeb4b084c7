//! Decides when a request is repeated, and after how long: as GitHub requests it, or because of a server error.

use std::time::Duration;

use crate::api::response::Response;

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
