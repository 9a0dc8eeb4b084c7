//! actix-web, one worker.

use actix_web::web::{self, Query};
use actix_web::{App, HttpResponse, HttpServer};
use serde::Deserialize;

#[derive(Deserialize)]
struct CityQuery {
    city: String,
}

async fn weather(query: Query<CityQuery>) -> HttpResponse {
    match domain::current_weather(&query.city) {
        Ok(weather) => HttpResponse::Ok().json(weather),
        Err(error) => HttpResponse::NotFound().body(error.to_string()),
    }
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let app = || {
        App::new()
            .route("/api/weather/current", web::get().to(weather))
            .route("/health", web::get().to(|| async { "ok" }))
    };
    HttpServer::new(app).workers(1).listen(peers::listen()?)?.run().await
}
