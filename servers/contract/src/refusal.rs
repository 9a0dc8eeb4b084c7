//! The domain's errors as gRPC statuses.

use domain::{Fault, UserError, WeatherError};
use tonic::Status;

/// The status for a weather request that fails.
#[must_use]
pub fn weather_refusal(error: &WeatherError) -> Status {
    let text = error.to_string();
    match error {
        WeatherError::MissingCity => Status::invalid_argument(text),
        WeatherError::UnknownCity { .. } => Status::not_found(text),
    }
}

/// The status for a users request that fails.
#[must_use]
pub fn user_refusal(error: &UserError) -> Status {
    let text = error.to_string();
    match error.fault() {
        Fault::Invalid => Status::invalid_argument(text),
        Fault::NotFound => Status::not_found(text),
    }
}
