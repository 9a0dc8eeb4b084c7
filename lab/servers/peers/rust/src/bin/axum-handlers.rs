//! axum's extractors and responses without its router, on hyper: beside our own server it shows what the router costs.
//! It sends the weather for every path.

use std::io;

use axum::Json;
use axum::extract::Query;
use axum::handler::HandlerWithoutStateExt;
use axum::http::StatusCode;
use domain::Weather;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
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

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let listener = TcpListener::from_std(peers::listen()?)?;
    let handler = weather.into_service();
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(handler.clone());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
