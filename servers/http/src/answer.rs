//! What the service sends back: the weather, or a problem a person understands, both as JSON.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use domain::{Weather, WeatherError};

/// A good answer.
pub(crate) struct Answer(pub(crate) &'static Weather);

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        Json(self.0).into_response()
    }
}

/// A refusal: a status and the reason for it, sent as `{"error":"…"}`.
pub(crate) struct Problem {
    status: StatusCode,
    error: String,
}

impl Problem {
    pub(crate) fn unknown_path(path: &str) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            error: format!("nothing at {path}: ask for /api/weather/current?city=Kyiv or /health"),
        }
    }

    pub(crate) fn unknown_method(method: &Method) -> Self {
        Self {
            status: StatusCode::METHOD_NOT_ALLOWED,
            error: format!("{method} is not possible here: use GET"),
        }
    }
}

impl From<WeatherError> for Problem {
    fn from(error: WeatherError) -> Self {
        let status = match error {
            WeatherError::MissingCity => StatusCode::BAD_REQUEST,
            WeatherError::UnknownCity { .. } => StatusCode::NOT_FOUND,
        };
        Self {
            status,
            error: error.to_string(),
        }
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            error: format!("{}: ask in the form ?city=Kyiv", rejection.body_text()),
        }
    }
}

#[derive(serde::Serialize)]
struct ProblemBody {
    error: String,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(ProblemBody { error: self.error })).into_response()
    }
}
