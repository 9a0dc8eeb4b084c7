//! Weather, users and a metrics document over HTTP with JSON bodies; `openapi.json` says how each is asked for.

mod answer;
#[cfg(test)]
mod openapi;
pub mod questions;
mod users;

use std::io;

use axum::Router;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::{Method, Uri};
use axum::routing::get;
use clap::Args;
use domain::{MetricsDocument, Weather};
use server_runtime::{Incoming, Own, Serving, web};
use tower_http::compression::CompressionLayer;

pub use answer::{Answer, Problem};

use questions::{CITY_EXAMPLE, CityQuestion};

/// The whole service, as in-process tests use it.
pub fn router() -> Router {
    let handlers = [
        get(current_weather),
        get(users::list),
        get(users::page),
        get(users::stream),
        get(users::one),
        get(metrics_document),
        get(health),
    ];
    let router = PATHS
        .into_iter()
        .zip(handlers)
        .fold(Router::new(), |router, (path, handler)| router.route(path, handler));
    refusing(router)
}

/// A router that refuses every other path and method as this server does.
pub fn refusing<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    router
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
}

/// Every path there is, in the order of the router's handlers.
const PATHS: [&str; 7] = [
    "/api/weather/current",
    "/api/users",
    "/api/users/page",
    "/api/users/stream",
    "/api/users/{id}",
    "/api/metrics/document",
    "/health",
];

/// The arguments of this server only.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "HTTP")]
pub struct Coding {
    /// Compresses responses with gzip for clients that accept it
    #[arg(long)]
    gzip: bool,
}

impl Own for Coding {}

/// Answers connections until a stop is requested, with what `serving` asks for in every request.
///
/// # Errors
/// If the listener fails.
pub async fn serve(incoming: Incoming, serving: Serving, coding: Coding) -> io::Result<()> {
    let router = if coding.gzip {
        router().layer(CompressionLayer::new())
    } else {
        router()
    };
    web::serve(incoming, router, serving).await
}

async fn current_weather(
    question: Result<Query<CityQuestion>, QueryRejection>,
) -> Result<Answer<&'static Weather>, Problem> {
    let Query(question) = question.map_err(|rejection| Problem::question(&rejection, CITY_EXAMPLE))?;
    Ok(Answer(domain::current_weather(&question.city)?))
}

async fn metrics_document() -> Answer<&'static MetricsDocument> {
    Answer(domain::metrics_document())
}

/// Answers whether the server is there.
pub async fn health() -> &'static str {
    "ok"
}

/// Refuses a path.
pub async fn unknown_path(uri: Uri) -> Problem {
    Problem::unknown_path(uri.path())
}

