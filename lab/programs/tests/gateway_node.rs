//! The gateway in Node.js (`lab/servers/gateway-node`) from outside: it answers and refuses as the one in Rust does.
#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise, its helpers too"
)]

#[path = "../../../servers/gateway/tests/program/asking.rs"]
#[allow(dead_code, reason = "shared with the tests of the gateway in Rust")]
mod asking;
#[path = "../../../servers/gateway/tests/program/neighbour.rs"]
#[allow(dead_code, reason = "shared with the tests of the gateway in Rust")]
mod neighbour;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::LazyLock;

use server_runtime::testing::{Program, Running};

use asking::{connect, get};
use neighbour::{Manner, neighbour};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../servers/gateway-node");
const KYIV: &str = "/api/weather/current?city=Kyiv";
/// What the service speaks, and the client for it.
const ASKED: [(&str, &str); 7] = [
    ("http", "undici"),
    ("http", "fetch"),
    ("http", "undici-h2"),
    ("http", "axios"),
    ("grpc", "grpc-js"),
    ("grpc", "nice-grpc"),
    ("grpc", "connect"),
];

/// The gateway in Rust, which is built beside the laboratory's programs.
fn rust_gateway() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| {
        let beside = Path::new(env!("CARGO_BIN_EXE_lab")).with_file_name("gateway");
        beside.to_string_lossy().into_owned()
    });
    &PATH
}

/// A gateway that gives the service `deadline_ms`.
fn gateway(inner: &str, client: &str, upstream: SocketAddr, deadline_ms: &str) -> Running {
    let packages = Path::new(FOLDER).join("node_modules");
    assert!(
        packages.is_dir(),
        "{} is missing: run: npm ci --prefix lab/servers/gateway-node",
        packages.display()
    );
    Program("node").start(&[
        &format!("{FOLDER}/src/gateway.js"),
        "--upstream",
        &format!("{inner}://{upstream}"),
        "--client",
        client,
        "--listen",
        "127.0.0.1:0",
        "--deadline-ms",
        deadline_ms,
    ])
}

#[test]
fn in_node_it_gives_the_same_bytes_and_says_when_the_service_is_gone() {
    let cities = domain::CITIES.iter().map(|weather| {
        let path = format!("/api/weather/current?city={}", weather.city);
        (path, serde_json::to_string(weather).unwrap())
    });
    let document = serde_json::to_string(domain::metrics_document()).unwrap();
    let good: Vec<(String, String)> = cities.chain([("/api/metrics/document".into(), document)]).collect();
    for (inner, client) in ASKED {
        let service = Program(rust_gateway()).start(&["--role", "repository", "--serve", inner]);
        let gateway = gateway(inner, client, service.address, "10000");
        for (path, body) in &good {
            assert_eq!(
                get(gateway.address, path),
                (200, body.clone()),
                "{path} over {inner} by {client}"
            );
        }
        for (path, expected) in [
            ("/api/weather/current", 400),
            ("/api/weather/current?city=%20", 400),
            ("/api/weather/current?city=Kyiv&city=Lviv", 400),
            ("/api/weather/current?city=Atlantis", 404),
            ("/api/weather/current?city=%ff%fe", 404),
            ("/api/weather", 404),
        ] {
            refused(&gateway, path, expected, &format!("{inner} by {client}"));
        }
        drop(service);
        for _ in 0..2 {
            refused(&gateway, KYIV, 503, &format!("{inner} by {client}"));
        }
        // A connection that nobody closes keeps nobody.
        let _open = connect(gateway.address);
        assert_eq!(gateway.terminate().0.code(), Some(0), "{inner} by {client}");
    }
}

#[test]
fn in_node_a_silent_service_is_too_late_and_nonsense_is_no_answer() {
    for (inner, client) in ASKED {
        let silent = gateway(inner, client, neighbour(Manner::Silent), "300");
        refused(&silent, KYIV, 504, &format!("{inner} by {client}"));
    }
    let body = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
    let nonsense = gateway("http", "undici", neighbour(Manner::Says(body)), "10000");
    refused(&nonsense, KYIV, 503, "nonsense");
}

/// Asks, and is refused with a reason in JSON.
fn refused(gateway: &Running, path: &str, expected: u16, over: &str) {
    let (status, body) = get(gateway.address, path);
    assert_eq!(status, expected, "{path} over {over}: {body}");
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert!(body["error"].is_string(), "{path} over {over}: {body}");
}
