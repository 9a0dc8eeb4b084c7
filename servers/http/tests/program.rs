//! The HTTP server's program from outside: real sockets, real signals, both runtimes.
#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise, its helpers too"
)]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http2;
use hyper::{Request, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ClientConfig;
use server_runtime::testing::{self, Program, RUNTIMES};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;

const PROGRAM: Program = Program(env!("CARGO_BIN_EXE_http-server"));
const PATH: &str = "/api/weather/current?city=Kyiv";
const KYIV: &str = r#"{"city":"Kyiv","temperatureC":21.5,"humidity":60,"condition":"Cloudy"}"#;
const STOPS_WITHIN: Duration = Duration::from_secs(2);

server_runtime::test_program!(PROGRAM, ask_often, ["h2", "http/1.1"]);

#[test]
fn http1_is_answered_and_the_connection_kept() {
    for runtime in RUNTIMES {
        let server = PROGRAM.start(&["--runtime", runtime]);
        let mut connection = connect(server.address);
        for _ in 0..3 {
            let answer = ask_http1(&mut connection, PATH);
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
            assert!(answer.ends_with(KYIV), "{answer}");
        }
    }
}

#[test]
fn h2c_is_answered_on_the_same_port() {
    for runtime in RUNTIMES {
        let server = PROGRAM.start(&["--runtime", runtime]);
        let (version, body) = ask_h2c(server.address, PATH);
        assert_eq!((version, body.as_str()), (Version::HTTP_2, KYIV));
        let answer = ask_http1(&mut connect(server.address), "/health");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
}

#[test]
fn a_wasted_header_is_as_long_as_asked() {
    for (waste, expected) in [("0", None), ("1", Some(1)), ("200", Some(200))] {
        let server = PROGRAM.start(&["--waste-syscalls", "1", "--waste-header-bytes", waste]);
        let answer = ask_http1(&mut connect(server.address), PATH);
        assert!(answer.ends_with(KYIV), "{answer}");
        let header = answer.lines().find_map(|line| line.strip_prefix("x-waste: "));
        assert_eq!(header.map(str::len), expected, "{answer}");
    }
}

#[test]
fn without_waste_the_answer_has_no_header_more() {
    let server = PROGRAM.start(&[]);
    let answer = ask_http1(&mut connect(server.address), PATH);
    let headers = answer.lines().skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = headers.filter_map(|line| Some(line.split_once(':')?.0)).collect();
    assert_eq!(names, ["content-type", "content-length", "date"]);
}

#[test]
fn gzip_is_for_clients_that_accept_it() {
    let page = "/api/users/page?page=1&size=50";
    let ask = |flags: &[&str], accepts: &str| {
        let server = PROGRAM.start(flags);
        let mut connection = connect(server.address);
        write!(
            connection,
            "GET {page} HTTP/1.1\r\nhost: localhost\r\n{accepts}connection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let is_compressed = String::from_utf8_lossy(&answer[..head]).contains("content-encoding: gzip");
        (is_compressed, answer.len())
    };
    let accepts = "accept-encoding: gzip\r\n";
    let (_, plain) = ask(&[], accepts);
    assert!(!ask(&["--gzip"], "").0);
    assert_eq!(ask(&[], accepts), (false, plain));
    let (is_compressed, length) = ask(&["--gzip"], accepts);
    assert!(is_compressed && length * 3 < plain, "{length} of {plain} bytes");
}

#[test]
fn sigterm_stops_it_despite_open_connections() {
    for runtime in RUNTIMES {
        let server = PROGRAM.start(&["--runtime", runtime, "--threads", "2"]);
        let mut answered = connect(server.address);
        ask_http1(&mut answered, PATH);
        let silent = connect(server.address);
        let mut half_asked = connect(server.address);
        half_asked.write_all(b"GET /health HTTP/1.1\r\n").unwrap();

        let (status, took) = server.terminate();
        assert_eq!(status.code(), Some(0), "{runtime}");
        assert!(took < STOPS_WITHIN, "{runtime}: {took:?}");
        drop((answered, silent, half_asked));
    }
}

#[test]
fn sigint_stops_it_too() {
    for runtime in RUNTIMES {
        let (status, took) = PROGRAM.start(&["--runtime", runtime]).interrupt();
        assert_eq!(status.code(), Some(0), "{runtime}");
        assert!(took < STOPS_WITHIN, "{runtime}: {took:?}");
    }
}

#[test]
fn both_versions_of_http_are_answered_over_tls() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("http-server-answers");
    let pair = testing::Pair::make(&folder);
    for runtime in RUNTIMES {
        let server = testing::start_secure(PROGRAM, &pair, &["--runtime", runtime]);
        let config = testing::client_config(&pair.authority, &["http/1.1"]);
        let mut connection = testing::handshake(server.address, config).unwrap();
        for _ in 0..3 {
            assert!(ask_http1(&mut connection, PATH).ends_with(KYIV));
        }
        let config = testing::client_config(&pair.authority, &["h2"]);
        assert_eq!(ask_h2(server.address, config), KYIV);
    }
}

#[test]
fn slow_heads_are_cut_off() {
    let whole = format!("GET {PATH} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    testing::slow_heads_are_cut_off(PROGRAM, b"GET /health HTTP/1.1\r\nslow: ", None);
    testing::slow_heads_are_cut_off(PROGRAM, b"GET /health HTTP/1.1\r\nslow: ", Some(whole.as_bytes()));
}

#[test]
fn metrics_are_shown() {
    let ask = |address| {
        ask_often(address);
        ask_http1(&mut connect(address), "/nothing");
    };
    let expected = [
        r#"requests_total{protocol="http",status="200"} 10"#,
        r#"requests_total{protocol="http",status="404"} 1"#,
        r#"request_duration_seconds_count{protocol="http",status="200"} 10"#,
    ];
    testing::metrics_are_shown(PROGRAM, &[], ask, &expected);
    testing::metrics_are_shown(PROGRAM, &["--waste-syscalls", "1"], ask, &expected);
}

#[test]
fn bad_requests_get_the_right_status_and_the_server_goes_on() {
    let server = PROGRAM.start(&["--threads", "1"]);
    let headers: String = (0..10_000).map(|number| format!("x-{number}: y\r\n")).collect();
    let megabyte = "x".repeat(1_000_000);
    for (what, request, expected) in [
        (
            "10,000 headers",
            format!("GET {PATH} HTTP/1.1\r\n{headers}\r\n").into_bytes(),
            &[431][..],
        ),
        (
            "1 MB of a name",
            format!("GET {PATH}{megabyte} HTTP/1.1\r\n\r\n").into_bytes(),
            &[414, 431],
        ),
        (
            "60 kB of a name",
            format!("GET {PATH}{} HTTP/1.1\r\n\r\n", "x".repeat(60_000)).into_bytes(),
            &[404],
        ),
        (
            "invalid UTF-8",
            b"GET /api/weather/current?city=%ff%fe HTTP/1.1\r\n\r\n".to_vec(),
            &[404],
        ),
        (
            "bytes that are no URI",
            b"GET /\xff\xfe HTTP/1.1\r\n\r\n".to_vec(),
            &[400, 404],
        ),
        (
            "no HTTP",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(),
            &[400],
        ),
        ("another version", b"GET / HTTP/7.0\r\n\r\n".to_vec(), &[400]),
        (
            "a body",
            b"POST /health HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc".to_vec(),
            &[405],
        ),
    ] {
        let status = status_of(server.address, &request);
        assert!(expected.contains(&status), "{what}: {status}");
    }
    assert!(ask_http1(&mut connect(server.address), PATH).ends_with(KYIV));
    if let Some(bytes) = testing::peak_memory(&server) {
        assert!(bytes < 100 << 20, "{bytes} bytes");
    }
}

/// Sends bytes; gives the status of the answer, which may come before all of them are sent.
fn status_of(address: SocketAddr, request: &[u8]) -> u16 {
    let mut connection = connect(address);
    let mut sending = connection.try_clone().unwrap();
    thread::scope(|scope| {
        // Fails when the server has heard enough.
        scope.spawn(move || sending.write_all(request));
        let mut answer = [0; 12];
        connection.read_exact(&mut answer).unwrap();
        let status = str::from_utf8(&answer).unwrap().strip_prefix("HTTP/1.1 ");
        // Whoever still sends need not wait for someone to read.
        let _ = connection.shutdown(Shutdown::Both);
        status.unwrap().parse().unwrap()
    })
}

fn ask_often(address: SocketAddr) {
    let mut connection = connect(address);
    for _ in 0..testing::REQUESTS {
        assert!(ask_http1(&mut connection, PATH).ends_with(KYIV));
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let connection = TcpStream::connect(address).unwrap();
    // A server under valgrind answers late while other tests use the cores.
    connection.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    connection
}

/// Asks on a connection that stays open; gives the whole answer, whose end the body's known length tells.
fn ask_http1(connection: &mut (impl Read + Write), path: &str) -> String {
    write!(connection, "GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    while !is_whole(&answer) {
        let mut piece = [0; 4096];
        let length = match connection.read(&mut piece) {
            // A read with a time limit is not taken up again by the kernel after a signal.
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other.unwrap(),
        };
        assert_ne!(length, 0, "the server closed the connection after {answer:?}");
        answer.push_str(str::from_utf8(&piece[..length]).unwrap());
    }
    answer
}

fn is_whole(answer: &str) -> bool {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() == length.unwrap().parse::<usize>().unwrap()
}

/// Asks over HTTP/2 without TLS; gives the version of the answer and its body.
#[tokio::main(flavor = "current_thread")]
async fn ask_h2c(address: SocketAddr, path: &str) -> (Version, String) {
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    ask_over(stream, address, path).await
}

/// Asks over HTTP/2 with TLS.
#[tokio::main(flavor = "current_thread")]
async fn ask_h2(address: SocketAddr, config: ClientConfig) -> String {
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let stream = TlsConnector::from(Arc::new(config))
        .connect(address.ip().into(), stream)
        .await;
    ask_over(stream.unwrap(), address, PATH).await.1
}

async fn ask_over(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    address: SocketAddr,
    path: &str,
) -> (Version, String) {
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let request = Request::get(format!("http://{address}{path}"))
        .body(Empty::<Bytes>::new())
        .unwrap();
    let response = sender.send_request(request).await.unwrap();
    let version = response.version();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (version, String::from_utf8(body.to_vec()).unwrap())
}
