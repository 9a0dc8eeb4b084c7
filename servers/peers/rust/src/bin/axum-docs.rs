//! axum as its documentation shows it: its default features, tokio's default runtime, a listener as it comes.

use axum::extract::Query;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use domain::Weather;
use serde::Deserialize;

#[derive(Deserialize)]
struct Question {
    city: String,
}

async fn weather(Query(question): Query<Question>) -> Result<Json<&'static Weather>, (StatusCode, String)> {
    domain::current_weather(&question.city)
        .map(Json)
        .map_err(|error| (StatusCode::NOT_FOUND, error.to_string()))
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let app = Router::new()
        .route("/api/weather/current", get(weather))
        .route("/health", get(|| async { "ok" }));
    let listener = tokio::net::TcpListener::bind(peers::address()?).await?;
    axum::serve(listener, app).await
}
