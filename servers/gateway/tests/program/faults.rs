//! A next tier that is absent, slow, or answers nonsense: the right status in time, and no harm done once it is well again.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use server_runtime::testing::{Running, peak_memory};
use tonic::Code;

use super::asking::{GIVE_UP, get, page_code, weather_code};
use super::neighbour::{Manner, neighbour, nobody};
use super::{INNER, PROGRAM, service_before, tier_before};

const DEADLINE_MS: u64 = 300;

/// HTTP/2: settings, then the head of an answer to the first question with the type of gRPC.
const GRPC_HEAD: &[u8] = b"\0\0\0\x04\0\0\0\0\0\
    \0\0\x14\x01\x04\0\0\0\x01\x88\x0f\x10\x10application/grpc";
/// As above, then the first three bytes of a message.
const GRPC_HALF: &[u8] = b"\0\0\0\x04\0\0\0\0\0\
    \0\0\x14\x01\x04\0\0\0\x01\x88\x0f\x10\x10application/grpc\
    \0\0\x03\0\0\0\0\0\x01\0\0\0";
/// As above, with a whole message that is no protobuf.
const GRPC_NONSENSE: &[u8] = b"\0\0\0\x04\0\0\0\0\0\
    \0\0\x14\x01\x04\0\0\0\x01\x88\x0f\x10\x10application/grpc\
    \0\0\x09\0\0\0\0\0\x01\0\0\0\0\x04\xff\xff\xff\xff";

/// Asks a controller and a gRPC service in front of `upstream`; both must answer with this kind of failure.
#[tokio::main(flavor = "current_thread")]
async fn expect(what: &str, inner: &str, upstream: SocketAddr, status: u16) {
    // A short deadline only where it has to expire: on a busy machine 300 ms can pass before a neighbour hangs up.
    let deadline = if status == 504 { DEADLINE_MS } else { 10 * DEADLINE_MS }.to_string();
    let controller = tier_before(&["--role", "controller"], inner, upstream, &deadline);
    let service = tier_before(&["--role", "service", "--serve", "grpc"], inner, upstream, &deadline);
    let code = if status == 503 {
        Code::Unavailable
    } else {
        Code::DeadlineExceeded
    };
    // The second question meets what the first has left behind.
    for _ in 0..2 {
        let begun = Instant::now();
        let (found, body) = get(controller.address, "/api/weather/current?city=Kyiv");
        assert_eq!(found, status, "{what} over {inner}: {body}");
        assert!(body.contains(&upstream.to_string()), "{what} over {inner}: {body}");
        if status == 504 {
            assert!(begun.elapsed() >= Duration::from_millis(DEADLINE_MS));
        }
        assert_eq!(weather_code(service.address, "Kyiv").await, code, "{what} over {inner}");
        assert!(begun.elapsed() < GIVE_UP, "{what} over {inner}");
    }
    for tier in [&controller, &service] {
        if let Some(bytes) = peak_memory(tier) {
            assert!(bytes < 60 << 20, "{what} over {inner}: {bytes} bytes");
        }
    }
}

#[test]
fn an_absent_neighbour_is_unavailable() {
    for inner in INNER {
        expect("absent", inner, nobody(), 503);
    }
}

#[test]
fn a_slow_neighbour_is_too_late() {
    for inner in INNER {
        expect("silent", inner, neighbour(Manner::Silent), 504);
    }
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n";
    expect("dripping", "http", neighbour(Manner::Drips(head)), 504);
    expect(
        "a head that drips",
        "http",
        neighbour(Manner::Drips(b"HTTP/1.1 200 OK\r\nx: ")),
        504,
    );
}

#[test]
fn a_neighbour_that_hangs_up_is_unavailable() {
    for inner in INNER {
        expect("hangs up", inner, neighbour(Manner::HangsUp), 503);
    }
    for (inner, half) in [
        ("http", &b"HTTP/1.1 200 OK\r\ncontent-len"[..]),
        (
            "http",
            b"HTTP/1.1 200 OK\r\ncontent-length: 70\r\n\r\n{\"city\":\"Kyiv\",",
        ),
        (
            "http",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\n{\"city",
        ),
        ("grpc", GRPC_HEAD),
        ("grpc", GRPC_HALF),
    ] {
        let what = String::from_utf8_lossy(half);
        expect(&what, inner, neighbour(Manner::Says(half)), 503);
    }
}

#[test]
fn a_neighbour_that_talks_nonsense_is_unavailable() {
    for (inner, nonsense) in [
        ("http", &b"\x16\x03\x01\x02\x00 good morning\r\n\r\n"[..]),
        ("http", b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"),
        ("http", b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]"),
        ("http", b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\xff\xfe\xfd\xfc"),
        ("http", b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"),
        (
            "http",
            b"HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n",
        ),
        ("grpc", b"\x16\x03\x01\x02\x00 good morning\r\n\r\n"),
        ("grpc", b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"),
        ("grpc", GRPC_NONSENSE),
    ] {
        let what = String::from_utf8_lossy(nonsense);
        expect(&what, inner, neighbour(Manner::Says(nonsense)), 503);
    }
    let body = b"HTTP/1.1 200 OK\r\n\r\n";
    expect("a flood of a body", "http", neighbour(Manner::Floods(body)), 503);
    let head = b"HTTP/1.1 200 OK\r\nx: ";
    expect("a flood of a head", "http", neighbour(Manner::Floods(head)), 503);
    expect("a flood", "grpc", neighbour(Manner::Floods(b"")), 503);
}

#[tokio::test]
async fn a_tier_recovers_with_its_neighbour() {
    for inner in INNER {
        let repository = |listen: &str| PROGRAM.start(&["--role", "repository", "--serve", inner, "--listen", listen]);
        let first = repository("127.0.0.1:0");
        let place = first.address;
        let controller = tier_before(&["--role", "controller"], inner, place, "2000");
        let service = service_before(inner, place);
        wait_until(&controller, 200);
        assert_eq!(page_code(service.address, 1, 50).await, Code::Ok);
        drop(first);
        for _ in 0..3 {
            assert_eq!(get(controller.address, "/api/users/1").0, 503, "{inner}");
            assert_eq!(page_code(service.address, 1, 50).await, Code::Unavailable, "{inner}");
        }
        let _second = repository(&place.to_string());
        wait_until(&controller, 200);
        for _ in 0..20 {
            assert_eq!(get(controller.address, "/api/users/1").0, 200, "{inner}");
            assert_eq!(page_code(service.address, 1, 50).await, Code::Ok, "{inner}");
        }
    }
}

fn wait_until(controller: &Running, expected: u16) {
    let begun = Instant::now();
    while get(controller.address, "/api/users/1").0 != expected {
        assert!(begun.elapsed() < GIVE_UP, "not {expected} after all");
        sleep(Duration::from_millis(10));
    }
}
