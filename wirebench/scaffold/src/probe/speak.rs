//! Finds out which protocols a listening server speaks.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use super::ProbedServer;
use crate::proto;
use wirebench_declare::protocol::Protocol;
use wirebench_engine::measure::grpc;
use wirebench_engine::measure::probe::send;
use wirebench_engine::measure::wire::{Endpoint, WireRequest, WireResponse, grpc_request};

/// How long one request may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);
/// The end of the evidence for a server that closes connections.
const CLOSES: &str = ", and the connection was closed";
/// A method that should not exist.
const UNKNOWN_METHOD: &str = "/wirebench.Probe/Nothing";

/// Tries one protocol after another, and notes those that it speaks, each with its evidence.
///
/// A server of connect-go answers an unknown method like any path that it does not have, so reflection and the methods of
/// .proto files are asked too.
pub(super) fn detect(address: &str, calls: &[proto::Call], probed: &mut ProbedServer) {
    let mut spoken: Vec<(Protocol, String)> = Vec::new();
    if let Ok(answer) = get(address, Protocol::Http, "/") {
        let head = head(address).unwrap_or_default();
        probed.closes = says_it_closes(&head) || closes(address).unwrap_or(false);
        probed.bare_status = has_bare_status(&head);
        let then = if probed.closes { CLOSES } else { "" };
        let words = format!("HTTP/1.1: GET / answered {}{then}", answer.status);
        spoken.push((Protocol::Http, words));
    }
    if let Some(words) = speaks_grpc(address, calls) {
        spoken.push((Protocol::Grpc, words));
    } else if let Ok(answer) = get(address, Protocol::H2c, "/") {
        let words = format!("HTTP/2 without TLS: GET / answered {}", answer.status);
        spoken.push((Protocol::H2c, words));
    }
    let (protocols, words): (_, Vec<String>) = spoken.into_iter().unzip();
    probed.server.protocols = protocols;
    probed.evidence.insert("protocols", words.join("; "));
}

/// The evidence that a server speaks gRPC.
fn speaks_grpc(address: &str, calls: &[proto::Call]) -> Option<String> {
    let status = |path: &str| {
        let call = grpc_request(Protocol::Grpc, path, grpc::frame::frame(&[]), Path::new(""));
        send(address, &call, PATIENCE).ok()?.grpc.map(|(status, _)| status)
    };
    if let Some(status) = status(UNKNOWN_METHOD) {
        return Some(format!(
            "gRPC: a call of an unknown method answered grpc-status {status}"
        ));
    }
    let endpoint = Endpoint {
        address,
        protocol: Protocol::Grpc,
        ca: Path::new(""),
    };
    if grpc::call::reflected_services(endpoint).is_some() {
        return Some("gRPC: server reflection answered".into());
    }
    calls.iter().find_map(|call| {
        let status = status(&format!("/{}", call.call))?;
        Some(format!("gRPC: a call of {} answered grpc-status {status}", call.call))
    })
}

/// The path that a redirect of `/` leads to, on the same server.
pub(super) fn redirect(address: &str) -> Option<String> {
    let head = head(address).ok()?;
    let place = header(&head, "location")?;
    let local = place.strip_prefix(&format!("http://{address}")).unwrap_or(place);
    (local.starts_with('/') && !local.starts_with("//")).then(|| local.to_owned())
}

/// A GET without headers.
pub(super) fn get(address: &str, protocol: Protocol, path: &str) -> Result<WireResponse, String> {
    send(address, &WireRequest::get(protocol, path.into(), None), PATIENCE)
}

/// A connection on which a GET of `/` was sent.
fn request_root(address: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // In one piece: a server that ends the connection after a part of it would make a second write fail.
    stream.write_all(format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes())?;
    Ok(stream)
}

/// The head of the response to a GET of `/`.
fn head(address: &str) -> std::io::Result<String> {
    const LONGEST: u64 = 64 * 1024;
    let lines = BufReader::new(request_root(address)?.take(LONGEST)).lines();
    let lines = lines.map_while(Result::ok).take_while(|line| !line.is_empty());
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// The first value of a header.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().take_while(|line| !line.is_empty());
    lines.find_map(|line| {
        let (own, value) = line.split_once(':')?;
        own.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// True if the connection ends soon after the response to a GET of `/`, whatever its head says.
fn closes(address: &str) -> std::io::Result<bool> {
    const SOON: Duration = Duration::from_millis(300);
    const LONGEST: usize = 16 * 1024 * 1024;
    let mut stream = request_root(address)?;
    let (mut read, mut part) = (0, [0; 4096]);
    while read < LONGEST {
        match stream.read(&mut part) {
            Ok(0) => return Ok(true),
            Ok(more) => read += more,
            Err(error) if read == 0 => return Err(error),
            Err(error) => return Ok(error.kind() == ErrorKind::ConnectionReset),
        }
        stream.set_read_timeout(Some(SOON))?;
    }
    Ok(false)
}

/// True if the server says that it closes the connection after a response to HTTP/1.1, or answers with HTTP/1.0.
fn says_it_closes(head: &str) -> bool {
    match header(head, "connection").map(str::to_ascii_lowercase).as_deref() {
        Some("close") => true,
        Some("keep-alive") => false,
        _ => head.starts_with("HTTP/1.0"),
    }
}

/// True if nothing follows the code in the status line, as in responses of Tomcat.
fn has_bare_status(head: &str) -> bool {
    let status = head.lines().next().unwrap_or_default();
    status.split_whitespace().count() == 2
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::{closes, has_bare_status, says_it_closes};

    #[test]
    fn a_server_that_closes_without_saying_so_is_seen_to() {
        // A server that leaves a part of the request unread ends the connection with a reset.
        for (is_kept, reads) in [(false, 1024), (false, 1), (true, 1024)] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap().to_string();
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = stream.read(&mut vec![0; reads]).unwrap();
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    .unwrap();
                // Until the other side closes.
                is_kept.then(|| stream.read(&mut [0; 1]))
            });
            assert_eq!(closes(&address).unwrap(), !is_kept);
            server.join().unwrap();
        }
    }

    #[test]
    fn a_status_is_bare_without_a_word_behind_it() {
        assert!(has_bare_status("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"));
        assert!(has_bare_status("HTTP/1.1 404\r\n\r\n"));
        assert!(!has_bare_status("HTTP/1.1 404 Not Found\r\n\r\n") && !has_bare_status(""));
    }

    #[test]
    fn a_server_closes_where_it_says_so_or_speaks_http_1_0() {
        for (head, expected) in [
            ("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nconnection: close", false),
            ("HTTP/1.0 200 OK\r\nServer: x\r\n\r\n", true),
            ("HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\n\r\n", false),
            ("", false),
        ] {
            assert_eq!(says_it_closes(head), expected, "{head}");
        }
    }
}
