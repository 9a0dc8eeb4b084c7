//! Clients that misbehave: the right status, no harm to the server, and no more memory than others take.

use std::io::Write;
use std::net::{Shutdown, SocketAddr};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use server_runtime::testing::{Running, peak_memory};
use tonic::Code;

use super::asking::{GIVE_UP, answer, connect, get, weather_code};
use super::{INNER, PROGRAM, service_before, tier_before};

const PATH: &str = "/api/weather/current?city=Kyiv";

/// The status of an answer that may come before all of the question is sent.
fn status_of(address: SocketAddr, question: &[u8]) -> u16 {
    let mut connection = connect(address);
    let mut sending = connection.try_clone().unwrap();
    thread::scope(|scope| {
        // Fails when the server has heard enough.
        scope.spawn(move || sending.write_all(question));
        let (status, _) = answer(&mut connection);
        let _ = connection.shutdown(Shutdown::Both);
        status
    })
}

fn is_well(tier: &Running) {
    assert_eq!(get(tier.address, PATH).0, 200);
    if let Some(bytes) = peak_memory(tier) {
        assert!(bytes < 60 << 20, "{bytes} bytes");
    }
}

#[test]
fn bad_questions_get_the_right_status_and_the_tier_goes_on() {
    let headers: String = (0..10_000).map(|number| format!("x-{number}: y\r\n")).collect();
    let city = |name: &str| format!("GET /api/weather/current?city={name} HTTP/1.1\r\n\r\n").into_bytes();
    for inner in INNER {
        let repository = PROGRAM.start(&["--role", "repository", "--serve", inner]);
        let gateway = tier_before(&["--role", "gateway"], inner, repository.address, "2000");
        for (what, question, expected) in [
            (
                "10,000 headers",
                format!("GET {PATH} HTTP/1.1\r\n{headers}\r\n").into_bytes(),
                &[431][..],
            ),
            ("1 MB of a name", city(&"x".repeat(1_000_000)), &[414, 431]),
            ("60 kB of a name", city(&"x".repeat(60_000)), &[404]),
            ("a name of 200 unusual letters", city(&"%C3%BC".repeat(100)), &[404]),
            ("invalid UTF-8", city("%ff%fe"), &[404]),
            (
                "bytes that are no URI",
                b"GET /\xff\xfe HTTP/1.1\r\n\r\n".to_vec(),
                &[400, 404],
            ),
            ("no HTTP", b"\x16\x03\x01\x02\x00\x01\r\n\r\n".to_vec(), &[400]),
            (
                "a body",
                b"POST /health HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc".to_vec(),
                &[405],
            ),
        ] {
            let status = status_of(gateway.address, &question);
            assert!(expected.contains(&status), "{what} over {inner}: {status}");
        }
        is_well(&gateway);
    }
}

#[tokio::test]
async fn very_long_names_over_grpc_are_unknown() {
    for inner in INNER {
        let repository = PROGRAM.start(&["--role", "repository", "--serve", inner]);
        let service = service_before(inner, repository.address);
        for _ in 0..5 {
            assert_eq!(
                weather_code(service.address, &"ї".repeat(500_000)).await,
                Code::NotFound
            );
        }
        assert_eq!(weather_code(service.address, "Kyiv").await, Code::Ok);
        if let Some(bytes) = peak_memory(&service) {
            assert!(bytes < 60 << 20, "{bytes} bytes");
        }
    }
}

#[test]
fn slow_heads_are_cut_off_and_hold_up_nobody() {
    let repository = PROGRAM.start(&["--role", "repository"]);
    let arguments = ["--role", "gateway", "--threads", "1", "--head-timeout-ms", "300"];
    let gateway = tier_before(&arguments, "http", repository.address, "300");
    let mut slow: Vec<_> = (0..200).map(|_| connect(gateway.address)).collect();
    for connection in &mut slow {
        connection.write_all(b"GET /health HTTP/1.1\r\nslow: ").unwrap();
    }
    let begun = Instant::now();
    while !slow.is_empty() {
        assert!(begun.elapsed() < GIVE_UP, "{} may go on and on", slow.len());
        slow.retain_mut(|connection| connection.write_all(b"x").is_ok());
        assert_eq!(get(gateway.address, PATH).0, 200);
        sleep(Duration::from_millis(50));
    }
    is_well(&gateway);
}
