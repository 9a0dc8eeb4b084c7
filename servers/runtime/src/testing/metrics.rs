//! What every server's program must tell about itself when it is asked to; each check panics with what is wrong.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Program, RUNTIMES};

/// Longer than any server needs to take note of an answer.
const GIVE_UP: Duration = Duration::from_secs(20);

/// After `ask` has asked, the page has each of `expected`, and counts connections as they come and go.
pub fn metrics_are_shown(program: Program, arguments: &[&str], ask: impl Fn(SocketAddr), expected: &[&str]) {
    for runtime in RUNTIMES {
        let own = [
            "--metrics-listen",
            "127.0.0.1:0",
            "--runtime",
            runtime,
            "--threads",
            "2",
        ];
        let mut server = program.start(&[&own, arguments].concat());
        let page = server.metrics_address();
        ask(server.address);
        for line in expected {
            wait_for(page, line);
        }
        wait_for(page, "active_connections 0");
        let held = TcpStream::connect(server.address).expect("the server listens");
        wait_for(page, "active_connections 1");
        drop(held);
        wait_for(page, "active_connections 0");
        assert!(read(page, "/").starts_with("HTTP/1.1 404 "), "{runtime}");
        assert_eq!(server.terminate().0.code(), Some(0), "{runtime}");
    }
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = taken.local_addr().expect("a bound socket").to_string();
    let refusal = program.refuse(&["--metrics-listen", &taken]);
    assert_eq!(refusal.code, 1, "{}", refusal.message);
    assert!(refusal.message.contains("--metrics-listen"), "{}", refusal.message);
}

fn wait_for(page: SocketAddr, line: &str) {
    let begun = Instant::now();
    loop {
        let text = read(page, "/metrics");
        if text.lines().any(|found| found == line) {
            return;
        }
        assert!(begun.elapsed() < GIVE_UP, "no {line:?} in:\n{text}");
        sleep(Duration::from_millis(5));
    }
}

fn read(page: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(page).expect("the page is there");
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("the page listens");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("the page is text");
    text
}