async fn unknown_method(method: Method) -> Problem {
    Problem::unknown_method(&method)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{Request, StatusCode, header};
    use http_body_util::BodyExt;
    use serde_json::Value;
    use tower::ServiceExt;

    /// Asks the router in process; gives status, content type and body.
    async fn ask(method: &str, path: &str) -> (StatusCode, String, String) {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let response = super::router().oneshot(request).await.unwrap();
        let status = response.status();
        let kind = response.headers()[header::CONTENT_TYPE].to_str().unwrap().to_owned();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, kind, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Asks for something that must be refused; gives the reason from the JSON body.
    async fn refusal(method: &str, path: &str, expected: StatusCode) -> String {
        let (status, kind, body) = ask(method, path).await;
        assert_eq!((status, kind.as_str()), (expected, "application/json"), "{body}");
        let body: Value = serde_json::from_str(&body).unwrap();
        body["error"].as_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn a_known_city_is_answered_in_json() {
        let (status, kind, body) = ask("GET", "/api/weather/current?city=Kyiv").await;
        assert_eq!((status, kind.as_str()), (StatusCode::OK, "application/json"));
        assert_eq!(
            body,
            r#"{"city":"Kyiv","temperatureC":21.5,"humidity":60,"condition":"Cloudy"}"#
        );
    }

    #[tokio::test]
    async fn every_city_can_be_asked_for() {
        for weather in &domain::CITIES {
            let (status, _, body) = ask("GET", &format!("/api/weather/current?city={}", weather.city)).await;
            assert_eq!(status, StatusCode::OK);
            assert_eq!(body, serde_json::to_string(weather).unwrap());
        }
    }

    #[tokio::test]
    async fn an_unknown_city_is_not_found() {
        let error = refusal("GET", "/api/weather/current?city=Atlantis", StatusCode::NOT_FOUND).await;
        assert!(
            error.contains(r#"no weather for "Atlantis": known cities are Kyiv"#),
            "{error}"
        );
    }

    #[tokio::test]
    async fn a_missing_or_blank_city_is_a_bad_request() {
        for question in ["", "?", "?city=", "?city=%20", "?town=Kyiv"] {
            let path = format!("/api/weather/current{question}");
            let error = refusal("GET", &path, StatusCode::BAD_REQUEST).await;
            assert!(error.contains("?city=Kyiv"), "{error}");
        }
    }

    #[tokio::test]
    async fn two_cities_at_once_are_a_bad_request() {
        let path = "/api/weather/current?city=Kyiv&city=Lviv";
        let error = refusal("GET", path, StatusCode::BAD_REQUEST).await;
        assert!(error.contains("duplicate field `city`"), "{error}");
    }

    #[tokio::test]
    async fn users_are_answered_one_by_one_in_lists_and_in_pages() {
        let (status, kind, body) = ask("GET", "/api/users/7").await;
        assert_eq!((status, kind.as_str()), (StatusCode::OK, "application/json"));
        assert_eq!(body, serde_json::to_string(domain::user(7).unwrap()).unwrap());
        for (path, expected) in [
            ("/api/users", domain::users(20)),
            ("/api/users?limit=3", domain::users(3)),
        ] {
            let (status, _, body) = ask("GET", path).await;
            assert_eq!((status, body), (StatusCode::OK, json(&expected.unwrap())), "{path}");
        }
        for (path, expected) in [
            ("/api/users/page", domain::page_of_users(1, 50)),
            ("/api/users/page?page=143&size=7", domain::page_of_users(143, 7)),
        ] {
            let (status, _, body) = ask("GET", path).await;
            assert_eq!((status, body), (StatusCode::OK, json(&expected.unwrap())), "{path}");
        }
    }

    #[tokio::test]
    async fn users_that_cannot_be_are_refused() {
        for (path, status, words) in [
            ("/api/users/1001", StatusCode::NOT_FOUND, "ids are 1 to 1000"),
            ("/api/users/-1", StatusCode::NOT_FOUND, "no user with id -1"),
            ("/api/users/first", StatusCode::BAD_REQUEST, "/api/users/1"),
            (
                "/api/users/99999999999999999999",
                StatusCode::BAD_REQUEST,
                "/api/users/1",
            ),
            ("/api/users/%ff", StatusCode::BAD_REQUEST, "UTF-8"),
            ("/api/users?limit=0", StatusCode::BAD_REQUEST, "expected 1 to 100"),
            ("/api/users?limit=ten", StatusCode::BAD_REQUEST, "?limit=20"),
            ("/api/users/page?page=21", StatusCode::NOT_FOUND, "the last one is 20"),
            ("/api/users/page?size=-50", StatusCode::BAD_REQUEST, "size is -50"),
            (
                "/api/users/page?page=1&page=2",
                StatusCode::BAD_REQUEST,
                "duplicate field",
            ),
            ("/api/users/stream?count=10001", StatusCode::BAD_REQUEST, "1 to 10000"),
            (
                "/api/users/stream?interval_ms=1001",
                StatusCode::BAD_REQUEST,
                "0 to 1000",
            ),
        ] {
            let error = refusal("GET", path, status).await;
            assert!(error.contains(words), "{path}: {error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_is_one_user_a_line_at_its_own_pace() {
        for (interval_ms, expected_ms) in [(0, 0), (20, 40)] {
            let started = tokio::time::Instant::now();
            let path = format!("/api/users/stream?count=3&interval_ms={interval_ms}");
            let (status, kind, body) = ask("GET", &path).await;
            assert_eq!((status, kind.as_str()), (StatusCode::OK, "application/x-ndjson"));
            let lines: Vec<String> = (1..=3).map(|id| json(domain::user(id).unwrap()) + "\n").collect();
            assert_eq!(body, lines.concat());
            // The clock of this test is stopped, and goes on only where everything waits for it.
            let took = started.elapsed().as_millis();
            assert!((expected_ms..expected_ms + 5).contains(&took), "{took} ms");
        }
    }

    #[tokio::test]
    async fn the_metrics_document_is_answered() {
        let (status, _, body) = ask("GET", "/api/metrics/document").await;
        assert_eq!((status, body), (StatusCode::OK, json(domain::metrics_document())));
    }

    #[tokio::test]
    async fn a_very_long_path_is_not_repeated_in_full() {
        let error = refusal("GET", &format!("/{}", "x".repeat(50_000)), StatusCode::NOT_FOUND).await;
        assert!(error.len() < 300, "{} bytes", error.len());
        let path = format!("/api/users/{}", "x".repeat(50_000));
        let error = refusal("GET", &path, StatusCode::BAD_REQUEST).await;
        assert!(error.len() < 300, "{} bytes", error.len());
    }

    fn json(value: &impl serde::Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[tokio::test]
    async fn another_path_says_what_there_is() {
        let error = refusal("GET", "/weather", StatusCode::NOT_FOUND).await;
        assert!(error.contains("nothing at /weather"), "{error}");
    }

    #[tokio::test]
    async fn another_method_is_refused() {
        let error = refusal("POST", "/health", StatusCode::METHOD_NOT_ALLOWED).await;
        assert!(error.contains("use GET"), "{error}");
    }

    #[tokio::test]
    async fn health_is_good() {
        let (status, _, body) = ask("GET", "/health").await;
        assert_eq!((status, body.as_str()), (StatusCode::OK, "ok"));
    }
}
