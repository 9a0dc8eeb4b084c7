//! What the service sends back: the data, or a problem a person understands, both as JSON.

use std::cell::RefCell;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use domain::{Fault, UserError, WeatherError};
use serde::Serialize;

/// A good answer.
#[derive(Debug)]
pub struct Answer<T>(pub T);

thread_local! {
    /// Room to write an answer in before its length is known; as large as this thread's longest answer so far.
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The bytes and the headers are those of [`axum::Json`], which lets each answer's room grow in steps: between the buffers of
/// 1,000 connections such steps leave holes that add up to a quarter of the server's memory.
impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        let body = ROOM.with_borrow_mut(|room| {
            room.clear();
            serde_json::to_writer(&mut *room, &self.0).expect("answers are plain data");
            Bytes::copy_from_slice(room)
        });
        ([(CONTENT_TYPE, JSON)], body).into_response()
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A refusal: a status and the reason for it, sent as `{"error":"…"}`.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    error: String,
}

impl Problem {
    /// A refusal with this status, for this reason.
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self {
            status,
            error: error.into(),
        }
    }

    /// A refusal of a path that does not exist; says which ones do.
    #[must_use]
    pub fn unknown_path(path: &str) -> Self {
        // A path can be as long as the server takes one; the beginning is enough to recognise it.
        let shown: String = path.chars().take(100).collect();
        let error = format!("nothing at {shown}: ask for /api/weather/current?city=Kyiv, /api/users/1 or /health");
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// A refusal of a method that no path takes.
    #[must_use]
    pub fn unknown_method(method: &Method) -> Self {
        let error = format!("{method} is not possible here: use GET");
        Self::new(StatusCode::METHOD_NOT_ALLOWED, error)
    }

    /// A question that cannot be read; `example` shows one that can.
    pub fn question(rejection: &QueryRejection, example: &str) -> Self {
        Self::unreadable(&rejection.body_text(), example)
    }

    /// A path that cannot be read; `example` shows one that can.
    pub fn path(rejection: &PathRejection, example: &str) -> Self {
        Self::unreadable(&rejection.body_text(), example)
    }

    fn unreadable(reason: &str, example: &str) -> Self {
        let shown: String = reason.chars().take(200).collect();
        Self::new(StatusCode::BAD_REQUEST, format!("{shown}: ask in the form {example}"))
    }
}

impl From<WeatherError> for Problem {
    fn from(error: WeatherError) -> Self {
        let status = match error {
            WeatherError::MissingCity => StatusCode::BAD_REQUEST,
            WeatherError::UnknownCity { .. } => StatusCode::NOT_FOUND,
        };
        Self::new(status, error.to_string())
    }
}

impl From<UserError> for Problem {
    fn from(error: UserError) -> Self {
        let status = match error.fault() {
            Fault::Invalid => StatusCode::BAD_REQUEST,
            Fault::NotFound => StatusCode::NOT_FOUND,
        };
        Self::new(status, error.to_string())
    }
}

#[derive(Serialize)]
struct ProblemBody {
    error: String,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(ProblemBody { error: self.error })).into_response()
    }
}
