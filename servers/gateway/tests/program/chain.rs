//! Three tiers behind each other: every answer as from one server alone, and none lost.

use std::net::SocketAddr;
use std::thread;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use server_runtime::testing::{RUNTIMES, Running};
use tonic::Code;
use tower::ServiceExt;

use super::asking::{ask, connect, page_code, weather_code};
use super::{INNER, PROGRAM, service_before, tier_before};

const REQUESTS: usize = 10_000;
const CONNECTIONS: usize = 20;

/// Controller, service and repository; each next one is started first.
fn chain(inner: &str, arguments: &[&str]) -> [Running; 3] {
    let with = |own: &[&'static str]| [own, arguments].concat();
    let serving = |role: &'static str| [&["--role", role, "--serve", inner][..], arguments].concat();
    let repository = PROGRAM.start(&serving("repository"));
    let service = tier_before(&serving("service"), inner, repository.address, "10000");
    let controller = tier_before(&with(&["--role", "controller"]), inner, service.address, "10000");
    [controller, service, repository]
}

/// What the HTTP server says to the same question.
async fn from_one_server(path: &str) -> (u16, String) {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = http_server::router().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn every_answer_is_the_same_bytes_as_from_one_server() {
    let long = format!("/api/weather/current?city={}", "x".repeat(20_000));
    for inner in INNER {
        let tiers = chain(inner, &[]);
        let mut connection = connect(tiers[0].address);
        for path in [
            "/api/weather/current?city=Kyiv",
            "/api/weather/current?city=%20kyiv%20",
            "/api/weather/current?city=Atlantis",
            "/api/weather/current?city=a%26b=%23%2F%C3%BC",
            "/api/weather/current",
            "/api/weather/current?city=%ff%fe",
            "/api/users/1",
            "/api/users/1000",
            "/api/users/1001",
            "/api/users/-1",
            "/api/users/9223372036854775807",
            "/api/users/99999999999999999999",
            "/api/users/first",
            "/api/users",
            "/api/users?limit=100",
            "/api/users?limit=0",
            "/api/users?limit=-9223372036854775808",
            "/api/users?limit=ten",
            "/api/users/page",
            "/api/users/page?page=143&size=7",
            "/api/users/page?page=21",
            "/api/users/page?page=0",
            "/api/users/page?size=-50",
            "/api/users/page?page=9999999999&size=1",
            "/api/users/page?page=1&page=2",
            "/api/metrics/document",
            "/nothing",
            "/health",
            &long,
        ] {
            let expected = from_one_server(path).await;
            assert_eq!(ask(&mut connection, path), expected, "{path} over {inner}");
        }
        assert_eq!(ask(&mut connection, "/api/users/stream").0, 404);
    }
}

#[tokio::test]
async fn refusals_pass_through_to_clients_of_grpc() {
    for inner in INNER {
        let repository = PROGRAM.start(&["--role", "repository", "--serve", inner]);
        let service = service_before(inner, repository.address);
        for (page, size, expected) in [
            (1, 50, Code::Ok),
            (21, 50, Code::NotFound),
            (i32::MAX, 100, Code::NotFound),
            (0, 50, Code::InvalidArgument),
            (1, -50, Code::InvalidArgument),
        ] {
            let code = page_code(service.address, page, size).await;
            assert_eq!(code, expected, "page {page} of {size} over {inner}");
        }
        for (city, expected) in [
            ("Kyiv", Code::Ok),
            ("Atlantis", Code::NotFound),
            ("", Code::InvalidArgument),
        ] {
            assert_eq!(
                weather_code(service.address, city).await,
                expected,
                "{city:?} over {inner}"
            );
        }
    }
}

#[test]
#[ignore = "nightly"]
fn ten_thousand_requests_are_all_answered() {
    let expected: Vec<(&str, String)> = vec![
        ("/api/users/7", json(domain::user(7).unwrap())),
        ("/api/users?limit=20", json(&domain::users(20).unwrap())),
        ("/api/users/page?page=3", json(&domain::page_of_users(3, 50).unwrap())),
        (
            "/api/weather/current?city=Lviv",
            json(domain::current_weather("Lviv").unwrap()),
        ),
    ];
    for (inner, runtime) in INNER.into_iter().zip(RUNTIMES) {
        let tiers = chain(inner, &["--threads", "2", "--runtime", runtime]);
        let address: SocketAddr = tiers[0].address;
        thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| {
                    let mut connection = connect(address);
                    for (path, body) in expected.iter().cycle().take(REQUESTS / CONNECTIONS) {
                        let (status, found) = ask(&mut connection, path);
                        assert_eq!((status, &found), (200, body), "{path} over {inner}");
                    }
                });
            }
        });
        for tier in tiers {
            assert_eq!(tier.terminate().0.code(), Some(0));
        }
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}
