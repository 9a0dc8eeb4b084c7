//! The weather over HTTP with JSON bodies: `GET /api/weather/current?city=Kyiv` and `GET /health`.

mod answer;

use std::io;

use axum::Router;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::{Method, Uri};
use axum::routing::get;
use server_runtime::Stop;
use tokio::net::TcpListener;

use answer::{Answer, Problem};

/// The whole service, as in-process tests use it.
pub fn router() -> Router {
    Router::new()
        .route("/api/weather/current", get(current_weather))
        .route("/health", get(health))
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
}

/// Answers the connections of `listener`, HTTP/1.1 and HTTP/2 alike, until a stop is requested.
///
/// # Errors
/// Those of the listener.
pub async fn serve(listener: TcpListener, stop: Stop) -> io::Result<()> {
    axum::serve(listener, router())
        .with_graceful_shutdown(stop.requested())
        .await
}

/// The question after the `?`.
#[derive(serde::Deserialize)]
struct Question {
    #[serde(default)]
    city: String,
}

async fn current_weather(
    question: Result<Query<Question>, QueryRejection>,
) -> Result<Answer, Problem> {
    let Query(question) = question?;
    Ok(Answer(domain::current_weather(&question.city)?))
}

async fn health() -> &'static str {
    "ok"
}

async fn unknown_path(uri: Uri) -> Problem {
    Problem::unknown_path(uri.path())
}

async fn unknown_method(method: Method) -> Problem {
    Problem::unknown_method(&method)
}
