//! gRPC-web over HTTP/1.1, well-formed and not.

use std::net::SocketAddr;
use std::time::Duration;

use contract::users_v1::StreamUsersRequest;
use contract::weather_v1::{GetCurrentWeatherRequest, GetCurrentWeatherResponse};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, Version};
use hyper_util::rt::TokioIo;
use prost::Message;
use server_runtime::testing::{RUNTIMES, peak_memory};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::{PROGRAM, city_of_answer, connect};

const WEATHER: &str = "/wirebench.weather.v1.WeatherService/GetCurrentWeather";
const WEB: &str = "application/grpc-web+proto";
/// Longer than any answer may take.
pub(crate) const GIVE_UP: Duration = Duration::from_secs(20);

/// An answer: its HTTP status, its status in gRPC wherever that stood, and the messages before it.
#[derive(Debug)]
struct Got {
    http: u16,
    grpc: Option<i32>,
    messages: Vec<Vec<u8>>,
}

/// A message as it stands in a body: a flag, its length, itself.
pub(crate) fn framed(flag: u8, length: u32, message: &[u8]) -> Vec<u8> {
    [&[flag], &length.to_be_bytes()[..], message].concat()
}

pub(crate) fn message(message: &impl Message) -> Vec<u8> {
    let bytes = message.encode_to_vec();
    framed(0, u32::try_from(bytes.len()).unwrap(), &bytes)
}

fn kyiv() -> Vec<u8> {
    message(&GetCurrentWeatherRequest {
        city: "Kyiv".to_owned(),
    })
}

/// Posts a body over HTTP/1.1; gives nothing when the server hangs up instead of answering.
async fn post(address: SocketAddr, path: &str, kind: &str, body: Vec<u8>) -> Option<Got> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::post(path)
        .header("host", "localhost")
        .header("content-type", kind)
        .body(Full::new(Bytes::from(body)))
        .unwrap();
    let asking = async {
        let response = sender.send_request(request).await.ok()?;
        assert_eq!(response.version(), Version::HTTP_11);
        let in_head = response.headers().get("grpc-status").cloned();
        let in_head = in_head.map(|status| status.to_str().unwrap().parse().unwrap());
        let http = response.status().as_u16();
        let body = response.into_body().collect().await.ok()?.to_bytes();
        let (messages, in_body) = taken_apart(&body);
        Some(Got {
            http,
            grpc: in_head.or(in_body),
            messages,
        })
    };
    timeout(GIVE_UP, asking).await.expect("the server answers or hangs up")
}

/// The messages of a body, and the status in its trailers.
fn taken_apart(mut body: &[u8]) -> (Vec<Vec<u8>>, Option<i32>) {
    let (mut messages, mut status) = (Vec::new(), None);
    while let Some((head, rest)) = body.split_at_checked(5) {
        let length = u32::from_be_bytes(head[1..].try_into().unwrap()) as usize;
        let Some((frame, rest)) = rest.split_at_checked(length) else {
            break;
        };
        body = rest;
        if head[0] & 0x80 == 0 {
            messages.push(frame.to_vec());
        } else {
            let text = str::from_utf8(frame).unwrap();
            let line = text.lines().find_map(|line| line.strip_prefix("grpc-status:"));
            status = line.map(|status| status.trim().parse().unwrap());
        }
    }
    (messages, status)
}

/// Asks for the weather three times.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn ask_thrice(address: SocketAddr) {
    for _ in 0..3 {
        let got = post(address, WEATHER, WEB, kyiv()).await.unwrap();
        assert_eq!((got.http, got.grpc), (200, Some(0)));
    }
}

#[tokio::test]
async fn grpc_web_is_answered_beside_grpc() {
    for runtime in RUNTIMES {
        let server = PROGRAM.start(&["--runtime", runtime, "--grpc-web"]);
        let got = post(server.address, WEATHER, WEB, kyiv()).await.unwrap();
        assert_eq!((got.http, got.grpc, got.messages.len()), (200, Some(0), 1));
        let answer = GetCurrentWeatherResponse::decode(got.messages[0].as_slice()).unwrap();
        assert_eq!(answer, (&domain::CITIES[0]).into());

        let unknown = message(&GetCurrentWeatherRequest {
            city: "Atlantis".to_owned(),
        });
        let got = post(server.address, WEATHER, WEB, unknown).await.unwrap();
        assert_eq!((got.http, got.grpc), (200, Some(5)));

        let asked = message(&StreamUsersRequest {
            count: Some(300),
            interval_ms: None,
        });
        let path = "/wirebench.users.v1.UsersService/StreamUsers";
        let got = post(server.address, path, WEB, asked).await.unwrap();
        assert_eq!((got.http, got.grpc, got.messages.len()), (200, Some(0), 300));

        let channel = connect(server.address).await;
        assert_eq!(city_of_answer(&channel, "Kyiv").await, Ok("Kyiv".to_owned()));
    }
}

