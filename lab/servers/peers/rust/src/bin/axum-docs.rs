//! axum as its documentation shows it: its default features, tokio's default runtime. With `--queue` the listener has a queue for
//! 4,096 connections instead of tokio's 128.

use axum::extract::Query;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use domain::Weather;
use serde::Deserialize;
use tokio::net::TcpListener;

#[derive(Deserialize)]
struct CityQuery {
    city: String,
}

async fn weather(Query(query): Query<CityQuery>) -> Result<Json<&'static Weather>, (StatusCode, String)> {
    domain::current_weather(&query.city)
        .map(Json)
        .map_err(|error| (StatusCode::NOT_FOUND, error.to_string()))
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let app = Router::new()
        .route("/api/weather/current", get(weather))
        .route("/health", get(|| async { "ok" }));
    let listener = if peers::has_flag("--queue") {
        TcpListener::from_std(peers::listen()?)?
    } else {
        TcpListener::bind(peers::address()?).await?
    };
    axum::serve(listener, app).await
}
