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
