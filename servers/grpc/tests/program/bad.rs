//! Questions over HTTP/2 that are none: the right status, and the server goes on.

use std::net::SocketAddr;

use contract::weather_v1::GetCurrentWeatherRequest;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use server_runtime::testing::peak_memory;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::web::{GIVE_UP, framed, message};
use super::{PROGRAM, city_of_answer, connect};

const WEATHER: &str = "/wirebench.weather.v1.WeatherService/GetCurrentWeather";
const GRPC: &str = "application/grpc";
const MOST_MEMORY: u64 = 100 << 20;

/// The status in HTTP, and the one in gRPC wherever it stood.
type Got = (u16, Option<i32>);

/// A question with this type, so many headers and this body.
fn question(path: &str, kind: &str, headers: usize, body: Vec<u8>) -> Request<Full<Bytes>> {
    let mut question = Request::post(format!("http://localhost{path}"))
        .header("content-type", kind)
        .header("te", "trailers");
    for number in 0..headers {
        question = question.header(format!("x-{number}"), "y");
    }
    question.body(Full::new(Bytes::from(body))).unwrap()
}

/// Asks on a connection of its own; gives nothing when the server hangs up instead of answering.
async fn ask(address: SocketAddr, question: Request<Full<Bytes>>) -> Option<Got> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let asking = async {
        let response = sender.send_request(question).await.ok()?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap();
        let trailers = body.trailers().cloned().unwrap_or_default();
        let status = head.headers.get("grpc-status").or_else(|| trailers.get("grpc-status"));
        let status = status.map(|status| status.to_str().unwrap().parse().unwrap());
        Some((head.status.as_u16(), status))
    };
    timeout(GIVE_UP, asking).await.expect("the server answers")
}

#[tokio::test]
async fn malformed_questions_get_the_right_status_and_the_server_goes_on() {
    let server = PROGRAM.start(&["--threads", "1"]);
    let good = || {
        message(&GetCurrentWeatherRequest {
            city: "Kyiv".to_owned(),
        })
    };
    let weather = |body| question(WEATHER, GRPC, 0, body);
    let megabyte = GetCurrentWeatherRequest {
        city: "x".repeat(1_000_000),
    };
    let five = GetCurrentWeatherRequest {
        city: "x".repeat(5_000_000),
    };
    for (what, asked, http, grpc) in [
        ("a good one", weather(good()), 200, &[0][..]),
        ("nothing", weather(Vec::new()), 200, &[3, 13]),
        ("half a message", weather(good()[..7].to_vec()), 200, &[3, 13]),
        ("4 GB announced", weather(framed(0, u32::MAX, b"x")), 200, &[8, 11]),
        ("no protobuf", weather(framed(0, 4, b"\xff\xff\xff\xff")), 200, &[3, 13]),
        (
            "invalid UTF-8",
            weather(framed(0, 4, b"\x0a\x02\xff\xfe")),
            200,
            &[3, 13],
        ),
        (
            "a flag nobody knows",
            weather(framed(7, 6, b"\x0a\x04Kyiv")),
            200,
            &[3, 13],
        ),
        ("1 MB of a name", weather(message(&megabyte)), 200, &[5]),
        ("too large a message", weather(message(&five)), 200, &[8, 11]),
        (
            "no such method",
            question("/nowhere/Nothing", GRPC, 0, good()),
            200,
            &[12],
        ),
        ("a few headers", question(WEATHER, GRPC, 50, good()), 200, &[0]),
    ] {
        let got = ask(server.address, asked)
            .await
            .unwrap_or_else(|| panic!("{what}: no answer"));
        assert_eq!(got.0, http, "{what}: {got:?}");
        assert!(got.1.is_some_and(|status| grpc.contains(&status)), "{what}: {got:?}");
    }
    for kind in ["application/json", "text/plain", ""] {
        let got = ask(server.address, question(WEATHER, kind, 0, good())).await;
        assert_eq!(got.map(|got| got.0), Some(415), "{kind}");
    }
    let got = ask(server.address, question(WEATHER, GRPC, 600, good())).await;
    assert_eq!(got.map(|got| got.0), Some(431), "600 headers");
    // So many are no mistake any more: the connection is given up before they have all arrived.
    let got = ask(server.address, question(WEATHER, GRPC, 10_000, good())).await;
    assert!(got.is_none_or(|got| got.0 == 431), "10,000 headers: {got:?}");

    let channel = connect(server.address).await;
    assert_eq!(city_of_answer(&channel, "Kyiv").await, Ok("Kyiv".to_owned()));
    if let Some(bytes) = peak_memory(&server) {
        assert!(bytes < MOST_MEMORY, "{bytes} bytes");
    }
}
