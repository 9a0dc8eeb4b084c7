//! The error of a request to the next tier.

use crate::failure::Failure;

/// Why the next tier has not sent a response.
#[derive(Debug)]
pub(super) enum UpstreamError {
    /// The next tier responded with an error, or the request could not be made.
    Refused(Failure),
    /// The connection failed, or the response was invalid; the reason.
    Lost(String),
}

impl UpstreamError {
    /// The root cause of a client's error, whose own message seldom names it.
    pub(super) fn lost(error: &dyn std::error::Error) -> Self {
        let mut root = error;
        while let Some(cause) = root.source() {
            root = cause;
        }
        Self::Lost(root.to_string())
    }
}

impl<T: Into<Failure>> From<T> for UpstreamError {
    fn from(failure: T) -> Self {
        Self::Refused(failure.into())
    }
}
