//! Decides when a request is repeated, and after how long: as GitHub requests it, or because of a server error.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ureq::http::HeaderMap;

use crate::api::Again;

/// An answer, whatever its status.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// How long to wait before the next attempt; `None` if the response is final.
pub(super) fn must_wait(answer: &Answer, again: Again, backoff: Duration) -> Option<Duration> {
    match answer.status {
        // Refused before anything was done.
        403 | 429 => wants_patience(answer).map(|asked| asked.max(backoff)),
        500.. if again == Again::Yes => Some(backoff),
        _ => None,
    }
}

/// Whether, and how long, GitHub wants us to wait.
pub(super) fn wants_patience(answer: &Answer) -> Option<Duration> {
    let number = |name: &str| answer.headers.get(name)?.to_str().ok()?.parse::<u64>().ok();
    if let Some(seconds) = number("retry-after") {
        return Some(Duration::from_secs(seconds));
    }
    if number("x-ratelimit-remaining") == Some(0) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let reset = number("x-ratelimit-reset").unwrap_or_default();
        return Some(Duration::from_secs(reset).saturating_sub(now));
    }
    (answer.status == 429).then_some(Duration::ZERO)
}
