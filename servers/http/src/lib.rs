//! The weather over HTTP with JSON bodies: `GET /api/weather/current?city=Kyiv` and `GET /health`.

mod answer;

use std::io;

use axum::extract::Query;
use axum::extract::Request;
use axum::extract::rejection::QueryRejection;
use axum::http::{Method, Uri};
use axum::routing::get;
use axum::{Router, ServiceExt};
use server_runtime::{Stop, Waste};
use tokio::net::TcpListener;
use tower::Layer;

use answer::{Answer, Problem};

/// The whole service, as in-process tests use it.
pub fn router() -> Router {
    Router::new()
        .route("/api/weather/current", get(current_weather))
        .route("/health", get(health))
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
}

/// Answers the connections of `listener`, HTTP/1.1 and HTTP/2 alike, until a stop is requested; spends `waste` in every
/// request when there is some.
///
/// # Errors
/// Those of the listener.
pub async fn serve(listener: TcpListener, stop: Stop, waste: Option<Waste>) -> io::Result<()> {
    match waste {
        None => {
            let serving = axum::serve(listener, router());
            serving.with_graceful_shutdown(stop.requested()).await
        }
        Some(waste) => {
            // As `axum::serve` does with a router alone: its handlers are made once, not in every request.
            let router = router().with_state::<()>(());
            let service = ServiceExt::<Request>::into_make_service(waste.layer().layer(router));
            let serving = axum::serve(listener, service);
            serving.with_graceful_shutdown(stop.requested()).await
        }
    }
}

/// The question after the `?`.
#[derive(serde::Deserialize)]
struct Question {
    #[serde(default)]
    city: String,
}

async fn current_weather(question: Result<Query<Question>, QueryRejection>) -> Result<Answer, Problem> {
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