#[tokio::test]
async fn without_the_argument_http1_is_not_spoken() {
    let server = PROGRAM.start(&[]);
    assert!(post(server.address, WEATHER, WEB, kyiv()).await.is_none());
}

/// What one connection is given for `GET /`, bytes as they come.
async fn raw_answer(address: SocketAddr) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let asked = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(asked).await.unwrap();
    let mut answer = Vec::new();
    timeout(GIVE_UP, stream.read_to_end(&mut answer))
        .await
        .unwrap()
        .unwrap();
    answer
}

/// claims/e-web.toml: 124 bytes an answer were published as gRPC-web. That is this refusal, which a load generator that looks
/// at the HTTP status alone counts as good.
#[tokio::test]
async fn the_refusal_of_an_address_without_a_method_is_124_bytes_on_the_wire() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tonic::transport::Server::builder()
        .accept_http1(true)
        .add_routes(tonic::service::Routes::default());
    let serving = tokio::spawn(server.serve_with_incoming(tonic::transport::server::TcpIncoming::from(listener)));
    let answer = String::from_utf8(raw_answer(address).await).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\r\ngrpc-status: 12\r\n"),
        "{answer}"
    );
    // The request for the connection's end alone adds a line, which keep-alive has not.
    assert_eq!(answer.replace("connection: close\r\n", "").len(), 124, "{answer}");
    serving.abort();
    // This server speaks gRPC-web, and refuses the request with a gRPC-web error.
    let ours = PROGRAM.start(&["--grpc-web"]);
    let answer = String::from_utf8(raw_answer(ours.address).await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
}

#[tokio::test]
async fn malformed_questions_get_the_right_status_and_the_server_goes_on() {
    let server = PROGRAM.start(&["--grpc-web", "--threads", "1"]);
    let ask = async |kind: &str, body: Vec<u8>| post(server.address, WEATHER, kind, body).await;
    let megabyte = message(&GetCurrentWeatherRequest {
        city: "x".repeat(1_000_000),
    });
    let good = kyiv();
    for (what, body, expected) in [
        ("nothing", Vec::new(), &[13, 3][..]),
        ("half a prefix", good[..3].to_vec(), &[13, 3]),
        ("half a message", good[..7].to_vec(), &[13, 3]),
        ("more than announced", framed(0, 2, b"\x0a\x04Kyiv"), &[13, 3]),
        ("4 GB announced", framed(0, u32::MAX, b"x"), &[11, 8]),
        ("a flag nobody knows", framed(7, 6, b"\x0a\x04Kyiv"), &[13, 3]),
        ("compressed, says nobody", framed(1, 6, b"\x0a\x04Kyiv"), &[13, 12]),
        ("no protobuf", framed(0, 4, b"\xff\xff\xff\xff"), &[13, 3]),
        ("invalid UTF-8", framed(0, 4, b"\x0a\x02\xff\xfe"), &[13, 3]),
        ("1 MB of a name", megabyte, &[5]),
        (
            "too large a message",
            message(&GetCurrentWeatherRequest {
                city: "x".repeat(5_000_000),
            }),
            &[11, 8],
        ),
    ] {
        let got = ask(WEB, body).await.unwrap_or_else(|| panic!("{what}: no answer"));
        assert_eq!(got.http, 200, "{what}");
        assert!(
            got.grpc.is_some_and(|status| expected.contains(&status)),
            "{what}: {got:?}"
        );
    }
    for kind in ["application/json", "text/plain", "application/grpc-webx", ""] {
        let got = ask(kind, good.clone())
            .await
            .unwrap_or_else(|| panic!("{kind}: no answer"));
        assert!([400, 415].contains(&got.http), "{kind}: {got:?}");
    }
    // The same in base64.
    let got = ask("application/grpc-web-text", b"%%%not base64%%%".to_vec())
        .await
        .unwrap();
    assert_ne!(got.grpc, Some(0), "{got:?}");

    let got = ask(WEB, good).await.unwrap();
    assert_eq!((got.http, got.grpc), (200, Some(0)));
    if let Some(bytes) = peak_memory(&server) {
        assert!(bytes < 100 << 20, "{bytes} bytes");
    }
}
