//! Why a tier has no answer, in the words of either protocol.

use axum::http::StatusCode;
use domain::{Fault, UserError, WeatherError};
use http_server::Problem;
use tonic::{Code, Status};

/// How much of another tier's reason is passed on, in letters: a reason always fits a gRPC trailer.
const LONGEST_REASON: usize = 500;

/// Why there is no answer: the kind, and the reason for whoever asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    reason: String,
}

/// What kind of failure it is; each protocol has its own word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The question can never be answered: 400, `INVALID_ARGUMENT`.
    Invalid,
    /// What it asks for is not there: 404, `NOT_FOUND`.
    NotFound,
    /// The next tier is not there, or nothing that it says can be understood: 503, `UNAVAILABLE`.
    Unavailable,
    /// The next tier has had its time: 504, `DEADLINE_EXCEEDED`.
    TooLate,
    /// The store is broken: 500, `INTERNAL`.
    Broken,
}

impl Failure {
    pub(crate) fn new(kind: Kind, reason: &str) -> Self {
        let reason = reason.chars().take(LONGEST_REASON).collect();
        Self { kind, reason }
    }
}

impl Kind {
    /// The kind that a tier meant by this status of HTTP.
    pub(crate) fn of_http(status: StatusCode) -> Self {
        match status {
            StatusCode::BAD_REQUEST => Self::Invalid,
            StatusCode::NOT_FOUND => Self::NotFound,
            StatusCode::GATEWAY_TIMEOUT => Self::TooLate,
            _ => Self::Unavailable,
        }
    }

    /// The kind that a tier meant by this status of gRPC.
    pub(crate) fn of_grpc(code: Code) -> Self {
        match code {
            Code::InvalidArgument => Self::Invalid,
            Code::NotFound => Self::NotFound,
            Code::DeadlineExceeded => Self::TooLate,
            _ => Self::Unavailable,
        }
    }

    fn http(self) -> StatusCode {
        match self {
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::TooLate => StatusCode::GATEWAY_TIMEOUT,
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn grpc(self) -> Code {
        match self {
            Self::Invalid => Code::InvalidArgument,
            Self::NotFound => Code::NotFound,
            Self::Unavailable => Code::Unavailable,
            Self::TooLate => Code::DeadlineExceeded,
            Self::Broken => Code::Internal,
        }
    }
}

impl From<UserError> for Failure {
    fn from(error: UserError) -> Self {
        let kind = match error.fault() {
            Fault::Invalid => Kind::Invalid,
            Fault::NotFound => Kind::NotFound,
        };
        Self::new(kind, &error.to_string())
    }
}

impl From<WeatherError> for Failure {
    fn from(error: WeatherError) -> Self {
        let kind = match error {
            WeatherError::MissingCity => Kind::Invalid,
            WeatherError::UnknownCity { .. } => Kind::NotFound,
        };
        Self::new(kind, &error.to_string())
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self::new(failure.kind.http(), failure.reason)
    }
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        Self::new(failure.kind.grpc(), failure.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn what_every_tier_may_say_comes_back_in_either_protocol() {
        for kind in [Kind::Invalid, Kind::NotFound, Kind::Unavailable, Kind::TooLate] {
            assert_eq!(Kind::of_http(kind.http()), kind);
            assert_eq!(Kind::of_grpc(kind.grpc()), kind);
        }
        // A tier whose store is broken is of no use to the tier before it.
        assert_eq!(Kind::of_http(Kind::Broken.http()), Kind::Unavailable);
        assert_eq!(Kind::of_grpc(Kind::Broken.grpc()), Kind::Unavailable);
    }
}
